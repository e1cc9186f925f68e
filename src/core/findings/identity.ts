import { hash } from 'node:crypto';
import { compact } from './drift/lineText.ts';
import { type Finding, isLiveFinding, type Place } from './finding.ts';
import type { Subject } from './place/resolver.ts';

/** The version of the scheme of fingerprints, so that those of two schemes are never taken for each other. */
const scheme = '1';
const maxSnippet = 10_000;
const maxLines = 200;
/** A shorter line, such as a lone brace, stands anywhere. */
const minLine = 6;
/** How many lines more a quote may have than another quote of the same place. */
const maxContext = 6;
/** Findings of a kind that are nearer to each other may be mixed up by a longer quote. */
const nearLines = 10;

/**
 * What distinguishes a finding from others, in its own run and in others. It depends on the findings file and on what was sent alone, so that it is the
 * same on every machine that knows both.
 */
export interface Identity {
  /** A hash of kind, path and quoted code, white space aside; of a live application, of perspective, feature, method and address without its query. Two findings that differ in none of these share it. */
  readonly fingerprint: string;
  /** The same without the code. */
  readonly spot: string;
  /** A hash of each quoted line that has enough letters. */
  readonly code: readonly string[];
  readonly title: string;
  /** What makes it unique among those of its kind and path in its run: by the code as quoted, by code and title, or by any quote of the same place. */
  readonly only: readonly ('code' | 'title' | 'place')[];
  /** The service's ID of the run, else the local one; and the position in its findings file. */
  readonly run: string;
  readonly index: number;
}

/**
 * Whether two findings are surely the same: what was decided about one holds for the other. Of two runs, the code as quoted says so where each run has it
 * once, else code and title together; one that quotes a few lines more is the same where no other of its kind is near in either run.
 */
export function isSameFinding(one: Identity, other: Identity): boolean {
  if (one.spot !== other.spot) return false;
  const isSameKey = one.fingerprint === other.fingerprint;
  if (one.run === other.run) return isSameKey && one.index === other.index;
  const isBothOnlyBy = (way: Identity['only'][number]): boolean =>
    one.only.includes(way) && other.only.includes(way);
  if (!isSameKey) return isBothOnlyBy('place') && isQuoteOfOther(one.code, other.code);
  return isBothOnlyBy('code') || (one.title === other.title && isBothOnlyBy('title'));
}

/** The identities of a run's findings, in their order; `subjects` are what they are about. */
export function* identitiesOf(
  findings: readonly Finding[],
  subjects: readonly Subject[],
  run: string,
): Generator<undefined, readonly Identity[]> {
  const drafts: Draft[] = [];
  for (const [at, finding] of findings.entries()) {
    drafts.push(draftOf(finding, subjects[at], run));
    yield;
  }
  const keys = countsOf(drafts, keyOf);
  const titles = countsOf(drafts, (draft) => `${keyOf(draft)}\0${draft.identity.title}`);
  // An empty title distinguishes nothing.
  const isOnlyTitled = (draft: Draft): boolean =>
    draft.identity.title !== '' && titles.get(`${keyOf(draft)}\0${draft.identity.title}`) === 1;
  const apart = yield* placesApart(drafts);
  return drafts.map((draft) => {
    const isOnlyKey = keys.get(keyOf(draft)) === 1;
    const isQuoted = draft.identity.code.length > 0;
    const only: Identity['only'] = [
      ...(isOnlyKey && isQuoted ? (['code'] as const) : []),
      ...(isOnlyTitled(draft) ? (['title'] as const) : []),
      ...(apart.has(draft) && isQuoted ? (['place'] as const) : []),
    ];
    return { ...draft.identity, only };
  });
}

/** A finding before it is compared with the others of its run. */
interface Draft {
  readonly identity: Omit<Identity, 'only'>;
  /** Equal code in two folders is two findings. */
  readonly folder: string;
  readonly place: Place | undefined;
}

function draftOf(finding: Finding, subject: Subject | undefined, run: string): Draft {
  const { folder = '', path = '' } = subject ?? {};
  const [place] = finding.places;
  const snippet = (place?.snippet ?? '').slice(0, maxSnippet);
  const kind = kindOf(finding);
  const spot = place === undefined && isLiveFinding(finding) ? liveSpotOf(finding) : [kind, path];
  const identity = {
    fingerprint: `${scheme}:${digits([...spot, compact(snippet)], 32)}`,
    spot: digits(spot, 32),
    code: codeOf(snippet),
    title: finding.title,
    run,
    index: finding.index,
  };
  return { identity, folder, place };
}

function kindOf({ cwes: [cwe], title }: Finding): string {
  return cwe === undefined ? title : `CWE-${String(cwe)}`;
}

/** Perspective (else kind), feature, method, and the path of the address: the values of its query are those of one request. */
function liveSpotOf(finding: Finding): readonly string[] {
  const { perspective = kindOf(finding), feature = '', method = '', url = '' } = finding;
  const path = URL.parse(url)?.pathname ?? url.split(/[?#]/, 1)[0] ?? '';
  return [perspective, feature, method, path];
}

/** Hashes, since a decision that is kept must not hold a secret that a finding quotes. */
function codeOf(snippet: string): readonly string[] {
  return snippet
    .split(/\r\n|\r|\n/)
    .map(compact)
    .filter((line) => line.length >= minLine && /[\p{L}\p{N}]/u.test(line))
    .slice(0, maxLines)
    .map((line) => digits([line], 12));
}

function digits(parts: readonly string[], length: number): string {
  return hash('sha256', JSON.stringify(parts), 'hex').slice(0, length);
}

function keyOf({ identity, folder }: Draft): string {
  return `${identity.fingerprint}\0${folder}`;
}

function countsOf<T>(all: readonly T[], nameOf: (one: T) => string): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const each of all) counts.set(nameOf(each), (counts.get(nameOf(each)) ?? 0) + 1);
  return counts;
}

/** The findings without another of the same kind and path that is near, or that quotes one of their lines. */
function* placesApart(drafts: readonly Draft[]): Generator<undefined, ReadonlySet<Draft>> {
  const apart = new Set<Draft>();
  const groups = Map.groupBy(drafts, ({ identity, folder }) => `${identity.spot}\0${folder}`);
  for (const group of groups.values()) {
    const sorted = group.toSorted((one, other) => startOf(one) - startOf(other));
    // A finding without a line may be near to any other.
    if (group.length > 1 && startOf(sorted[0]) === -Infinity) continue;
    const quotes = countsOf(
      group.flatMap(({ identity }) => [...new Set(identity.code)]),
      (line) => line,
    );
    let reach = -Infinity;
    for (const [at, draft] of sorted.entries()) {
      const isFarBelow = at === 0 || startOf(draft) - reach > nearLines;
      reach = Math.max(reach, draft.place?.endLine ?? startOf(draft));
      const next = sorted[at + 1];
      const isFarAbove = next === undefined || startOf(next) - reach > nearLines;
      const isOwnCode = draft.identity.code.every((line) => quotes.get(line) === 1);
      if (isFarBelow && isFarAbove && isOwnCode) apart.add(draft);
      yield;
    }
  }
  return apart;
}

function startOf(draft: Draft | undefined): number {
  return draft?.place?.startLine ?? -Infinity;
}

/** Whether the lines of one quote stand in the other, which has a few more at most. */
function isQuoteOfOther(one: readonly string[], other: readonly string[]): boolean {
  const [shorter, longer] = one.length < other.length ? [one, other] : [other, one];
  if (shorter.length === 0 || longer.length - shorter.length > maxContext) return false;
  return longer.some((_, start) => shorter.every((line, at) => longer[start + at] === line));
}

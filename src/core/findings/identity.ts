import { hash } from 'node:crypto';
import { compact } from './drift/lineText.ts';
import { type Finding, isLiveFinding } from './finding.ts';
import type { SentPath } from './place/resolver.ts';

/** The version of the scheme of fingerprints, so that those of two schemes are never taken for each other. */
const scheme = '1';
const maxSnippet = 10_000;
/** A shorter line, such as a lone brace, stands anywhere. */
const minLine = 6;

/**
 * What distinguishes a finding from others, in its own run and in others. It depends on the findings file and on what was sent alone, so that it is the
 * same on every machine that knows both.
 */
export interface Identity {
  /** A hash of kind, path and quoted code, white space aside; of a live application, of perspective, feature, method and address without its query. Two findings that differ in none of these share it. */
  readonly fingerprint: string;
  /** The same without the code. */
  readonly spot: string;
  readonly title: string;
  /** What makes it unique among those of its kind and path in its run: the code as quoted, or code and title together; `live` is that of a finding of a live application. */
  readonly only: readonly ('code' | 'title' | 'live')[];
  /** The service's ID of the run, else the local one; and the position in its findings file. */
  readonly run: string;
  readonly index: number;
}

/**
 * Whether two findings are surely the same: a decision about one holds for the other. Of two runs, the quoted code says so where each run has it once, and code
 * and title together where they are of a live application.
 */
export function isSameFinding(one: Identity, other: Identity): boolean {
  if (one.fingerprint !== other.fingerprint) return false;
  if (one.run === other.run) return one.index === other.index;
  return isOnlyBy('code', one, other) || (one.title === other.title && isOnlyBy('live', one, other));
}

/** Whether two findings of two runs are the same if their lines are. */
export function isSameByTitle(one: Identity, other: Identity): boolean {
  return (
    one.run !== other.run &&
    one.fingerprint === other.fingerprint &&
    one.title === other.title &&
    isOnlyBy('title', one, other)
  );
}

function isOnlyBy(way: Identity['only'][number], ...both: readonly Identity[]): boolean {
  return both.every(({ only }) => only.includes(way));
}

/** The identities of a run's findings, in their order; `sentPaths` are what they are about. */
export function* identitiesOf(
  findings: readonly Finding[],
  sentPaths: readonly SentPath[],
  run: string,
): Generator<undefined, readonly Identity[]> {
  const drafts: Draft[] = [];
  for (const [at, finding] of findings.entries()) {
    drafts.push(draftOf(finding, sentPaths[at], run));
    yield;
  }
  const keys = countsOf(drafts, keyOf);
  const titles = countsOf(drafts, (draft) => `${keyOf(draft)}\0${draft.identity.title}`);
  // An empty title distinguishes nothing.
  const isOnlyTitled = (draft: Draft): boolean =>
    draft.identity.title !== '' && titles.get(`${keyOf(draft)}\0${draft.identity.title}`) === 1;
  return drafts.map((draft) => {
    const only: Identity['only'] = [
      ...(keys.get(keyOf(draft)) === 1 && draft.isQuoted ? (['code'] as const) : []),
      ...(isOnlyTitled(draft) ? [draft.isLive ? ('live' as const) : ('title' as const)] : []),
    ];
    return { ...draft.identity, only };
  });
}

/** A finding before it is compared with the others of its run. */
interface Draft {
  readonly identity: Omit<Identity, 'only'>;
  /** Equal code in two folders is two findings. */
  readonly folder: string;
  readonly isQuoted: boolean;
  readonly isLive: boolean;
}

function draftOf(finding: Finding, sentPath: SentPath | undefined, run: string): Draft {
  const { folder = '', path = '' } = sentPath ?? {};
  const snippet = (finding.places[0]?.snippet ?? '').slice(0, maxSnippet);
  const kind = kindOf(finding);
  const isLive = finding.places.length === 0 && isLiveFinding(finding);
  const spot = isLive ? liveSpotOf(finding) : [kind, path];
  const identity = {
    fingerprint: `${scheme}:${digits([...spot, compact(snippet)], 32)}`,
    spot: digits(spot, 32),
    title: finding.title,
    run,
    index: finding.index,
  };
  return { identity, folder, isQuoted: isCode(snippet), isLive };
}

function isCode(snippet: string): boolean {
  const lines = snippet.split(/[\r\n]+/).map(compact);
  return lines.some((line) => line.length >= minLine && /[\p{L}\p{N}]/u.test(line));
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

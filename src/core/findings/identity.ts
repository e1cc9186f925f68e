import { hash } from 'node:crypto';
import { compact } from './drift/lineText.ts';
import { type Finding, isLiveFinding } from './finding.ts';
import type { SentPath } from './place/resolver.ts';

/** Part of each fingerprint, so that fingerprints of two schemes never match. */
const scheme = '1';
const maxSnippet = 10_000;
/** Characters. A shorter line, such as a lone brace, occurs anywhere. */
const minLine = 6;

/** Identifies a finding within its run and across runs. Depends only on the findings file and on what was sent, so it is the same on every machine. */
export interface Identity {
  /** Hash of kind, path, and quoted code without white space; for a live finding, of `liveSpotOf`. Similar findings may share it. */
  readonly fingerprint: string;
  readonly spot: string;
  readonly title: string;
  /** Why it is unique in its run: by its quoted code, by code and title, or, as a live finding, by `live` spot and title. */
  readonly only: readonly ('code' | 'title' | 'live')[];
  /** The service's run ID, else the local one. */
  readonly run: string;
  /** The SHA-256 of the findings file, shortened; absent where that is unknown. */
  readonly file?: string | undefined;
  readonly index: number;
  /** Where earlier runs have the finding with all else equal. */
  readonly elsewhere?: Elsewhere | undefined;
}

/** Positions in `runs` and indexes in that run, in turn: a run may have 10,000 findings, each with hundreds of these. */
export interface Elsewhere {
  readonly runs: readonly string[];
  readonly at: readonly number[];
}

/**
 * Whether two findings are surely the same, so that a decision about one holds for the other. In one findings file, their position decides: without the list
 * of sent files, another machine has other paths, and so another fingerprint. Across runs, both must be unique by code or, live, by title.
 */
export function isSameFinding(a: Identity, b: Identity): boolean {
  if (areInOneFile(a, b)) return a.index === b.index;
  if (a.fingerprint !== b.fingerprint) return false;
  if (isAt(a, b) || isAt(b, a)) return true;
  if (a.run === b.run) return false;
  return areUniqueBy('code', a, b) || (a.title === b.title && areUniqueBy('live', a, b));
}

/** True for two findings of one run of the service, whichever machine has read its findings file. */
function areInOneFile(a: Identity, b: Identity): boolean {
  return a.run === b.run && a.file !== undefined && a.file === b.file;
}

/** The run and the index of a finding, and where else it is, as keys. */
export function* spotKeysOf({ run, index, elsewhere }: Identity): Generator<string, void> {
  yield `${run} ${String(index)}`;
  if (elsewhere === undefined) return;
  const { runs, at } = elsewhere;
  for (let pair = 0; pair < at.length; pair += 2)
    yield `${runs[at[pair] ?? 0] ?? ''} ${String(at[pair + 1])}`;
}

function isAt(a: Identity, b: Identity): boolean {
  if (a.run === b.run && a.index === b.index) return true;
  if (b.elsewhere === undefined) return false;
  const { runs, at } = b.elsewhere;
  return at.some(
    (position, place) => place % 2 === 0 && runs[position] === a.run && at[place + 1] === a.index,
  );
}

/** True if two identities differ only in their run and index. */
export function areAlike(a: Identity, b: Identity): boolean {
  return (
    a.fingerprint === b.fingerprint &&
    a.spot === b.spot &&
    a.title === b.title &&
    a.only.join() === b.only.join()
  );
}

/** Whether two findings of different runs are the same, provided that their lines are. */
export function isSameByTitle(a: Identity, b: Identity): boolean {
  return (
    a.run !== b.run && a.fingerprint === b.fingerprint && a.title === b.title && areUniqueBy('title', a, b)
  );
}

function areUniqueBy(way: Identity['only'][number], a: Identity, b: Identity): boolean {
  return a.only.includes(way) && b.only.includes(way);
}

/** One for each finding, in order; `sentPaths` has what each is about. */
export function identitiesOf(
  findings: readonly Finding[],
  sentPaths: readonly SentPath[],
  source: Pick<Identity, 'run' | 'file'>,
): readonly Identity[] {
  const drafts = findings.map((finding, at) => draftOf(finding, sentPaths[at], source));
  const byCode = Map.groupBy(drafts, ({ codeKey }) => codeKey);
  const byTitle = Map.groupBy(drafts, ({ titleKey }) => titleKey);
  return drafts.map(({ identity, codeKey, titleKey, isQuoted, isLive }) => {
    const only: Identity['only'][number][] = [];
    if (isQuoted && byCode.get(codeKey)?.length === 1) only.push('code');
    // An empty title distinguishes nothing.
    if (identity.title !== '' && byTitle.get(titleKey)?.length === 1) only.push(isLive ? 'live' : 'title');
    return { ...identity, only };
  });
}

/** A finding before it is compared with the others of its run. */
interface Draft {
  readonly identity: Omit<Identity, 'only'>;
  /** Equal for findings with equal code in one folder; `titleKey` also needs equal titles. */
  readonly codeKey: string;
  readonly titleKey: string;
  readonly isQuoted: boolean;
  readonly isLive: boolean;
}

function draftOf(
  finding: Finding,
  sentPath: SentPath | undefined,
  source: Pick<Identity, 'run' | 'file'>,
): Draft {
  const { folder = '', path = '' } = sentPath ?? {};
  const snippet = (finding.places[0]?.snippet ?? '').slice(0, maxSnippet);
  const kind = kindOf(finding);
  const isLive = finding.places.length === 0 && isLiveFinding(finding);
  const spot = isLive ? liveSpotOf(finding) : [kind, path];
  const identity = {
    fingerprint: `${scheme}:${digestOf([...spot, compact(snippet)])}`,
    spot: digestOf(spot),
    title: finding.title,
    ...source,
    index: finding.index,
  };
  const codeKey = `${identity.fingerprint}\0${folder}`;
  const titleKey = `${codeKey}\0${identity.title}`;
  return { identity, codeKey, titleKey, isQuoted: isCode(snippet), isLive };
}

function isCode(snippet: string): boolean {
  const lines = snippet.split(/[\r\n]+/).map(compact);
  return lines.some((line) => line.length >= minLine && /[\p{L}\p{N}]/u.test(line));
}

function kindOf({ cwes: [cwe], title }: Finding): string {
  return cwe === undefined ? title : `CWE-${String(cwe)}`;
}

/** Perspective (else kind), feature, method, and path of the URL. The query is left out, since its values belong to one request. */
function liveSpotOf(finding: Finding): readonly string[] {
  const { perspective = kindOf(finding), feature = '', method = '', url = '' } = finding;
  const path = URL.parse(url)?.pathname ?? url.split(/[?#]/, 1)[0] ?? '';
  return [perspective, feature, method, path];
}

function digestOf(parts: readonly string[]): string {
  return hash('sha256', JSON.stringify(parts), 'hex').slice(0, 32);
}

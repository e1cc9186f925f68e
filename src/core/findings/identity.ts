import { hash } from 'node:crypto';
import * as z from 'zod/mini';
import { compact, isElision, splitLines } from './drift/lineText.ts';
import { type Finding, isLiveFinding, type ReportedFinding } from './finding.ts';
import type { UploadPath } from './location/resolver.ts';

/**
 * A finding keeps the name of its first report. `result/match` pairs the findings of a result with
 * earlier ones: a sure pair shares the name; other pairs are noted in `possibleNames`. Decisions
 * refer to names. If two machines name a finding differently, its findings file and index, or its
 * fingerprint, identify it.
 */

export interface FindingIdentity {
  readonly name: string;
  /** The first 16 hex digits of the SHA-256 identify the findings file. */
  readonly file: string;
  readonly index: number;
  /** Similar findings may share a fingerprint. */
  readonly fingerprint: string;
}

export interface Named extends FindingIdentity {
  readonly possibleNames: readonly string[];
}

export const maxPossibleNames = 8;

export const namePattern = '[0-9a-f]{16}:(?:0|[1-9]\\d{0,6})';

export const nameSchema = z.string().check(z.regex(new RegExp(`^${namePattern}$`)));

export function reportKey({ file, index }: Pick<FindingIdentity, 'file' | 'index'>): string {
  return `${file}:${String(index)}`;
}

export function identityOf({ name, file, index, fingerprint }: FindingIdentity): FindingIdentity {
  return { name, file, index, fingerprint };
}

export function namesOf({ name, possibleNames }: Pick<Named, 'name' | 'possibleNames'>): readonly string[] {
  return [name, ...possibleNames];
}

export function allNamesOf(findings: readonly Pick<Named, 'name' | 'possibleNames'>[]): ReadonlySet<string> {
  return new Set(findings.flatMap(namesOf));
}

/**
 * Searches by name, then by findings file and index, then by fingerprint. A name also serves as the
 * findings file and index of the first report. A fingerprint counts only if it has one name in
 * `findings`, and no second name in `asked`.
 */
export function createFinder<T extends FindingIdentity>(
  findings: readonly T[],
  asked: readonly FindingIdentity[],
): (one: FindingIdentity) => T | undefined {
  const toMap = (keyOf: (finding: FindingIdentity) => string): Map<string, T> =>
    new Map(findings.toReversed().map((finding) => [keyOf(finding), finding]));
  const byName = toMap(({ name }) => name);
  const byReport = toMap(reportKey);
  const namesByPrint = (list: readonly FindingIdentity[]): Map<string, Set<string>> => {
    const names = new Map<string, Set<string>>();
    for (const { fingerprint, name } of list)
      names.set(fingerprint, (names.get(fingerprint) ?? new Set()).add(name));
    return names;
  };
  const [here, there] = [namesByPrint(findings), namesByPrint(asked)];
  return (one) => {
    const known = byName.get(one.name) ?? byReport.get(reportKey(one)) ?? byReport.get(one.name);
    if (known !== undefined) return known;
    const [only = '', ...others] = here.get(one.fingerprint) ?? [];
    const isUnique = others.length === 0 && (there.get(one.fingerprint)?.size ?? 1) === 1;
    return isUnique ? byName.get(only) : undefined;
  };
}

/** Fingerprints of different schemes never match. */
const scheme = '1';
const maxSnippet = 10_000;

/**
 * Hashes the first kind, the path, and the quoted code. For a live finding without locations,
 * hashes its perspective or first kind, feature, method, and URL path.
 */
export function fingerprintOf(finding: ReportedFinding, { path }: Pick<UploadPath, 'path'>): string {
  const snippet = (finding.locations[0]?.snippet ?? '').slice(0, maxSnippet);
  const [kind = ''] = kindsOf(finding);
  const { perspective = kind } = finding;
  const subject = isWithoutCode(finding) ? [perspective, ...liveAddressOf(finding)] : [kind, path];
  return `${scheme}:${digestOf([...subject, compact(snippet)]).slice(0, 32)}`;
}

/** Findings are of one kind if they share a CWE or, without CWEs, the rule or the title. */
export function kindsOf({ cwes, rule, title }: Pick<Finding, 'cwes' | 'rule' | 'title'>): readonly string[] {
  if (cwes.length > 0) return cwes.map((cwe) => `CWE-${String(cwe)}`);
  return [...(rule === undefined ? [] : [`rule ${rule}`]), ...(title === '' ? [] : [`title ${title}`])];
}

export function isWithoutCode(finding: Finding): boolean {
  return finding.locations.length === 0 && isLiveFinding(finding);
}

export function liveKeysOf(finding: Finding): readonly string[] {
  const { perspective } = finding;
  const topics = perspective === undefined ? kindsOf(finding) : [perspective];
  return topics.map((topic) => JSON.stringify([topic, ...liveAddressOf(finding)]));
}

/** Only the path of the URL counts: a query's values belong to one request. */
function liveAddressOf({ feature = '', method = '', url = '' }: Finding): readonly string[] {
  const path = URL.parse(url)?.pathname ?? url.split(/[?#]/, 1)[0] ?? '';
  return [feature, method, path];
}

/** Shorter quotes, such as `i++;`, occur anywhere. White space doesn't count. */
const minQuote = 6;

/**
 * Hashes a quote without white space, lines that stand for omitted code, and lines of punctuation
 * at its ends.
 */
export function quoteKeyOf(snippet = ''): string {
  const lines = splitLines(snippet.slice(0, maxSnippet))
    .filter((line) => !isElision(line))
    .map(compact);
  const isCode = (line: string): boolean => /[\p{L}\p{N}]/u.test(line);
  const core = lines.slice(lines.findIndex(isCode), lines.findLastIndex(isCode) + 1).join('');
  return core.length < minQuote ? '' : digestOf([core]).slice(0, 16);
}

function digestOf(parts: readonly string[]): string {
  return hash('sha256', JSON.stringify(parts), 'hex');
}

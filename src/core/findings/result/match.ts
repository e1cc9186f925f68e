import { pathKey } from '../../paths.ts';
import { isWithoutCode, kindsOf, liveKeysOf, type Named, reportKey } from '../identity.ts';
import { reportedPath } from '../place/resolver.ts';
import type { Decode } from '../place/encodings.ts';
import { findLaterLines, type LaterLines, type LaterRun, type PairedFinding } from './laterLines.ts';

/*
 * Pairs the findings of a run with earlier ones. What is in the same findings file at the same index is the same. Then rule by rule, two findings are paired
 * if each is the only candidate of the other among all findings of both sides; the first three rules are sure. Twins, which no rule tells apart, are paired
 * in their order, not surely. A finding is paired once.
 */

export interface Pair<T> {
  readonly earlier: T;
  /** True if both are surely the same finding. */
  readonly isSure: boolean;
}

/** By later finding. */
export type Pairs<Later, Earlier> = ReadonlyMap<Later, Pair<Earlier>>;

/** By what rules compare a finding. Paths are those of the later run. */
interface Traits {
  readonly kinds: readonly string[];
  readonly title: string;
  /** Of its main place; undefined without one. */
  readonly file: string | undefined;
  /** The quoted code of its main place, and of all places in any order, each with its file. */
  readonly quotes: readonly string[];
  readonly live: readonly string[];
}

interface PairingRule {
  /** Candidates share a key. */
  readonly keysOf: (traits: Traits) => readonly string[];
  /** Whether the lines in the text of the later run must overlap, or may not be known. Without it, they do not count. */
  readonly lines?: 'overlap' | 'unknown';
  readonly isSure: boolean;
}

const keyOf = (...parts: readonly string[]): string => JSON.stringify(parts);

function kindsInFile({ file, kinds }: Traits): readonly string[] {
  return file === undefined ? [] : kinds.map((kind) => keyOf(file, kind));
}

function titlesInFile(traits: Traits): readonly string[] {
  return traits.title === '' ? [] : kindsInFile(traits).map((key) => keyOf(key, traits.title));
}

const RULES: readonly PairingRule[] = [
  { keysOf: ({ live }) => live, isSure: true },
  { keysOf: ({ live, title }) => live.map((key) => keyOf(key, title)), isSure: true },
  {
    keysOf: ({ quotes, kinds }) => quotes.flatMap((quote) => kinds.map((kind) => keyOf(quote, kind))),
    isSure: true,
  },
  { keysOf: titlesInFile, lines: 'overlap', isSure: true },
  { keysOf: ({ quotes }) => quotes, isSure: false },
  { keysOf: kindsInFile, lines: 'overlap', isSure: false },
  { keysOf: titlesInFile, lines: 'unknown', isSure: false },
  {
    keysOf: ({ file, live, kinds, title }) =>
      file === undefined && live.length === 0 && title !== '' ? kinds.map((kind) => keyOf(kind, title)) : [],
    isSure: false,
  },
];

/** Pairs the findings of a run with earlier ones: those that come first, where twins are paired in their order. */
export async function pairFindings<Later extends PairedFinding, Earlier extends PairedFinding & Named>(
  run: LaterRun,
  later: readonly Later[],
  earlier: readonly Earlier[],
  decode: Decode,
): Promise<Pairs<Later, Earlier>> {
  const pairs = new Map<Later, Pair<Earlier>>();
  const paired = new Set<Earlier>();
  const pair = (finding: Later, before: Earlier, isSure: boolean): void => {
    pairs.set(finding, { earlier: before, isSure });
    paired.add(before);
  };
  if (earlier.length === 0) return pairs;
  const byReport = new Map(
    earlier.toReversed().flatMap((each) => [[reportKey(each), each] as const, [each.name, each] as const]),
  );
  for (const finding of later) {
    const same = byReport.get(reportKey(finding));
    if (same !== undefined && !paired.has(same)) pair(finding, same, true);
  }
  const traitsOf = memoized((each: PairedFinding) => readTraits(each, run));
  const isLeft = (each: Later | Earlier): boolean =>
    !pairs.has(each as Later) && !paired.has(each as Earlier);
  let lines: LaterLines | undefined;
  for (const mustBeUnique of [true, false])
    for (const rule of RULES) {
      if (pairs.size === later.length || paired.size === earlier.length) return pairs;
      if (rule.lines !== undefined)
        lines ??= await findLaterLines(run, inFilesOf(later, earlier, isLeft, traitsOf), decode);
      const keysOf = memoized((each: PairedFinding) => keysBy(rule, traitsOf(each), lines?.get(each)));
      const fits = (one: PairedFinding, other: PairedFinding): boolean =>
        rule.lines !== 'overlap' || doOverlap(lines?.get(one), lines?.get(other));
      const earlierByKey = toBuckets(mustBeUnique ? earlier : earlier.filter(isLeft), keysOf);
      const laterByKey = mustBeUnique ? toBuckets(later, keysOf) : undefined;
      for (const finding of later.filter(isLeft)) {
        const before = laterByKey
          ? onlyCandidate(finding, earlierByKey, keysOf, fits)
          : firstCandidate(keysOf(finding).asked, earlierByKey, isLeft, (each) => fits(finding, each));
        if (before === undefined || paired.has(before)) continue;
        if (laterByKey === undefined) pair(finding, before, false);
        else if (onlyCandidate(before, laterByKey, keysOf, fits) === finding)
          pair(finding, before, rule.isSure);
      }
    }
  return pairs;
}

/** A finding is found by the keys that it holds, and looks for others by those that it asks for. */
interface Keys {
  readonly held: readonly string[];
  readonly asked: readonly string[];
}

type LaterRange = ReturnType<LaterLines['get']>;

/** Lines that overlap share a block. A longer range is cut. */
const linesInBlock = 16;
const maxBlocks = 256;

function keysBy({ keysOf, lines }: PairingRule, traits: Traits, range: LaterRange): Keys {
  const keys = keysOf(traits);
  if (lines === undefined) return { held: keys, asked: keys };
  if (lines === 'unknown') {
    const [any, unknown] = ['any', 'unknown'].map((which) => keys.map((key) => keyOf(key, which)));
    if (any === undefined || unknown === undefined) return { held: [], asked: [] };
    // Where its lines are known, only one with unknown lines can be the same.
    return range === undefined ? { held: [...any, ...unknown], asked: any } : { held: any, asked: unknown };
  }
  if (range === undefined || range === 'gone') return { held: [], asked: [] };
  const [first, last] = [range.startLine, range.endLine].map((line) => Math.floor(line / linesInBlock));
  const count = Math.min((last ?? 0) - (first ?? 0) + 1, maxBlocks);
  const inBlocks = keys.flatMap((key) =>
    Array.from({ length: count }, (_, at) => keyOf(key, String((first ?? 0) + at))),
  );
  return { held: inBlocks, asked: inBlocks };
}

function doOverlap(one: LaterRange, other: LaterRange): boolean {
  if (typeof one !== 'object' || typeof other !== 'object') return false;
  return one.startLine <= other.endLine && other.startLine <= one.endLine;
}

function readTraits({ finding, home, path, sent, quotes }: PairedFinding, run: LaterRun): Traits {
  const folder = pathKey(home);
  const pathAt = (at: number): string => {
    const spot = sent[at];
    if (spot !== undefined) return run.laterPathOf(spot).normalize('NFC');
    return at === 0 ? path : reportedPath(finding.places[at]?.path ?? '');
  };
  const quoted = quotes.map((quote, at) => (quote === '' ? undefined : keyOf(folder, pathAt(at), quote)));
  const [main] = quoted;
  const all = [...new Set(quoted.filter((each) => each !== undefined))].sort();
  return {
    kinds: kindsOf(finding).map((kind) => keyOf(folder, kind)),
    title: finding.title,
    file: finding.places.length === 0 ? undefined : keyOf(folder, pathAt(0)),
    quotes: [...(main === undefined ? [] : [main]), ...(all.length > 1 ? [keyOf(...all)] : [])],
    live: isWithoutCode(finding) ? liveKeysOf(finding).map((key) => keyOf(folder, key)) : [],
  };
}

function memoized<From extends object, To>(ask: (from: From) => To): (from: From) => To {
  const answers = new WeakMap<From, To>();
  return (from) => {
    const answer = answers.get(from) ?? ask(from);
    answers.set(from, answer);
    return answer;
  };
}

/** All findings of a kind in a file in which both sides have one that is left: lines are looked up only for these. */
function inFilesOf<Later extends PairedFinding, Earlier extends PairedFinding>(
  later: readonly Later[],
  earlier: readonly Earlier[],
  isLeft: (each: Later | Earlier) => boolean,
  traitsOf: (each: PairedFinding) => Traits,
): readonly PairedFinding[] {
  const keysOf = (each: PairedFinding): readonly string[] => kindsInFile(traitsOf(each));
  const left = new Set(later.filter(isLeft).flatMap(keysOf));
  const leftOfBoth = new Set(
    earlier
      .filter(isLeft)
      .flatMap(keysOf)
      .filter((key) => left.has(key)),
  );
  return [...later, ...earlier].filter((each) => keysOf(each).some((key) => leftOfBoth.has(key)));
}

interface Bucket<T> {
  readonly items: readonly T[];
  /** The first of the items that may be left. */
  from: number;
}

type Buckets<T> = ReadonlyMap<string, Bucket<T>>;

function toBuckets<T>(findings: readonly T[], keysOf: (finding: T) => Keys): Buckets<T> {
  const buckets = new Map<string, { items: T[]; from: number }>();
  for (const finding of findings)
    for (const key of new Set(keysOf(finding).held)) {
      const bucket = buckets.get(key);
      if (bucket === undefined) buckets.set(key, { items: [finding], from: 0 });
      else bucket.items.push(finding);
    }
  return buckets;
}

/** Undefined where there are several. */
function onlyCandidate<One extends PairedFinding, Other extends PairedFinding>(
  finding: One,
  others: Buckets<Other>,
  keysOf: (finding: One) => Keys,
  fits: (one: One, other: Other) => boolean,
): Other | undefined {
  let only: Other | undefined;
  for (const key of keysOf(finding).asked)
    for (const each of others.get(key)?.items ?? []) {
      if (each === only || !fits(finding, each)) continue;
      if (only !== undefined) return undefined;
      only = each;
    }
  return only;
}

function firstCandidate<T>(
  keys: readonly string[],
  others: Buckets<T>,
  isLeft: (each: T) => boolean,
  fits: (each: T) => boolean,
): T | undefined {
  for (const key of keys) {
    const bucket = others.get(key);
    if (bucket === undefined) continue;
    const { items } = bucket;
    for (let first = items[bucket.from]; first !== undefined && !isLeft(first); first = items[bucket.from])
      bucket.from += 1;
    for (let at = bucket.from; at < items.length; at += 1) {
      const each = items[at];
      if (each !== undefined && isLeft(each) && fits(each)) return each;
    }
  }
  return undefined;
}

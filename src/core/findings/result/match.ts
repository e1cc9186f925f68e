import { join } from 'node:path';
import { isSamePath, pathKey } from '../../paths.ts';
import type { Run } from '../../run/state/run.ts';
import { followLines, isEditOf, lazily } from '../drift/followLines.ts';
import { type LineRange, splitLines } from '../drift/lineText.ts';
import { isWithoutCode, kindsOf, liveKeysOf, reportKey } from '../identity.ts';
import { reportedPath } from '../place/resolver.ts';
import { type Decode, readSentText, type SentFile, sentIn, type SentOfRun } from '../place/sentFiles.ts';
import type { ResultFinding } from './result.ts';

/*
 * Pairs the findings of a run with earlier ones. What is in the same findings file at the same index is the same. Then rule by rule, two findings are paired
 * if each is the only candidate of the other among all findings of both sides. A pair by a rule with `isSure` copies the name. Twins, which no rule tells
 * apart, are paired in their order, not surely. A finding is paired once.
 */

export interface LaterRun {
  readonly run: Run;
  /** The folder with the folders of all runs. */
  readonly runsFolder: string;
  readonly sent: SentOfRun;
  readonly laterPathOf: LaterPath;
  readonly decode: Decode;
}

/** By later finding; `isSure` if both are surely the same. */
export type Pairs = ReadonlyMap<ResultFinding, { readonly earlier: ResultFinding; readonly isSure: boolean }>;

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
export async function pairFindings(
  run: LaterRun,
  later: readonly ResultFinding[],
  earlier: readonly ResultFinding[],
): Promise<Pairs> {
  const pairs = new Map<ResultFinding, { earlier: ResultFinding; isSure: boolean }>();
  const paired = new Set<ResultFinding>();
  const pair = (finding: ResultFinding, before: ResultFinding, isSure: boolean): void => {
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
  const traitsOf = memoized((each: ResultFinding) => readTraits(each, run));
  const isLeft = (each: ResultFinding): boolean => !pairs.has(each) && !paired.has(each);
  let lines: LaterLines | undefined;
  for (const mustBeUnique of [true, false])
    for (const rule of RULES) {
      if (pairs.size === later.length || paired.size === earlier.length) return pairs;
      if (rule.lines !== undefined)
        lines ??= await findLaterLines(run, inFilesOf(later, earlier, isLeft, traitsOf));
      const keysOf = memoized((each: ResultFinding) => keysBy(rule, traitsOf(each), lines?.get(each)));
      const fits = (one: ResultFinding, other: ResultFinding): boolean =>
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

function readTraits({ finding, home, path, sent, quotes }: ResultFinding, run: LaterRun): Traits {
  const folder = pathKey(home);
  const pathAt = (at: number): string => {
    const file = sent[at];
    if (file !== undefined) return run.laterPathOf(file).normalize('NFC');
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
function inFilesOf(
  later: readonly ResultFinding[],
  earlier: readonly ResultFinding[],
  isLeft: (each: ResultFinding) => boolean,
  traitsOf: (each: ResultFinding) => Traits,
): readonly ResultFinding[] {
  const keysOf = (each: ResultFinding): readonly string[] => kindsInFile(traitsOf(each));
  const left = new Set(later.filter(isLeft).flatMap(keysOf));
  const leftOfBoth = new Set(
    earlier
      .filter(isLeft)
      .flatMap(keysOf)
      .filter((key) => left.has(key)),
  );
  return [...later, ...earlier].filter((each) => keysOf(each).some((key) => leftOfBoth.has(key)));
}

/** The findings that hold a key. `from` is the first of them that may be left. */
type Buckets = ReadonlyMap<string, { readonly items: readonly ResultFinding[]; from: number }>;

function toBuckets(findings: readonly ResultFinding[], keysOf: (finding: ResultFinding) => Keys): Buckets {
  const buckets = new Map<string, { items: ResultFinding[]; from: number }>();
  for (const finding of findings)
    for (const key of new Set(keysOf(finding).held)) {
      const bucket = buckets.get(key);
      if (bucket === undefined) buckets.set(key, { items: [finding], from: 0 });
      else bucket.items.push(finding);
    }
  return buckets;
}

/** Undefined where there are several. */
function onlyCandidate(
  finding: ResultFinding,
  others: Buckets,
  keysOf: (finding: ResultFinding) => Keys,
  fits: (one: ResultFinding, other: ResultFinding) => boolean,
): ResultFinding | undefined {
  let only: ResultFinding | undefined;
  for (const key of keysOf(finding).asked)
    for (const each of others.get(key)?.items ?? []) {
      if (each === only || !fits(finding, each)) continue;
      if (only !== undefined) return undefined;
      only = each;
    }
  return only;
}

function firstCandidate(
  keys: readonly string[],
  others: Buckets,
  isLeft: (each: ResultFinding) => boolean,
  fits: (each: ResultFinding) => boolean,
): ResultFinding | undefined {
  for (const key of keys) {
    const bucket = others.get(key);
    if (bucket === undefined) continue;
    const { items } = bucket;
    for (let first = items[bucket.from]; first !== undefined && !isLeft(first); first = items[bucket.from])
      bucket.from += 1;
    const found = items.slice(bucket.from).find((each) => isLeft(each) && fits(each));
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Lines in the text that the later run was given. A finding with unknown lines has no entry. */
type LaterLines = ReadonlyMap<ResultFinding, LineRange | 'gone'>;

/** Follows the lines of main places from the text that each finding's run was sent to that of a later run. */
async function findLaterLines(later: LaterRun, findings: readonly ResultFinding[]): Promise<LaterLines> {
  const lines = new Map<ResultFinding, LineRange | 'gone'>();
  const byFile = Map.groupBy(findings, ({ run, sent: [file] }) =>
    JSON.stringify([run, file?.target, file?.path]),
  );
  for (const inFile of byFile.values()) {
    const { run = '', sent: [file] = [] } = inFile[0] ?? {};
    const follow = file && (await followToLater(later, run, file));
    for (const each of inFile) {
      const { startLine, endLine = startLine } = each.finding.places[0] ?? {};
      if (startLine === undefined || endLine === undefined) continue;
      const range = follow?.({ startLine, endLine });
      if (range !== undefined) lines.set(each, range);
    }
  }
  return lines;
}

/** Undefined where it is not known what became of the lines. */
async function followToLater(
  later: LaterRun,
  run: string,
  sent: SentFile,
): Promise<((range: LineRange) => LineRange | 'gone' | undefined) | undefined> {
  const sentLater = sentIn(later, sent.folder, later.laterPathOf(sent));
  if (sentLater === 'unknown') return undefined;
  if (sentLater === undefined) return () => 'gone';
  if (sentLater.sha256 === sent.sha256) return (range) => range;
  const linesOf = async (id: string, file: SentFile): Promise<readonly string[] | undefined> => {
    const text = await readSentText(join(later.runsFolder, id), file, later.decode);
    return text && splitLines(text.text);
  };
  const [before, after] = [await linesOf(run, sent), await linesOf(later.run.id, sentLater)];
  if (before === undefined || after === undefined) return undefined;
  const mapRange = followLines(before)(after);
  return (range) => {
    const { drift, startLine, endLine } = mapRange(range);
    if (drift === 'unknown') return undefined;
    if (drift === 'gone') return 'gone';
    if (drift !== 'changed') return { startLine, endLine };
    // Changed lines may be other code that replaced the earlier code.
    const isEdit = isEditOf(
      after.slice(startLine - 1, endLine),
      before.slice(range.startLine - 1, range.endLine),
    );
    return isEdit === undefined ? undefined : isEdit ? { startLine, endLine } : 'gone';
  };
}

/**
 * The path in its folder that an earlier sent file has in a later run: its own; where that was not sent again, the only one with its bytes, else the only
 * one that differs in letter case. Its own, too, where none of these was sent.
 */
export type LaterPath = (sent: SentFile) => string;

export function laterPathsIn({ targets }: Run, sent: SentOfRun): LaterPath {
  const indexes = sent.map((files) => {
    if (files === undefined) return undefined;
    // Most runs need neither.
    return {
      files,
      byBytes: lazily(() => uniquePaths(files, ({ sha256 }) => sha256)),
      byCase: lazily(() => uniquePaths(files, ({ path }) => path.toLowerCase())),
    };
  });
  return ({ folder, path, sha256, isOnlyCopy }) => {
    const index = indexes[targets.findIndex((each) => isSamePath(each.folder, folder))];
    if (index === undefined || index.files.has(path)) return path;
    const moved = isOnlyCopy === true ? index.byBytes().get(sha256) : undefined;
    return moved ?? index.byCase().get(path.toLowerCase()) ?? path;
  };
}

/** Undefined where several files share the key. */
export function uniquePaths(
  files: ReadonlyMap<string, SentFile>,
  keyOf: (file: SentFile) => string,
): ReadonlyMap<string, string | undefined> {
  const paths = new Map<string, string | undefined>();
  for (const file of files.values()) {
    const key = keyOf(file);
    paths.set(key, paths.has(key) ? undefined : file.path);
  }
  return paths;
}

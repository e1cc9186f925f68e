import { join } from 'node:path';
import { isSamePath, pathKey } from '../../paths.ts';
import type { Run } from '../../run/state/run.ts';
import { lazily } from '../../yieldingWork.ts';
import { followLines, isEditOf } from '../drift/followLines.ts';
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

/** A finding with what rules compare. Paths are those of the later run. */
interface Candidate {
  readonly finding: ResultFinding;
  readonly kinds: readonly string[];
  readonly title: string;
  /** Of its main place; undefined without one. */
  readonly file: string | undefined;
  /** The quoted code of its main place, and of all places in any order, each with its file. */
  readonly quotes: readonly string[];
  readonly live: readonly string[];
  /** Of its main place, in the text of the later run. Undefined where these are not known. */
  lines?: LineRange | 'gone' | undefined;
  isPaired: boolean;
}

interface PairingRule {
  /** Candidates share a key. */
  readonly keysOf: (candidate: Candidate) => readonly string[];
  /** Looks at lines, which are not read before. */
  readonly fits?: (one: Candidate, other: Candidate) => boolean;
  readonly isSure: boolean;
}

const keyOf = (...parts: readonly string[]): string => JSON.stringify(parts);

function kindsInFile({ file, kinds }: Candidate): readonly string[] {
  return file === undefined ? [] : kinds.map((kind) => keyOf(file, kind));
}

function titlesInFile(candidate: Candidate): readonly string[] {
  return candidate.title === '' ? [] : kindsInFile(candidate).map((key) => keyOf(key, candidate.title));
}

function doOverlap({ lines: one }: Candidate, { lines: other }: Candidate): boolean {
  if (typeof one !== 'object' || typeof other !== 'object') return false;
  return one.startLine <= other.endLine && other.startLine <= one.endLine;
}

const RULES: readonly PairingRule[] = [
  { keysOf: ({ live }) => live, isSure: true },
  { keysOf: ({ live, title }) => live.map((key) => keyOf(key, title)), isSure: true },
  {
    keysOf: ({ quotes, kinds }) => quotes.flatMap((quote) => kinds.map((kind) => keyOf(quote, kind))),
    isSure: true,
  },
  { keysOf: titlesInFile, fits: doOverlap, isSure: true },
  { keysOf: ({ quotes }) => quotes, isSure: false },
  { keysOf: kindsInFile, fits: doOverlap, isSure: false },
  {
    keysOf: titlesInFile,
    fits: (one, other) => one.lines === undefined || other.lines === undefined,
    isSure: false,
  },
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
  const byReport = new Map(
    earlier.toReversed().flatMap((each) => [[reportKey(each), each] as const, [each.name, each] as const]),
  );
  for (const finding of later) {
    const same = byReport.get(reportKey(finding));
    if (same === undefined || paired.has(same)) continue;
    pairs.set(finding, { earlier: same, isSure: true });
    paired.add(same);
  }
  if (pairs.size === later.length || paired.size === earlier.length) return pairs;
  const ours = later.map((each) => toCandidate(each, run, pairs.has(each)));
  const theirs = earlier.map((each) => toCandidate(each, run, paired.has(each)));
  let areLinesKnown = false;
  for (const mustBeUnique of [true, false])
    for (const rule of RULES) {
      if (rule.fits !== undefined && !areLinesKnown) {
        await addLines(run, ours, theirs);
        areLinesKnown = true;
      }
      const [oursByKey, theirsByKey] = [byKey(ours, rule), byKey(theirs, rule)];
      for (const one of ours) {
        if (one.isPaired) continue;
        const others = candidatesOf(one, theirsByKey, rule);
        const other = mustBeUnique ? onlyOne(others) : firstLeft(others);
        if (other === undefined || other.isPaired) continue;
        if (mustBeUnique && onlyOne(candidatesOf(other, oursByKey, rule)) !== one) continue;
        pairs.set(one.finding, { earlier: other.finding, isSure: mustBeUnique && rule.isSure });
        one.isPaired = true;
        other.isPaired = true;
      }
    }
  return pairs;
}

function toCandidate(found: ResultFinding, run: LaterRun, isPaired: boolean): Candidate {
  const { finding, home, path, sent, quotes } = found;
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
    finding: found,
    kinds: kindsOf(finding).map((kind) => keyOf(folder, kind)),
    title: finding.title,
    file: finding.places.length === 0 ? undefined : keyOf(folder, pathAt(0)),
    quotes: [...(main === undefined ? [] : [main]), ...(all.length > 1 ? [keyOf(...all)] : [])],
    live: isWithoutCode(finding) ? liveKeysOf(finding).map((key) => keyOf(folder, key)) : [],
    isPaired,
  };
}

type ByKey = ReadonlyMap<string, readonly Candidate[]>;

function byKey(candidates: readonly Candidate[], { keysOf }: PairingRule): ByKey {
  const found = new Map<string, Candidate[]>();
  for (const each of candidates)
    for (const key of new Set(keysOf(each))) {
      const alike = found.get(key);
      if (alike === undefined) found.set(key, [each]);
      else alike.push(each);
    }
  return found;
}

/** More findings of one kind in one file are not paired by their lines. */
const maxOnLines = 1_000;

/** One with several keys may come several times. */
function* candidatesOf(one: Candidate, others: ByKey, { keysOf, fits }: PairingRule): Generator<Candidate> {
  for (const key of keysOf(one)) {
    const alike = others.get(key) ?? [];
    if (fits === undefined) yield* alike;
    else if (alike.length <= maxOnLines) for (const other of alike) if (fits(one, other)) yield other;
  }
}

/** Undefined where there are several. */
function onlyOne(candidates: Iterable<Candidate>): Candidate | undefined {
  let only: Candidate | undefined;
  for (const each of candidates) {
    if (only !== undefined && each !== only) return undefined;
    only = each;
  }
  return only;
}

function firstLeft(candidates: Iterable<Candidate>): Candidate | undefined {
  for (const each of candidates) if (!each.isPaired) return each;
  return undefined;
}

/** Follows the lines of main places from the text that each finding's run was sent to that of the later run, in files with findings of both that are left. */
async function addLines(
  later: LaterRun,
  ours: readonly Candidate[],
  theirs: readonly Candidate[],
): Promise<void> {
  const filesLeft = (side: readonly Candidate[]): ReadonlySet<string | undefined> =>
    new Set(side.flatMap(({ file, isPaired }) => (isPaired ? [] : file)));
  const [inOurs, inTheirs] = [filesLeft(ours), filesLeft(theirs)];
  const inFiles = [...ours, ...theirs].filter(({ file }) => inOurs.has(file) && inTheirs.has(file));
  const bySent = Map.groupBy(inFiles, ({ finding: { run, sent } }) =>
    JSON.stringify([run, sent[0]?.target, sent[0]?.path]),
  );
  for (const candidates of bySent.values()) {
    const { run = '', sent: [file] = [] } = candidates[0]?.finding ?? {};
    const follow = file && (await followToLater(later, run, file));
    for (const each of candidates) {
      const { startLine, endLine = startLine } = each.finding.finding.places[0] ?? {};
      if (startLine !== undefined && endLine !== undefined) each.lines = follow?.({ startLine, endLine });
    }
  }
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
  const mapRange = followLines(before, after);
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

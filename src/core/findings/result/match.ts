import { join, posix } from 'node:path';
import { asUnknown } from '../../errors.ts';
import { isSamePath, pathKey } from '../../paths.ts';
import type { Run } from '../../run/state/run.ts';
import { lazily } from '../../yieldingWork.ts';
import { type Drift, type DriftedRange, followLines } from '../drift/followLines.ts';
import { splitLines } from '../drift/lineText.ts';
import { isWithoutCode, kindsOf, liveKeysOf, reportKey } from '../identity.ts';
import { reportedPath } from '../location/resolver.ts';
import {
  type Decode,
  readUploadedText,
  readUploadedFiles,
  type UploadedFile,
  uploadedIn,
  type UploadedFiles,
} from '../location/uploadedFiles.ts';
import type { ResultFinding } from './result.ts';

/**
 * Pairs the findings of a run with earlier ones. The same index in the same findings file means the
 * same finding. Then, rule by rule, two findings are paired if each is the other's only candidate;
 * findings that are already paired are candidates, too. A rule with `isSure` finds the same
 * finding, which keeps its earlier name. Twins, which no rule distinguishes, are paired in their
 * order, but these pairs aren't sure.
 */

export interface LaterRun {
  readonly run: Run;
  readonly runsFolder: string;
  readonly uploaded: UploadedFiles;
  readonly laterPathOf: LaterPath;
  readonly decode: Decode;
}

export type Pairs = ReadonlyMap<ResultFinding, { readonly earlier: ResultFinding; readonly isSure: boolean }>;

/** Paths are those of the later run. */
interface Candidate {
  readonly finding: ResultFinding;
  readonly kinds: readonly string[];
  readonly title: string;
  readonly file: string | undefined;
  /**
   * One key has the file and quote of the main location. If several locations have quotes, another
   * key has the files and quotes of all of them, sorted.
   */
  readonly quotes: readonly string[];
  /** It has the main location's quote and bare file name. */
  readonly namedQuote: string | undefined;
  readonly live: readonly string[];
  /** The main location has these lines in the later run's text. */
  lines?: DriftedRange;
  /** Follows lines of the later run's text to the text of the finding's own run. */
  toOwn?: FollowRange;
  /** If the file was not uploaded again, returns true for paths that the earlier upload lacks. */
  mayHaveMovedTo?: (path: string) => boolean;
  isPaired: boolean;
}

type Candidates = readonly Candidate[];

interface PairingRule {
  readonly keysOf: (candidate: Candidate) => readonly string[];
  readonly fits?: (one: Candidate, other: Candidate) => boolean;
  readonly read?: (later: LaterRun, ours: Candidates, theirs: Candidates) => Promise<void>;
  readonly isSure: boolean;
}

const keyOf = (...parts: readonly string[]): string => JSON.stringify(parts);

function kindsInFile({ file, kinds }: Candidate): readonly string[] {
  return file === undefined ? [] : kinds.map((kind) => keyOf(file, kind));
}

function titlesInFile(candidate: Candidate): readonly string[] {
  return candidate.title === '' ? [] : kindsInFile(candidate).map((key) => keyOf(key, candidate.title));
}

function areLinesKnown({ lines }: Candidate): boolean {
  return lines !== undefined && lines.drift !== 'unknown';
}

function doOverlap({ lines: one }: Candidate, { lines: other }: Candidate): boolean {
  const isThere = (drift: Drift | undefined): boolean => drift !== 'gone' && drift !== 'unknown';
  if (one === undefined || other === undefined || !isThere(one.drift) || !isThere(other.drift)) return false;
  return one.startLine <= other.endLine && other.startLine <= one.endLine;
}

/** Edited code isn't the same code, because it needs a new decision. */
function areOfSameCode(one: Candidate, other: Candidate): boolean {
  const isKept = (range: DriftedRange | undefined): boolean =>
    range?.drift === 'same' || range?.drift === 'moved';
  const keeps = ({ lines, toOwn }: Candidate, { lines: others }: Candidate): boolean =>
    isKept(lines) && others !== undefined && isKept(toOwn?.(others));
  return doOverlap(one, other) && keeps(one, other) && keeps(other, one);
}

function mayHaveMoved(one: Candidate, other: Candidate): boolean {
  const isFrom = ({ mayHaveMovedTo }: Candidate, { finding: { uploaded } }: Candidate): boolean =>
    uploaded[0] !== undefined && mayHaveMovedTo?.(uploaded[0].path) === true;
  return isFrom(one, other) || isFrom(other, one);
}

const RULES: readonly PairingRule[] = [
  { keysOf: ({ live }) => live, isSure: true },
  { keysOf: ({ live, title }) => live.map((key) => keyOf(key, title)), isSure: true },
  {
    keysOf: ({ quotes, kinds }) => quotes.flatMap((quote) => kinds.map((kind) => keyOf(quote, kind))),
    isSure: true,
  },
  { keysOf: titlesInFile, fits: areOfSameCode, read: readLines, isSure: true },
  { keysOf: ({ quotes }) => quotes, isSure: false },
  { keysOf: kindsInFile, fits: doOverlap, read: readLines, isSure: false },
  {
    keysOf: titlesInFile,
    fits: (one, other) => !areLinesKnown(one) || !areLinesKnown(other),
    read: readLines,
    isSure: false,
  },
  {
    keysOf: ({ file, live, kinds, title }) =>
      file === undefined && live.length === 0 && title !== '' ? kinds.map((kind) => keyOf(kind, title)) : [],
    isSure: false,
  },
  {
    keysOf: ({ namedQuote, kinds }) =>
      namedQuote === undefined ? [] : kinds.map((kind) => keyOf(namedQuote, kind)),
    fits: mayHaveMoved,
    read: readMoves,
    isSure: false,
  },
];

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
  const areRead = new Set<PairingRule['read']>();
  for (const mustBeUnique of [true, false])
    for (const rule of RULES) {
      if (!areRead.has(rule.read)) await rule.read?.(run, ours, theirs);
      areRead.add(rule.read);
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
  const { finding, ofTarget, uploadedPath, uploaded, quotes } = found;
  const folder = pathKey(ofTarget);
  const pathAt = (at: number): string => {
    const file = uploaded[at];
    if (file !== undefined) return run.laterPathOf(file).normalize('NFC');
    return at === 0 ? uploadedPath : reportedPath(finding.locations[at]?.path ?? '');
  };
  const quoted = quotes.map((quote, at) => (quote === '' ? undefined : keyOf(folder, pathAt(at), quote)));
  const [main] = quoted;
  const all = [...new Set(quoted.filter((each) => each !== undefined))].sort();
  return {
    finding: found,
    kinds: kindsOf(finding).map((kind) => keyOf(folder, kind)),
    title: finding.title,
    file: finding.locations.length === 0 ? undefined : keyOf(folder, pathAt(0)),
    quotes: [...(main === undefined ? [] : [main]), ...(all.length > 1 ? [keyOf(...all)] : [])],
    namedQuote: main === undefined ? undefined : keyOf(posix.basename(pathAt(0)), quotes[0] ?? ''),
    live: isWithoutCode(finding) ? liveKeysOf(finding).map((key) => keyOf(folder, key)) : [],
    isPaired,
  };
}

type ByKey = ReadonlyMap<string, Candidates>;

function byKey(candidates: Candidates, { keysOf }: PairingRule): ByKey {
  const found = new Map<string, Candidate[]>();
  for (const each of candidates)
    for (const key of new Set(keysOf(each))) {
      const sameKey = found.get(key);
      if (sameKey === undefined) found.set(key, [each]);
      else sameKey.push(each);
    }
  return found;
}

/**
 * If more candidates share a key, a rule with `fits` ignores them: it would compare each finding
 * with all of them.
 */
const maxOnLines = 1_000;

function* candidatesOf(one: Candidate, others: ByKey, { keysOf, fits }: PairingRule): Generator<Candidate> {
  for (const key of keysOf(one)) {
    const sameKey = others.get(key) ?? [];
    if (fits === undefined) yield* sameKey;
    else if (sameKey.length <= maxOnLines) for (const other of sameKey) if (fits(one, other)) yield other;
  }
}

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

async function readLines(later: LaterRun, ours: Candidates, theirs: Candidates): Promise<void> {
  const filesLeft = (side: Candidates): ReadonlySet<string | undefined> =>
    new Set(side.flatMap(({ file, isPaired }) => (isPaired ? [] : file)));
  const [inOurs, inTheirs] = [filesLeft(ours), filesLeft(theirs)];
  const inFiles = [...ours, ...theirs].filter(({ file }) => inOurs.has(file) && inTheirs.has(file));
  const byUploaded = Map.groupBy(inFiles, ({ finding: { run, uploaded } }) =>
    JSON.stringify([run, uploaded[0]?.target, uploaded[0]?.path]),
  );
  for (const candidates of byUploaded.values()) {
    const { run = '', uploaded: [file] = [] } = candidates[0]?.finding ?? {};
    const { toLater, toOwn } = (file && (await followBoth(later, run, file))) ?? allAre('unknown');
    for (const each of candidates) {
      const { startLine, endLine = startLine } = each.finding.finding.locations[0] ?? {};
      if (startLine === undefined || endLine === undefined) continue;
      each.lines = toLater({ startLine, endLine });
      each.toOwn = toOwn;
    }
  }
}

type FollowRange = ReturnType<typeof followLines>;
type Both = Readonly<Record<'toLater' | 'toOwn', FollowRange>>;

function allAre(drift: Drift): Both {
  const follow: FollowRange = (range) => ({ ...range, drift });
  return { toLater: follow, toOwn: follow };
}

async function followBoth(later: LaterRun, run: string, uploaded: UploadedFile): Promise<Both> {
  const uploadedLater = uploadedIn(later, uploaded.folder, later.laterPathOf(uploaded));
  if (uploadedLater === 'unknown') return allAre('unknown');
  if (uploadedLater === undefined) return allAre('gone');
  if (uploadedLater.sha256 === uploaded.sha256) return allAre('same');
  const linesOf = async (id: string, file: UploadedFile): Promise<readonly string[] | undefined> => {
    const text = await readUploadedText(join(later.runsFolder, id), file, later.decode).catch(asUnknown);
    return text && splitLines(text.text);
  };
  const [before, after] = [await linesOf(run, uploaded), await linesOf(later.run.id, uploadedLater)];
  if (before === undefined || after === undefined) return allAre('unknown');
  return { toLater: followLines(before, after), toOwn: followLines(after, before) };
}

async function readMoves(later: LaterRun, ours: Candidates, theirs: Candidates): Promise<void> {
  const quotesLeft = new Set(
    ours.flatMap(({ isPaired, namedQuote }) => (isPaired ? [] : (namedQuote ?? []))),
  );
  const uploadedWith = new Map<string, ReturnType<typeof readUploadedFiles>>();
  for (const each of theirs) {
    const { run, uploaded } = each.finding;
    const [file] = uploaded;
    if (each.isPaired || file === undefined || !quotesLeft.has(each.namedQuote ?? '')) continue;
    if (uploadedIn(later, file.folder, later.laterPathOf(file)) !== undefined) continue;
    const key = JSON.stringify([run, file.target]);
    const reading = uploadedWith.get(key) ?? readUploadedFiles(file, join(later.runsFolder, run));
    uploadedWith.set(key, reading);
    const files = await reading;
    each.mayHaveMovedTo = (path) => files?.has(path) === false;
  }
}

/**
 * Returns the path to look for in the later upload. If the path was not uploaded again, the file
 * with the same bytes counts if each upload has only one, else the only path that differs just in
 * letter case.
 */
export type LaterPath = (uploaded: UploadedFile) => string;

export function laterPathsIn({ targets }: Run, uploaded: UploadedFiles): LaterPath {
  const indexes = uploaded.map((files) => {
    if (files === undefined) return undefined;
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

export function uniquePaths(
  files: ReadonlyMap<string, UploadedFile>,
  keyOf: (file: UploadedFile) => string,
): ReadonlyMap<string, string | undefined> {
  const paths = new Map<string, string | undefined>();
  for (const file of files.values()) {
    const key = keyOf(file);
    paths.set(key, paths.has(key) ? undefined : file.path);
  }
  return paths;
}

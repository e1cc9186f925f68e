import { join } from 'node:path';
import { AssessmentError, fileError } from '../../errors.ts';
import { readArtifactFile } from '../../features/artifactFile.ts';
import { readScanProgress } from '../../features/scanProgress.ts';
import { pathKey } from '../../paths.ts';
import type { Run } from '../../run/state/run.ts';
import { baselineAmong, continuesRun, earlierRuns, isOfService } from '../chooseRun.ts';
import { fingerprintOf, quoteKeyOf } from '../identity.ts';
import { compareFindings, type ComparedRun, isAbout, type OwnFinding } from './compareRuns.ts';
import { copyMarker, laterPathsIn } from './laterPath.ts';
import type { Cut } from '../parse/parse.ts';
import { type FindingsFile, findingsMarkOf, readFindings } from '../parse/readFindings.ts';
import { checkEvidence, evidenceKey, type KnownEvidence } from '../place/evidence.ts';
import { createResolver } from '../place/resolver.ts';
import { type Decode, readSent, sentFileOf } from '../place/sentFiles.ts';
import { keepSource } from './keepSource.ts';
import {
  findingsKeyOf,
  type FoundByRun,
  resultKeyOf,
  type ResultFinding,
  type ResultHead,
  type RunResult,
} from './result.ts';
import { type DetailsByIndex, readDetails, writeDetails } from './details.ts';
import { readSaved, type SavedResult, savedMarkOf, writeResult } from './resultFile.ts';

/** Findings that are not reported; the others are counted. */
const maxAbsent = 10_000;

export interface WorkOutDeps {
  /** The folder with the folders of all runs. */
  readonly runsFolder: string;
  /** At least the runs of the same subject, newest first. */
  readonly runs: readonly Run[];
  readonly decode: Decode;
  /** True: write nothing. */
  readonly isReadOnly: boolean;
  /** Runs whose findings files are known to be too large. */
  readonly tooLarge: readonly string[];
  /** Called before a findings file is read, which may take all memory. */
  readonly onReading: (runId: string) => void;
  /** Results of this job by run, the latest used last: where they cannot be saved, runs of several folders need one many times. */
  readonly recent: Map<string, SavedResult>;
}

const maxRecent = 8;

/** The result of a run: the saved one, unless it is missing or its inputs have changed. Throws what `readFindings` throws. */
export async function resultOf(run: Run, deps: WorkOutDeps): Promise<SavedResult> {
  const { recent } = deps;
  const result = recent.get(run.id) ?? (await readOrWorkOut(run, deps));
  recent.delete(run.id);
  recent.set(run.id, result);
  for (const id of recent.keys()) if (recent.size > maxRecent) recent.delete(id);
  return result;
}

async function readOrWorkOut(run: Run, deps: WorkOutDeps): Promise<SavedResult> {
  const runFolder = join(deps.runsFolder, run.id);
  const findingsKey = findingsKeyOf(
    run,
    onDisk(() => findingsMarkOf(runFolder)),
  );
  const earlier = earlierRuns(deps.runs, run);
  const saved = await readIfCurrent(runFolder, run, findingsKey, earlier, deps);
  if (saved !== undefined) return saved;
  const before = await readBefore(run, earlier, deps);
  for (let triesLeft = 3; ; triesLeft -= 1) {
    const mark = savedMarkOf(runFolder);
    const former = readSaved(runFolder);
    const own =
      former?.head.findingsKey === findingsKey
        ? { cut: former.head.cut, findings: former.read().findings }
        : await readOwn(run, former, deps, findingsKey);
    const result = await compareWithBefore(run, own, { ...before, former }, deps, findingsKey);
    const saved = { head: result.head, read: () => result };
    if (deps.isReadOnly) return saved;
    // What another window has saved meanwhile keeps its names.
    if (savedMarkOf(runFolder) !== mark && triesLeft > 0) continue;
    // Without the file, the result is worked out again when it is needed.
    await writeResult(runFolder, result).catch(() => undefined);
    return saved;
  }
}

/** Details of what a run reports; read from its findings file unless they are saved. */
export async function detailsOf(
  run: Run,
  indexes: ReadonlySet<number>,
  deps: WorkOutDeps,
): Promise<DetailsByIndex> {
  const runFolder = join(deps.runsFolder, run.id);
  const inputs = findingsKeyOf(
    run,
    onDisk(() => findingsMarkOf(runFolder)),
  );
  const saved = await readDetails(runFolder, inputs, indexes);
  if (saved !== undefined) return saved;
  const { details } = await readFile(run, deps, inputs);
  return new Map([...details].filter(([index]) => indexes.has(index)));
}

/** Keeps the sent texts that the findings of a run point at. Throws `storage` for a damaged archive. */
export async function keepSourceOf(run: Run, deps: WorkOutDeps): Promise<void> {
  const runFolder = join(deps.runsFolder, run.id);
  const { findings } = await readFile(run, deps);
  await keepSource(run, runFolder, (await locate(run, findings, deps)).spots.flat());
}

/** The saved result, if its inputs are as they were. */
async function readIfCurrent(
  runFolder: string,
  run: Run,
  findingsKey: string,
  earlier: readonly Run[],
  deps: WorkOutDeps,
): Promise<SavedResult | undefined> {
  const saved = readSaved(runFolder);
  if (saved === undefined) return undefined;
  const { head } = saved;
  if (head.key !== resultKeyOf(run) || head.findingsKey !== findingsKey) return undefined;
  const known = new Map(head.earlier.map((each) => [each.id, each]));
  // A run that was removed stays in the result.
  if (!earlier.every((other) => known.get(other.id)?.key === resultKeyOf(other))) return undefined;
  for (const other of earlier)
    if (known.get(other.id)?.isUnread === true && (await readIfPossible(other, deps)) !== undefined)
      return undefined;
  return saved;
}

interface Own {
  readonly cut: Cut | undefined;
  readonly findings: readonly OwnFinding[];
}

/** What earlier runs found, and the run that new findings are new since. */
interface Before extends FoundByRun {
  readonly head: Pick<ResultHead, 'unlisted'>;
  readonly baseline: ResultHead['baseline'];
  readonly unread: ReadonlySet<string>;
  readonly known: readonly Run[];
}

/** Reads the findings file of a run, and saves the details for these inputs. */
async function readFile(run: Run, deps: WorkOutDeps, inputs?: string): Promise<FindingsFile> {
  const { isReadOnly, runsFolder, tooLarge, onReading } = deps;
  if (tooLarge.includes(run.id)) throw new AssessmentError('findingsTooLarge');
  onReading(run.id);
  const runFolder = join(runsFolder, run.id);
  const read = await readFindings(runFolder, { runId: run.id, isReadOnly });
  // Without the details, the findings file is read again when they are needed.
  if (inputs !== undefined && !isReadOnly)
    await writeDetails(runFolder, inputs, read.details).catch(() => undefined);
  return read;
}

async function readOwn(
  run: Run,
  former: SavedResult | undefined,
  deps: WorkOutDeps,
  inputs: string,
): Promise<Own> {
  const { findings, cut, file } = await readFile(run, deps, inputs);
  const { source, spots, sentPaths } = await locate(run, findings, deps);
  const located = findings.map((finding, at) => ({ finding, sent: spots[at] ?? [] }));
  const evidence = await checkEvidence(located, source, evidenceIn(former), deps.decode);
  return {
    cut,
    findings: located.map(({ finding, sent }, at) => {
      const { folder, path } = sentPaths[at] ?? { folder: '', path: '' };
      return {
        finding,
        run: run.id,
        file,
        index: finding.index,
        fingerprint: fingerprintOf(finding, { path }),
        home: folder ?? run.targets[0]?.folder ?? '',
        folder,
        path,
        sent,
        quotes: finding.places.map(({ snippet }) => quoteKeyOf(snippet)),
        evidence: evidence[at],
      };
    }),
  };
}

/** The sent files of all places, and what each finding is about. */
async function locate(run: Run, findings: readonly OwnFinding['finding'][], { runsFolder }: WorkOutDeps) {
  const runFolder = join(runsFolder, run.id);
  const sent = await readSent(run, runFolder);
  const places = findings.flatMap((finding) => finding.places);
  const resolver = createResolver({ targets: run.targets, sent, places });
  const source = { run, runFolder, sent, resolver };
  const markCopies = copyMarker(sent);
  const spots: OwnFinding['sent'][] = [];
  const sentPaths = [];
  for (const finding of findings) {
    const found = await Promise.all(finding.places.map((place) => sentFileOf(source, place)));
    spots.push(markCopies(found));
    sentPaths.push(await resolver.sentPath(finding.places[0] ?? { path: '' }));
  }
  return { source, spots, sentPaths };
}

/** A quote keeps the evidence that was found while the archive was here. */
function evidenceIn(former: SavedResult | undefined): KnownEvidence {
  const known = new Map<string, ReturnType<KnownEvidence['get']>>();
  if (former !== undefined)
    for (const { finding, evidence } of former.read().findings)
      for (const [at, place] of finding.places.entries()) known.set(evidenceKey(place), evidence?.[at]);
  return known;
}

/** The latest results before this run: for each of its folders, that of the latest earlier run that can be read. */
async function readBefore(run: Run, earlier: readonly Run[], deps: WorkOutDeps): Promise<Before> {
  const read = new Map<string, (FoundByRun & { readonly run: Run; readonly head: ResultHead }) | undefined>();
  const readOnce = async (other: Run) => {
    if (!read.has(other.id)) {
      const saved = await readIfPossible(other, deps);
      read.set(other.id, saved && { run: other, head: saved.head, ...saved.read() });
    }
    return read.get(other.id);
  };
  const byFolder = new Map<string, Run>();
  for (const { folder } of run.targets)
    for (const other of earlier.filter((each) => isAbout(each, { home: folder }))) {
      if ((await readOnce(other)) === undefined) continue;
      byFolder.set(pathKey(folder), other);
      break;
    }
  const baseline = baselineAmong(deps.runs, run);
  const ofBaseline = baseline && (await readOnce(baseline));
  const results = [...new Set(byFolder.values())].flatMap((other) => read.get(other.id) ?? []);
  const isFrom = (other: Run) => (finding: ResultFinding) => byFolder.get(pathKey(finding.home)) === other;
  const unreadBefore = results.flatMap(({ head }) => head.earlier.filter((each) => each.isUnread));
  return {
    findings: results.flatMap((each) => each.findings.filter(isFrom(each.run))),
    absent: results.flatMap((each) => each.absent.filter(isFrom(each.run))),
    head: { unlisted: Math.max(0, ...results.map(({ head }) => head.unlisted)) },
    baseline: baseline && ofBaseline && { id: baseline.id, cut: ofBaseline.head.cut },
    unread: new Set([
      ...[...read].flatMap(([id, found]) => (found === undefined ? [id] : [])),
      ...unreadBefore.map(({ id }) => id),
    ]),
    known: earlier,
  };
}

/** Undefined for a run whose findings cannot be read. */
export async function readIfPossible(run: Run, deps: WorkOutDeps): Promise<SavedResult | undefined> {
  try {
    return await resultOf(run, deps);
  } catch (error) {
    if (error instanceof AssessmentError) return undefined;
    throw error;
  }
}

async function compareWithBefore(
  run: Run,
  { cut, findings: own }: Own,
  { former, ...before }: Before & { readonly former: SavedResult | undefined },
  deps: WorkOutDeps,
  findingsKey: string,
): Promise<RunResult> {
  const { runsFolder, decode } = deps;
  const { baseline, unread, known } = before;
  const sent = await readSent(run, join(runsFolder, run.id));
  const continued = earlierRuns(deps.runs, run).find((other) => continuesRun(run, other));
  const progressOf = (each: Run) => readScanProgress(each, join(runsFolder, each.id), readArtifactFile);
  const isBlackbox = run.workflow === 'blackbox-assessment';
  const compared: ComparedRun = {
    run,
    runsFolder,
    sent,
    laterPathOf: laterPathsIn(run, sent),
    cut,
    progress: isBlackbox ? await progressOf(run) : undefined,
    progressBefore: continued && (await progressOf(continued)),
  };
  const { findings, absent } = await compareFindings(
    compared,
    own,
    {
      ...before,
      former: former?.read() ?? { findings: [], absent: [] },
      isOnlyForNames: !isOfService(run),
      hasBaseline: baseline !== undefined && baseline.cut === undefined,
    },
    decode,
  );
  const listed = absent.slice(0, maxAbsent);
  const head: ResultHead = {
    format: 3,
    findingsKey,
    key: resultKeyOf(run),
    cut,
    earlier: known.map((other) => ({
      id: other.id,
      key: resultKeyOf(other),
      isUnread: unread.has(other.id) || undefined,
    })),
    baseline,
    unlisted: before.head.unlisted + absent.length - listed.length,
    counts: { findings: findings.length, absent: listed.length },
  };
  return { head, findings, absent: listed };
}

function onDisk<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw fileError(error) ?? error;
  }
}

import { setImmediate } from 'node:timers/promises';
import type { PairState, ScanProgress } from '../../features/scanProgress.ts';
import { isSamePath } from '../../paths.ts';
import { isContinued } from '../../run/state/continuedRuns.ts';
import type { Run } from '../../run/state/run.ts';
import { perspectives } from '../../workflows/application.ts';
import { continuesRun, hasAllFindings, isOfSameFolders, hasSameResults } from '../chooseRun.ts';
import type { Finding, Place } from '../finding.ts';
import type { Identity } from '../identity.ts';
import { normalKey } from '../../json.ts';
import type { Cut } from '../parse/parse.ts';
import { type Decode, type RunSource, sentFileOf, sentIn } from '../place/sentFiles.ts';
import type { FindingsOfRun, RunFinding } from './findingsOfRun.ts';
import { type Pair, pairFindings } from './match.ts';
import {
  blackboxVerdict,
  type PairInRun,
  type SentHashes,
  type Verdict,
  whiteboxAbsence,
} from './verdict.ts';

/** What earlier runs say about a finding. */
export interface AcrossRuns {
  readonly verdict: Verdict | undefined;
  /** The finding in earlier runs, the latest first. Decisions about these hold for it. */
  readonly sameAs: readonly Identity[];
  /** What is probably the same finding in the runs before those, the latest first. */
  readonly likely: readonly Identity[];
}

/** A comparison of a run with earlier runs. */
export interface RunHistory {
  readonly earlier: readonly Run[];
  readonly baselineId: string | undefined;
  /** The earlier runs that could not be read. */
  readonly unread: readonly Run[];
  /** The run with `baselineId`, if it could be read. */
  readonly baseline?: { readonly id: string; readonly cut: Cut | undefined } | undefined;
  /** By the position of the finding. */
  readonly history: readonly AcrossRuns[];
  /** By run, the latest first: findings that no later run reports. Empty if the run itself may have missed them. */
  readonly absent: readonly (FindingsOfRun & { readonly history: readonly AcrossRuns[] })[];
}

/** True if a history is complete and compares these runs as they are now. */
export function isHistoryOf(
  history: RunHistory | undefined,
  earlier: readonly Run[],
  baselineId: string | undefined,
): history is RunHistory {
  return (
    history?.unread.length === 0 &&
    history.baselineId === baselineId &&
    history.earlier.length === earlier.length &&
    earlier.every((run, at) => hasSameResults(run, history.earlier[at]))
  );
}

/** A finding that is traced back, from the latest run to the earliest. */
interface Trace {
  /** In the latest run that reports it. */
  readonly last: RunFinding;
  /** In the earliest run so far. */
  first: RunFinding;
  readonly sameAs: Identity[];
  readonly likely: Identity[];
  /** True if a run in between did not report it. */
  isInterrupted: boolean;
  verdict: Verdict | undefined;
}

const tracesAtOnce = 200;

/** Compares a run with earlier ones, the latest first. `read` gives undefined for a run that cannot be read. */
export async function traceBack(
  current: FindingsOfRun,
  earlier: readonly Run[],
  baselineId: string | undefined,
  { read, decode }: { read: (run: Run) => Promise<FindingsOfRun | undefined>; decode: Decode },
): Promise<RunHistory> {
  const { source } = current;
  const reported = current.findings.map(toTrace);
  const absent: Trace[] = [];
  let baseline: RunHistory['baseline'];
  let predecessor: RunSource | undefined;
  const unread: Run[] = [];
  for (const run of earlier) {
    const found = await read(run);
    if (found === undefined) {
      unread.push(run);
      continue;
    }
    const isBaseline = run.id === baselineId;
    if (isBaseline) baseline = { id: run.id, cut: found.cut };
    if (continuesRun(source.run, run)) predecessor = found.source;
    const findings = found.findings.filter(({ folder }) => isAbout(source.run, folder, run));
    const traces = [...reported, ...absent];
    const pairs = await pairFindings(
      traces.map(({ first }) => first),
      findings,
      decode,
    );
    const isInterruption = isComplete(found) && isOfSameFolders(run, source.run);
    for (const trace of traces) {
      const pair = pairs.get(trace.first);
      if (pair !== undefined) extend(trace, pair);
      else if (isInterruption) interrupt(trace, isBaseline);
    }
    const paired = new Set([...pairs.values()].map((pair) => pair.earlier));
    if (absenceCounts(current))
      absent.push(...findings.filter((finding) => !paired.has(finding)).map(toTrace));
  }
  await addVerdicts(reported, absent, source, predecessor);
  return {
    earlier,
    baselineId,
    unread,
    baseline,
    history: reported,
    absent: [...Map.groupBy(absent, ({ last }) => last.source)].map(([earlierSource, traces]) => ({
      source: earlierSource,
      cut: undefined,
      findings: traces.map(({ last }) => last),
      history: traces,
    })),
  };
}

function toTrace(finding: RunFinding): Trace {
  return { last: finding, first: finding, sameAs: [], likely: [], isInterrupted: false, verdict: undefined };
}

function extend(trace: Trace, { earlier, carriesDecision }: Pair): void {
  if (trace.verdict === undefined || trace.verdict === 'new')
    trace.verdict = trace.isInterrupted ? 'backAgain' : 'stillThere';
  // Beyond an uncertain pair, no decision carries over.
  const isSame = carriesDecision && trace.likely.length === 0;
  (isSame ? trace.sameAs : trace.likely).push(earlier.identity);
  trace.first = earlier;
}

function interrupt(trace: Trace, isBaseline: boolean): void {
  trace.isInterrupted = true;
  if (isBaseline) trace.verdict ??= 'new';
}

/** Adds the verdicts that depend on what the current run was given and tested. */
async function addVerdicts(
  reported: readonly Trace[],
  absent: readonly Trace[],
  source: RunSource,
  predecessor: RunSource | undefined,
): Promise<void> {
  for (const [at, trace] of absent.entries()) {
    if (at % tracesAtOnce === 0) await setImmediate();
    trace.verdict = await absenceOf(trace.last, source, predecessor);
  }
  if (source.progress === undefined) return;
  for (const trace of reported.filter(({ first, last }) => first !== last))
    trace.verdict = blackboxVerdict(true, pairIn(trace.last.finding, source, predecessor));
}

/** True if all that a run found is known. */
function isComplete({ source, cut }: FindingsOfRun): boolean {
  return hasAllFindings(source.run) && cut === undefined;
}

/** True if absence from a run can have a verdict. For a live application that is known by pair, so also for a run that ended early. */
export function absenceCounts(run: FindingsOfRun): boolean {
  return isComplete(run) || (run.source.progress !== undefined && run.cut === undefined);
}

/** True if a finding of an earlier run is about a folder of `run`. If the finding has no folder, its run's first one counts. */
function isAbout(run: Run, folder: string | undefined, earlier: Run): boolean {
  const findingFolder = folder ?? earlier.targets[0]?.folder;
  return (
    run.targets.some((target) => isSamePath(target.folder, findingFolder)) || isOfSameFolders(run, earlier)
  );
}

/** Why a run does not report a finding of an earlier run. */
export async function absenceOf(
  { finding, source: earlier }: RunFinding,
  source: RunSource,
  predecessor: RunSource | undefined,
): Promise<Verdict> {
  if (source.progress !== undefined) return blackboxVerdict(false, pairIn(finding, source, predecessor));
  const hashes: (SentHashes | undefined)[] = [];
  for (const place of finding.places) hashes.push(await hashesOf(place, earlier, source));
  return whiteboxAbsence(hashes);
}

/** Undefined where it is not known what was sent. */
async function hashesOf(place: Place, earlier: RunSource, later: RunSource): Promise<SentHashes | undefined> {
  const sent = await sentFileOf(earlier, place);
  if (sent === undefined) return undefined;
  const sentLater = sentIn(later, earlier.run.targets[sent.target]?.folder, sent.file.path);
  if (sentLater === 'unknown') return undefined;
  return { earlier: sent.file.sha256, later: sentLater?.file.sha256 };
}

/** The state of a finding's pair in a run, and in its predecessor. */
export function pairIn(
  { feature, perspective }: Finding,
  { run, progress }: RunSource,
  predecessor: RunSource | undefined,
): PairInRun {
  const known = perspectives.find((each) => normalKey(each) === normalKey(perspective ?? ''));
  const stateIn = (scan: ScanProgress | undefined): PairState =>
    feature === undefined || known === undefined ? 'unknown' : (scan?.stateOf(feature, known) ?? 'unknown');
  return { state: stateIn(progress), carried: isContinued(run) ? stateIn(predecessor?.progress) : undefined };
}

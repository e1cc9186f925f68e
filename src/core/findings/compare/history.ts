import { setImmediate } from 'node:timers/promises';
import type { PairState, ScanProgress } from '../../features/scanProgress.ts';
import { isContinued } from '../../run/state/continuedRuns.ts';
import type { Run } from '../../run/state/run.ts';
import { perspectives } from '../../workflows/application.ts';
import { continuesRun, hasAllFindings, isOfSameFolders, isSameRun } from '../chooseRun.ts';
import type { Finding } from '../finding.ts';
import type { Identity } from '../identity.ts';
import { normalKey } from '../../json.ts';
import type { Cut } from '../parse/parse.ts';
import { type Decode, type RunSource, sentFileOf, sentIn } from '../place/sentFiles.ts';
import type { FindingsOfRun, RunFinding } from './findingsOfRun.ts';
import { type Pair, pairFindings } from './match.ts';
import {
  blackboxVerdict,
  type SentBeforeAndNow,
  type PairInRun,
  type Verdict,
  whiteboxAbsence,
} from './verdict.ts';

/** What earlier runs say of a finding. */
export interface AcrossRuns {
  readonly verdict: Verdict | undefined;
  /** The finding in earlier runs, the latest first: decisions about these hold for it. */
  readonly sameAs: readonly Identity[];
  /** What is likely the same finding in runs before those, the latest first. */
  readonly likely: readonly Identity[];
}

/** The runs that a run is compared with, and what they say. */
export interface RunHistory {
  readonly earlier: readonly Run[];
  /** The run that it is compared with first. */
  readonly baselineId: string | undefined;
  /** Whether all of them could be read. */
  readonly isWhole: boolean;
  /** The baseline where it could be read, and how many of its findings if not all. */
  readonly baseline?: { readonly id: string; readonly cut: Cut | undefined } | undefined;
  /** Of each finding, in their order. */
  readonly history: readonly AcrossRuns[];
  /** What earlier runs reported and no later one, by run, the latest first; empty where the run itself may not have reached it. */
  readonly absent: readonly (FindingsOfRun & { readonly history: readonly AcrossRuns[] })[];
}

/** Whether a history is of these runs, as they are now. */
export function isHistoryOf(
  history: RunHistory | undefined,
  earlier: readonly Run[],
  baselineId: string | undefined,
): history is RunHistory {
  return (
    history?.isWhole === true &&
    history.baselineId === baselineId &&
    history.earlier.length === earlier.length &&
    earlier.every((run, at) => isSameRun(run, history.earlier[at]))
  );
}

/** A finding while the earlier runs are read, from the latest to the first. */
interface Trace {
  /** As the latest run has it. */
  readonly last: RunFinding;
  /** As the earliest run so far has it. */
  first: RunFinding;
  readonly sameAs: Identity[];
  readonly likely: Identity[];
  /** Whether a run between did not report it. */
  isMissed: boolean;
  verdict: Verdict | undefined;
}

/** Compares a run with those before it, the latest first; `read` gives undefined for one that cannot be read. */
export async function traceBack(
  now: FindingsOfRun,
  earlier: readonly Run[],
  baselineId: string | undefined,
  { read, decode }: { read: (run: Run) => Promise<FindingsOfRun | undefined>; decode: Decode },
): Promise<RunHistory> {
  const own = now.findings.map(toTrace);
  const gone: Trace[] = [];
  let baseline: RunHistory['baseline'];
  let predecessor: RunSource | undefined;
  let isWhole = true;
  for (const run of earlier) {
    const before = await read(run);
    if (before === undefined) {
      isWhole = false;
      continue;
    }
    if (run.id === baselineId) baseline = { id: run.id, cut: before.cut };
    const found = before.findings.filter(({ folder }) => isAbout(now.source.run, folder, run));
    const traces = [...own, ...gone];
    const pairs = await pairFindings(
      traces.map(({ first }) => first),
      found,
      decode,
    );
    const canMiss = isComplete(before) && isOfSameFolders(run, now.source.run);
    for (const trace of traces) {
      const pair = pairs.get(trace.first);
      if (pair !== undefined) prolong(trace, pair);
      else if (canMiss) {
        trace.isMissed = true;
        if (run.id === baselineId) trace.verdict ??= 'new';
      }
    }
    const paired = new Set([...pairs.values()].map((pair) => pair.earlier));
    if (continuesRun(now.source.run, run)) predecessor = before.source;
    if (canLack(now)) gone.push(...found.filter((each) => !paired.has(each)).map(toTrace));
  }
  for (const [at, trace] of gone.entries()) {
    if (at % 200 === 0) await setImmediate();
    trace.verdict = await absenceOf(trace.last, now.source, predecessor);
  }
  for (const trace of own.filter(({ first, last }) => first !== last && now.source.progress))
    trace.verdict = blackboxVerdict(true, pairIn(trace.last.finding, now.source, predecessor));
  return {
    earlier,
    baselineId,
    isWhole,
    baseline,
    history: own,
    absent: [...Map.groupBy(gone, ({ last }) => last.source)].map(([source, traces]) => ({
      source,
      cut: undefined,
      findings: traces.map(({ last }) => last),
      history: traces,
    })),
  };
}

function toTrace(found: RunFinding): Trace {
  return { last: found, first: found, sameAs: [], likely: [], isMissed: false, verdict: undefined };
}

/** Follows a finding into one more run. */
function prolong(trace: Trace, { earlier, carriesDecision }: Pair): void {
  if (trace.verdict === undefined || trace.verdict === 'new')
    trace.verdict = trace.isMissed ? 'backAgain' : 'stillThere';
  const isSame = carriesDecision && trace.likely.length === 0;
  (isSame ? trace.sameAs : trace.likely).push(earlier.identity);
  trace.first = earlier;
}

/** Whether all that a run has found is known, so that what is not among it was not found. */
function isComplete({ source, cut }: FindingsOfRun): boolean {
  return hasAllFindings(source.run) && cut === undefined;
}

/** Whether what a run does not report can be said of it: of a live application it is known pair by pair, also of a run that ended early. */
export function canLack(run: FindingsOfRun): boolean {
  return isComplete(run) || (run.source.progress !== undefined && run.cut === undefined);
}

/** Whether a finding of an earlier run is about a folder of a run; one that names none is, where both are of the same folders. */
function isAbout(run: Run, folder: string | undefined, earlier: Run): boolean {
  const about = folder ?? earlier.targets[0]?.folder;
  return run.targets.some((target) => target.folder === about) || isOfSameFolders(run, earlier);
}

/** Why a run does not report a finding of an earlier one. */
export async function absenceOf(
  { finding, source }: RunFinding,
  now: RunSource,
  predecessor: RunSource | undefined,
): Promise<Verdict> {
  if (now.progress !== undefined) return blackboxVerdict(false, pairIn(finding, now, predecessor));
  const files: (SentBeforeAndNow | undefined)[] = [];
  for (const place of finding.places) {
    const before = await sentFileOf(source, place);
    const here = before && sentIn(now, source.run.targets[before.target]?.folder, before.file.path);
    const isKnown = before !== undefined && here !== 'unknown';
    files.push(isKnown ? { hashBefore: before.file.sha256, hashNow: here?.file.sha256 } : undefined);
  }
  return whiteboxAbsence(files);
}

/** What is known of a finding's pair in a run, and in the run that it goes on with. */
export function pairIn(
  { feature, perspective }: Finding,
  { run, progress }: RunSource,
  predecessor: RunSource | undefined,
): PairInRun {
  const word = perspectives.find((each) => normalKey(each) === normalKey(perspective ?? ''));
  const stateIn = (known: ScanProgress | undefined): PairState =>
    feature === undefined || word === undefined ? 'unknown' : (known?.stateOf(feature, word) ?? 'unknown');
  return { state: stateIn(progress), carried: isContinued(run) ? stateIn(predecessor?.progress) : undefined };
}

import type { PairState, ScanProgress } from '../../features/scanProgress.ts';
import { normalKey } from '../../json.ts';
import { isSamePath } from '../../paths.ts';
import { isContinued } from '../../run/state/continuedRuns.ts';
import type { Run } from '../../run/state/run.ts';
import { perspectives } from '../../workflows/application.ts';
import { foldersKeyOf, hasAllFindings } from '../chooseRun.ts';
import type { Finding } from '../finding.ts';
import type { Cut } from '../parse/parse.ts';
import { type Decode, sentIn, type SentSpot } from '../place/sentFiles.ts';
import { continueChain, movedChain, type RunTable } from './chain.ts';
import type { FoundByRun, ResultFinding } from './result.ts';
import type { LaterRun } from './laterLines.ts';
import { pairFindings } from './match.ts';
import {
  blackboxVerdict,
  type PairInRun,
  type SentHashes,
  type Verdict,
  whiteboxAbsence,
} from './verdict.ts';

/** A run that is compared with earlier ones. */
export interface ComparedRun extends LaterRun {
  readonly cut: Cut | undefined;
  /** Set for every blackbox assessment, also where its progress cannot be read, and for no other run. */
  readonly progress: ScanProgress | undefined;
  /** That of the run that it continues. */
  readonly progressBefore: ScanProgress | undefined;
}

/** A finding as its run reports it. */
export type OwnFinding = Omit<ResultFinding, 'verdict' | 'sameAs' | 'likely'>;

/** Compares the findings of a run with those of the runs before it. `hasBaseline`: an unpaired finding is new. */
export async function compareFindings(
  run: ComparedRun,
  own: readonly OwnFinding[],
  before: FoundByRun,
  { hasBaseline, table, decode }: { hasBaseline: boolean; table: RunTable; decode: Decode },
): Promise<FoundByRun> {
  const reportedLast = await pairFindings(run, own, before.findings, decode);
  const unpaired = own.filter((finding) => !reportedLast.has(finding));
  const reportedBefore = await pairFindings(run, unpaired, before.absent, decode);
  const findings = own.map((finding): ResultFinding => {
    const pair = reportedLast.get(finding) ?? reportedBefore.get(finding);
    if (pair === undefined)
      return { ...finding, verdict: hasBaseline ? 'new' : undefined, sameAs: [], likely: [] };
    const verdict =
      run.progress === undefined
        ? whiteboxVerdict(pair.earlier, run)
        : blackboxVerdict(true, pairIn(finding.finding, run));
    return { ...finding, verdict, ...continueChain(pair.earlier, pair.carriesDecision, table) };
  });
  const paired = new Set(
    [...reportedLast.values(), ...reportedBefore.values()].map(({ earlier }) => earlier),
  );
  const canMiss = absenceCounts(run);
  const absent = [...before.findings, ...before.absent]
    .filter((finding) => !paired.has(finding))
    .map((finding): ResultFinding => ({
      ...finding,
      ...movedChain(finding, table),
      verdict: canMiss ? absenceOf(finding, run) : undefined,
      missedBy: isComplete(run)
        ? [...new Set([...(finding.missedBy ?? []), foldersKeyOf(run.run)])]
        : finding.missedBy,
    }));
  return { findings, absent };
}

function whiteboxVerdict({ missedBy = [] }: ResultFinding, { run }: ComparedRun): Verdict {
  return missedBy.includes(foldersKeyOf(run)) ? 'backAgain' : 'stillThere';
}

/** True if all that a run found is known. */
function isComplete({ run, cut }: ComparedRun): boolean {
  return hasAllFindings(run) && cut === undefined;
}

/** True if absence from a run can have a verdict. For a live application that is known by pair, so also for a run that ended early. */
function absenceCounts(run: ComparedRun): boolean {
  return isComplete(run) || (run.progress !== undefined && run.cut === undefined);
}

/** Why a run does not report a finding of an earlier run. */
function absenceOf({ finding, sent }: ResultFinding, run: ComparedRun): Verdict {
  if (run.progress !== undefined) return blackboxVerdict(false, pairIn(finding, run));
  return whiteboxAbsence(sent.map((spot) => hashesOf(spot, run)));
}

/** Undefined where it is not known what was sent. */
function hashesOf(spot: SentSpot | undefined, later: LaterRun): SentHashes | undefined {
  const sentLater = spot && sentIn(later, spot.folder, spot.file.path);
  if (spot === undefined || sentLater === 'unknown') return undefined;
  return { earlier: spot.file.sha256, later: sentLater?.file.sha256 };
}

/** The state of a finding's pair in a run, and in its predecessor. */
function pairIn(
  { feature, perspective }: Finding,
  { run, progress, progressBefore }: ComparedRun,
): PairInRun {
  const known = perspectives.find((each) => normalKey(each) === normalKey(perspective ?? ''));
  const stateIn = (scan: ScanProgress | undefined): PairState =>
    feature === undefined || known === undefined ? 'unknown' : (scan?.stateOf(feature, known) ?? 'unknown');
  return { state: stateIn(progress), carried: isContinued(run) ? stateIn(progressBefore) : undefined };
}

/** True if a run is about the folder of a finding. */
export function isAbout({ targets }: Run, { home }: Pick<ResultFinding, 'home'>): boolean {
  return targets.some(({ folder }) => isSamePath(folder, home));
}

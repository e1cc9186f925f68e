import { AssessmentError } from '../../errors.ts';
import { pathKey } from '../../paths.ts';
import { endedEarly, type Run, runIdOf } from '../../run/state/run.ts';
import { hasFindings, isOfSameAccount, subjectOf, testsOnePair } from '../chooseRun.ts';
import { SEVERITIES, type Severity } from '../finding.ts';
import type { Cut } from '../parse/parseFindings.ts';
import { readResult, type ResultSource } from './readResult.ts';
import type { RunResult } from './result.ts';
import { decide } from '../triage/decide.ts';
import { isSettled } from '../triage/triage.ts';
import type { TriageStore } from '../triage/triageStore.ts';
import { type FoundInRun, readTrendRows, type TrendFinding } from './trendRows.ts';
import type { Verdict } from './verdict.ts';

/** Only the newest runs are compared. */
export const maxTrendRuns = 24;

/** Absent findings whose code or pair has changed: a person decides whether they are fixed. */
const reviewedVerdicts = ['codeChanged', 'pairTested'] as const satisfies readonly Verdict[];

/** Why a run may report less than others. */
export type Limitation =
  | { readonly kind: 'endedEarly' | 'onePair' | 'unreadable' }
  | { readonly kind: 'cut'; readonly cut: Cut }
  | { readonly kind: 'fewerFolders'; readonly folders: number; readonly of: number };

export interface TrendRow {
  readonly run: Run;
  readonly limitations: readonly Limitation[];
  /** `settled` counts those that a person has decided. */
  readonly reported: readonly {
    readonly severity: Severity;
    readonly count: number;
    readonly settled: number;
  }[];
  /** Absent without a known reason, and not settled. */
  readonly unexplained: number;
  /** Absent with one of `reviewedVerdicts`, and not settled. */
  readonly review: number;
}

interface TracedRun extends Pick<FoundInRun, 'reported' | 'absent'> {
  readonly run: Run;
  readonly limitations: readonly Limitation[];
}

/** The newest run first. */
export type TracedRuns = readonly TracedRun[];

/** The runs of the same subject and account that share a folder with `of`, each once; without imported ones. */
export function runsOfTrend(all: readonly Run[], of: Run): readonly Run[] {
  const folders = new Set(foldersOf(of));
  const known = new Set<string | undefined>();
  return all
    .filter((run) => {
      const isOne =
        hasFindings(run) &&
        run.state !== 'imported' &&
        isOfSameAccount(run, of) &&
        subjectOf(run) === subjectOf(of) &&
        foldersOf(run).some((folder) => folders.has(folder)) &&
        !known.has(runIdOf(run));
      if (isOne) known.add(runIdOf(run));
      return isOne;
    })
    .slice(0, maxTrendRuns);
}

/** What each run found. `runs` come newest first. Throws the signal's reason. */
export async function traceTrend(
  runs: readonly Run[],
  source: ResultSource,
  { onRun, signal }: { readonly onRun: (doneCount: number) => void; readonly signal: AbortSignal },
): Promise<TracedRuns> {
  const read = async (run: Run): Promise<RunResult | undefined> => {
    try {
      return await readResult(run, source, signal);
    } catch (error) {
      if (error instanceof AssessmentError) return undefined;
      throw error;
    }
  };
  const found = await readTrendRows(runs, read, onRun);
  const allFolders = new Set(runs.flatMap(foldersOf)).size;
  return runs.map((run, at) => {
    const { reported = [], absent = [] } = found[at] ?? {};
    return { run, limitations: limitationsOf(run, found[at], allFolders), reported, absent };
  });
}

/** Counts by the present decisions. */
export function countTrend(
  traced: TracedRuns,
  decisions: Pick<TriageStore, 'get' | 'alike'>,
): readonly TrendRow[] {
  const byId = new Map(traced.map(({ run }) => [run.id, run]));
  return traced.map(({ run, limitations, reported, absent }) => {
    const isSettledNow = (each: TrendFinding): boolean => {
      const { triage } = decide({ run: byId.get(each.run) ?? run, found: each, places: [] }, decisions);
      return isSettled(triage.state);
    };
    const left = absent.filter((each) => !isSettledNow(each));
    const review = left.filter(({ verdict }) => reviewedVerdicts.some((each) => each === verdict)).length;
    return {
      run,
      limitations,
      reported: SEVERITIES.map((severity) => {
        const some = reported.filter((each) => each.severity === severity);
        return { severity, count: some.length, settled: some.filter(isSettledNow).length };
      }),
      unexplained: left.length - review,
      review,
    };
  });
}

function limitationsOf(run: Run, found: FoundInRun | undefined, allFolders: number): Limitation[] {
  const folders = new Set(foldersOf(run)).size;
  return [
    ...(found === undefined ? [{ kind: 'unreadable' as const }] : []),
    ...(endedEarly(run) ? [{ kind: 'endedEarly' as const }] : []),
    ...(testsOnePair(run) ? [{ kind: 'onePair' as const }] : []),
    ...(found?.cut === undefined ? [] : [{ kind: 'cut' as const, cut: found.cut }]),
    ...(folders < allFolders ? [{ kind: 'fewerFolders' as const, folders, of: allFolders }] : []),
  ];
}

/** As keys. */
function foldersOf({ targets }: Run): string[] {
  return targets.map(({ folder }) => pathKey(folder));
}

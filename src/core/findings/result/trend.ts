import { AssessmentError } from '../../errors.ts';
import { pathKey } from '../../paths.ts';
import { endedEarly, type Run } from '../../run/state/run.ts';
import { relatedRuns, testsOnePair } from '../chooseRun.ts';
import { SEVERITIES, type Severity } from '../finding.ts';
import type { Cut } from '../parse/parseFindings.ts';
import { readResult, type ResultSource } from './readResult.ts';
import type { RunResult, ResultFinding } from './result.ts';
import { decide } from '../triage/currentDecision.ts';
import { isClosed } from '../triage/triage.ts';
import type { TriageStore } from '../triage/triageStore.ts';
import { allNamesOf } from '../identity.ts';

export const maxTrendRuns = 24;

export type Limitation =
  | { readonly kind: 'endedEarly' | 'onePair' | 'unreadable' }
  | { readonly kind: 'cut'; readonly cut: Cut }
  | { readonly kind: 'fewerFolders'; readonly folders: number; readonly of: number };

export interface TrendRow {
  readonly run: Run;
  readonly limitations: readonly Limitation[];
  readonly reported: readonly {
    readonly severity: Severity;
    readonly count: number;
    readonly closed: number;
  }[];
  readonly unexplained: number;
  readonly review: number;
}

/** The findings have no IDs, texts, CWEs, or locations, since a trend has many runs. */
interface TracedRun {
  readonly run: Run;
  readonly limitations: readonly Limitation[];
  readonly reported: readonly ResultFinding[];
  readonly absent: readonly ResultFinding[];
}

export type TracedRuns = readonly TracedRun[];

export function runsOfTrend(all: readonly Run[], of: Run): readonly Run[] {
  const tracked = all.filter(({ state }) => state !== 'imported');
  return relatedRuns(tracked, of).slice(0, maxTrendRuns);
}

/** The newest run is first. Throws the signal's reason. */
export async function traceTrend(
  runs: readonly Run[],
  source: ResultSource,
  { onRun, signal }: { readonly onRun: (doneCount: number) => void; readonly signal: AbortSignal },
): Promise<TracedRuns> {
  const allFolders = new Set(runs.flatMap(foldersOf)).size;
  const rows: TracedRun[] = [];
  const known = new Map<string, ResultFinding>();
  for (const [done, run] of runs.toReversed().entries()) {
    onRun(done);
    const result = await readResult(run, source, signal).catch((error: unknown) => {
      if (error instanceof AssessmentError) return undefined;
      throw error;
    });
    const limitations = limitationsOf(run, result, allFolders);
    const reported = (result?.findings ?? []).map(withoutTexts);
    // A finding that may be reported under another name counts as reported.
    for (const name of allNamesOf(reported)) known.delete(name);
    const verdicts = new Map(result?.absent.map(({ name, verdict }) => [name, verdict]));
    const absent = [...known.values()].map((each) => ({ ...each, verdict: verdicts.get(each.name) }));
    rows.unshift({ run, limitations, reported, absent: result === undefined ? [] : absent });
    for (const each of reported) known.set(each.name, each);
  }
  return rows;
}

export function countTrend(
  traced: TracedRuns,
  decisions: Pick<TriageStore, 'get' | 'byFingerprint'>,
): readonly TrendRow[] {
  const byId = new Map(traced.map(({ run }) => [run.id, run]));
  return traced.map(({ run, limitations, reported, absent }) => {
    const isClosedNow = (each: ResultFinding): boolean => {
      const { triage } = decide(each, byId.get(each.run) ?? run, { locations: [] }, decisions);
      return isClosed(triage.state);
    };
    const left = absent.filter((each) => !isClosedNow(each));
    // A user decides whether absent findings with these verdicts are fixed.
    const isReviewed = ({ verdict }: ResultFinding) => verdict === 'codeChanged' || verdict === 'pairTested';
    const review = left.filter(isReviewed).length;
    return {
      run,
      limitations,
      reported: SEVERITIES.map((severity) => {
        const some = reported.filter((each) => each.finding.severity === severity);
        return { severity, count: some.length, closed: some.filter(isClosedNow).length };
      }),
      unexplained: left.length - review,
      review,
    };
  });
}

function limitationsOf(run: Run, result: RunResult | undefined, allFolders: number): Limitation[] {
  const folders = new Set(foldersOf(run)).size;
  const cut = result?.head.cut;
  return [
    ...(result === undefined ? [{ kind: 'unreadable' as const }] : []),
    ...(endedEarly(run) ? [{ kind: 'endedEarly' as const }] : []),
    ...(testsOnePair(run) ? [{ kind: 'onePair' as const }] : []),
    ...(cut === undefined ? [] : [{ kind: 'cut' as const, cut }]),
    ...(folders < allFolders ? [{ kind: 'fewerFolders' as const, folders, of: allFolders }] : []),
  ];
}

function foldersOf({ targets }: Run): string[] {
  return targets.map(({ folder }) => pathKey(folder));
}

function withoutTexts(found: ResultFinding): ResultFinding {
  const finding = { ...found.finding, id: '', title: '', summary: '', locations: [], cwes: [] };
  return { ...found, finding, uploadedPath: '', uploaded: [], quotes: [], evidence: undefined };
}

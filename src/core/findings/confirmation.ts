import { type PairState, readScanProgress } from '../features/scanProgress.ts';
import { isFinal, isUnsent, type Run, runIdOf } from '../run/state/run.ts';
import { type ApplicationInput, sharedInput } from '../workflows/blackboxInput.ts';
import type { Perspective } from '../workflows/perspectives.ts';
import { hasFindings } from './chooseRun.ts';
import type { ResultSource } from './result/readResult.ts';
import type { ResultFinding, RunResult } from './result/result.ts';

/**
 * `same` and `other` are a user's answers to whether the run found the finding that it confirms.
 */
export type LiveResult =
  'pending' | 'found' | 'same' | 'other' | 'nothing' | 'notApplicable' | 'notTested' | 'unknown';

export interface Confirmation {
  readonly run: Run;
  readonly feature: string;
  readonly perspective: Perspective;
  readonly result: LiveResult;
  readonly found: readonly Pick<ResultFinding, 'name' | 'finding'>[];
}

const maxRuns = 10;

type Source = Pick<ResultSource, 'runs' | 'workerFile'> & {
  readonly read: (run: Run) => Promise<Pick<RunResult, 'findings'>>;
};

export async function readConfirmations(name: string, source: Source): Promise<readonly Confirmation[]> {
  const runs = source.runs.all().filter(({ confirms }) => confirms === name);
  const read = runs.slice(0, maxRuns).map(async (run): Promise<readonly Confirmation[]> => {
    const [pair] = run.input?.pairs ?? [];
    if (pair === undefined) return [];
    const { feature_name: feature, perspective } = pair;
    // All findings count, whatever pair they name: the run assessed only this pair (docs/api.md,
    // section 2.7, rule 3). An unreadable run must not hide the others.
    const reported = hasFindings(run) ? await source.read(run).catch(() => undefined) : undefined;
    const progress = await readScanProgress(run, source.runs.folderOf(run.id), source.workerFile);
    const result = resultOf(run, reported?.findings, progress.stateOf(feature, perspective));
    return [{ run, feature, perspective, result, found: reported?.findings ?? [] }];
  });
  return (await Promise.all(read)).flat();
}

export function resultOf(run: Run, found: readonly unknown[] | undefined, state: PairState): LiveResult {
  if (!isFinal(run)) return 'pending';
  if (isUnsent(run)) return 'notTested';
  if (found !== undefined && found.length > 0)
    return run.isSame === undefined ? 'found' : run.isSame ? 'same' : 'other';
  if (state === 'tested') return found === undefined ? 'unknown' : 'nothing';
  return state;
}

/** The service accepts no lower limits (docs/api.md, section 8). The unit is credits. */
export const confirmLimits = { scan: 10, crawl: 5 } as const;

/** Returns the input of a run for one pair (docs/api.md, section 2.7). */
export function toConfirmInput(
  run: Run,
  feature: string,
  perspective: Perspective,
): ApplicationInput | undefined {
  const runId = runIdOf(run);
  if (run.input === undefined || runId === undefined) return undefined;
  const reference = { workflow_id: run.workflow, workflow_run_id: runId };
  return {
    ...sharedInput(run.input),
    scan_credit_limit: confirmLimits.scan,
    crawl_credit_limit: confirmLimits.crawl,
    resume: { kind: 'assess_crawled_features', assess_crawled_features: reference },
    pairs: [{ feature_name: feature, perspective }],
  };
}

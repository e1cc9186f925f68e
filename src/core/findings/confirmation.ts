import { type PairState, type Perspective, readScanProgress } from '../features/scanProgress.ts';
import type { RunStore } from '../run/disk/runStore.ts';
import { isFinal, isUnsent, type Run, runIdOf } from '../run/state/run.ts';
import { type ApplicationInput, sharedInput } from '../workflows/application.ts';
import { hasFindings } from './chooseRun.ts';
import type { Finding } from './finding.ts';
import { readFindings } from './parse/readFindings.ts';

/** What is known, after one pair was tried on a live application, of the finding that it was tried for; a person says `same` or `other`. */
export type LiveResult =
  'pending' | 'found' | 'same' | 'other' | 'nothing' | 'notApplicable' | 'notTested' | 'unknown';

/** A run that tried one pair for a finding, with what is known of it. */
export interface Confirmation {
  readonly run: Run;
  readonly feature: string;
  readonly perspective: Perspective;
  readonly result: LiveResult;
  /** What the run has found in the pair. */
  readonly found: readonly Finding[];
}

/** Of more runs than anybody goes through, the older ones are not read. */
const maxRuns = 10;

/** What confirmations are read from. */
export interface ConfirmationSource {
  readonly runs: Pick<RunStore, 'all' | 'folderOf'>;
  readonly workerFile: string | URL;
  readonly isReadOnly?: boolean | undefined;
}

/** What the runs that tried a pair for a finding tell of it, the latest first. */
export async function readConfirmations(
  fingerprint: string,
  source: ConfirmationSource,
): Promise<readonly Confirmation[]> {
  const own = source.runs.all().filter(({ confirms }) => confirms === fingerprint);
  const read = await Promise.all(own.slice(0, maxRuns).map((run) => readConfirmation(run, source)));
  return read.filter((each) => each !== undefined);
}

async function readConfirmation(run: Run, source: ConfirmationSource): Promise<Confirmation | undefined> {
  const folder = source.runs.folderOf(run.id);
  const [pair] = run.input?.pairs ?? [];
  if (pair === undefined) return undefined;
  const { feature_name: feature, perspective } = pair;
  // Only this pair was assessed (docs/api.md, section 2.7, rule 3), whatever words the findings have for it.
  const found = await findingsOf(run, folder, source);
  const progress = await readScanProgress(run, folder, source.workerFile);
  const result = resultOf(run, found, progress.stateOf(feature, perspective));
  return { run, feature, perspective, result, found: found ?? [] };
}

/** What is known of a pair that was tried; `found` is undefined where the findings of the run are not known. */
export function resultOf(run: Run, found: readonly Finding[] | undefined, state: PairState): LiveResult {
  if (!isFinal(run)) return 'pending';
  if (isUnsent(run)) return 'notTested';
  if (found !== undefined && found.length > 0)
    return run.isSame === undefined ? 'found' : run.isSame ? 'same' : 'other';
  // Without its findings nobody knows what a tested pair showed.
  if (state === 'tested') return found === undefined ? 'unknown' : 'nothing';
  return state;
}

async function findingsOf(
  run: Run,
  folder: string,
  { workerFile, isReadOnly }: ConfirmationSource,
): Promise<readonly Finding[] | undefined> {
  if (!hasFindings(run)) return undefined;
  try {
    return (await readFindings(folder, { runId: run.id, workerFile, isReadOnly })).findings;
  } catch {
    return undefined; // why is said where the run itself is shown
  }
}

/** The credits that trying one pair may cost at most: the least that the service takes as limits (docs/api.md, section 2.7). */
export const confirmLimits = { scan: 10, crawl: 5 } as const;

const proposals: ReadonlyMap<number, Perspective> = new Map([
  [89, 'Injection'],
  [79, 'XSS'],
  [352, 'CSRF'],
  [22, 'FileSystem'],
  [601, 'OpenRedirect'],
  [918, 'SSRF'],
  [287, 'Authentication'],
  [862, 'Authorization'],
  [639, 'Authorization'],
  [1021, 'Clickjacking'],
  [942, 'CORS'],
]);

/** The perspective to try for a finding about code, by its weaknesses. */
export function proposedPerspective({ cwes }: Finding): Perspective | undefined {
  return cwes.map((cwe) => proposals.get(cwe)).find((each) => each !== undefined);
}

/** What tests one pair of a run's features again, by the rest of what that run was asked (docs/api.md, section 2.7); undefined where nobody here knows that. */
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

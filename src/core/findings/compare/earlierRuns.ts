import type { Run } from '../../run/state/run.ts';
import { hasAllFindings, hasFindings, isOfService, subjectOf } from '../chooseRun.ts';

/** The latest of the earlier runs that has all findings of the same subject in the same folders. */
export function baselineAmong(runs: readonly Run[], run: Run): Run | undefined {
  // A run and the one that it goes on with are one assessment.
  const predecessor = runsBefore(runs, run).find((other) => goesOnWith(run, other));
  if (predecessor !== undefined) return baselineAmong(runs, predecessor);
  return earlierRuns(runs, run).find((other) => hasAllFindings(other) && isOfSameFolders(run, other));
}

/** The runs of the same subject before one that have findings of a folder of it, each once; `runs` come newest first, and so do these. Findings of unknown origin are compared only when a person says so. */
export function earlierRuns(runs: readonly Run[], run: Run): readonly Run[] {
  if (!isOfService(run)) return [];
  // A run may be here twice, tracked and imported: it is not compared with itself.
  const known = new Set([runIdOf(run)]);
  const folders = new Set(run.targets.map(({ folder }) => folder));
  return runs.filter((other) => {
    const isOne =
      isBefore(other, run) &&
      hasFindings(other) &&
      isOfService(other) &&
      subjectOf(other) === subjectOf(run) &&
      other.targets.some(({ folder }) => folders.has(folder));
    const runId = runIdOf(other);
    if (!isOne || (runId !== undefined && known.has(runId))) return false;
    known.add(runId);
    return true;
  });
}

/** The runs before one, of the same subject in the same folders, in the order of `runs`. */
export function runsBefore(runs: readonly Run[], run: Run): readonly Run[] {
  return runs.filter((other) => isBefore(other, run) && isOfSameFolders(run, other));
}

/** Whether two runs assess the same subject in the same folders. */
export function isOfSameFolders(one: Run, other: Run): boolean {
  return foldersOf(one) === foldersOf(other);
}

/** The service's ID of a run, where it is known. */
export function runIdOf(run: Run): string | undefined {
  return 'runId' in run ? run.runId : undefined;
}

function isBefore(other: Run, run: Run): boolean {
  return other.createdAt < run.createdAt || (other.createdAt === run.createdAt && other.id < run.id);
}

function foldersOf(run: Run): string {
  const folders = [...new Set(run.targets.map(({ folder }) => folder))].sort();
  return JSON.stringify([subjectOf(run), ...folders]);
}

/** True for a run that goes on with another one: both are one assessment (API reference, section 2.7). */
export function goesOnWith(run: Run, other: Run): boolean {
  return continuedRunOf(run) !== undefined && continuedRunOf(run) === runIdOf(other);
}

/** The service's ID of the run that a run goes on with. */
export function continuedRunOf({ input }: Run): string | undefined {
  const resume = input?.resume;
  return resume !== undefined && 'continue_assessment' in resume
    ? resume.continue_assessment.workflow_run_id
    : undefined;
}

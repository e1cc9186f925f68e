import { endedEarly, isFinal, keptArtifact, type Run } from '../run/state/run.ts';

/** What a person wants to see of a folder: a run, or undefined for none; it holds until a run gets findings that had none then. */
export interface FolderChoice {
  readonly runId: string | undefined;
  /** The IDs of the runs that had findings when it was made. */
  readonly over: ReadonlySet<string>;
}

/** True when an ended run has a findings file on this machine. */
export function hasFindings(run: Run): boolean {
  return isFinal(run) && keptArtifact(run, 'findings') !== undefined;
}

/** True for a run that has found all it could: one that ended early may have left part of its findings. */
export function hasAllFindings(run: Run): boolean {
  return hasFindings(run) && !endedEarly(run);
}

/**
 * Decides for each folder that is open, or that a person chose for, which run's findings it shows, undefined for none; `runs` come newest first.
 * Only a person chooses a run that does not have all its findings.
 * A folder that is not in the answer is left to the runs that other folders show.
 */
export function decideRuns(
  runs: readonly Run[],
  choices: ReadonlyMap<string, FolderChoice>,
  isOpenHere: (folder: string) => boolean,
): ReadonlyMap<string, Run | undefined> {
  const decided = new Map<string, Run | undefined>();
  for (const [folder, candidates] of byFolder(runs.filter(hasFindings))) {
    const choice = choices.get(folder);
    if (choice !== undefined) decided.set(folder, follow(choice, candidates));
    else if (isOpenHere(folder)) decided.set(folder, candidates.find(hasAllFindings));
  }
  return decided;
}

function follow({ runId, over }: FolderChoice, candidates: readonly Run[]): Run | undefined {
  const since = candidates.find((run) => !over.has(run.id) && hasAllFindings(run));
  if (since !== undefined || runId === undefined) return since;
  // A chosen run that was removed chooses nothing any more.
  return candidates.find(({ id }) => id === runId) ?? candidates.find(hasAllFindings);
}

function byFolder(runs: readonly Run[]): Map<string, Run[]> {
  const found = new Map<string, Run[]>();
  for (const run of runs) {
    for (const { folder } of run.targets) found.set(folder, [...(found.get(folder) ?? []), run]);
  }
  return found;
}

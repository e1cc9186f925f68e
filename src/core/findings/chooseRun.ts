import { isDeepStrictEqual } from 'node:util';
import { endedEarly, isFinal, keptArtifact, type Run } from '../run/state/run.ts';

/** True when an ended run has a findings file on this machine. */
export function hasFindings(run: Run): boolean {
  return isFinal(run) && keptArtifact(run, 'findings') !== undefined;
}

/** True for a run that has found all it could: one that ended early may have left part of its findings. */
export function hasAllFindings(run: Run): boolean {
  return hasFindings(run) && !endedEarly(run);
}

/** True for the same run with the same files: nothing was downloaded again in between. */
export function isSameRun(one: Run | undefined, other: Run | undefined): boolean {
  if (one === undefined || other === undefined) return one === other;
  const artifactsOf = (run: Run): unknown => ('artifacts' in run ? run.artifacts : undefined);
  return one.id === other.id && isDeepStrictEqual(artifactsOf(one), artifactsOf(other));
}

/** What a person wants to see of a folder: a run, or undefined for none; it holds until another run gets findings. */
interface FolderChoice {
  readonly runId: string | undefined;
  /** The IDs of the runs that had findings when the person chose. */
  readonly over: ReadonlySet<string>;
}

/** Chooses which run's findings each folder shows; lists of runs come newest first. */
export class FolderChoices {
  readonly #byFolder = new Map<string, FolderChoice>();

  /** A person wants to see a run in its folders. */
  choose(run: Run, all: readonly Run[]): void {
    this.#choose(run, run.id, all);
  }

  /** A person wants to see no findings; a folder that only other windows have open is theirs again. */
  clear(all: readonly Run[], isOpenHere: (folder: string) => boolean): void {
    for (const run of all) this.#choose(run, undefined, all);
    for (const folder of [...this.#byFolder.keys()].filter((each) => !isOpenHere(each)))
      this.#byFolder.delete(folder);
  }

  /**
   * The run that a folder shows, undefined for none: for each folder that is open, or that a person chose for. Only a person chooses a run that does not have all its findings.
   * A folder that is not in the answer shows the findings of any run that another folder shows.
   */
  runsToShow(
    all: readonly Run[],
    isOpenHere: (folder: string) => boolean,
  ): ReadonlyMap<string, Run | undefined> {
    const chosen = new Map<string, Run | undefined>();
    for (const [folder, candidates] of byFolder(all.filter(hasFindings))) {
      const choice = this.#byFolder.get(folder);
      if (choice !== undefined) chosen.set(folder, follow(choice, candidates));
      else if (isOpenHere(folder)) chosen.set(folder, candidates.find(hasAllFindings));
    }
    return chosen;
  }

  #choose({ targets }: Run, runId: string | undefined, all: readonly Run[]): void {
    const over = new Set(all.filter(hasFindings).map(({ id }) => id));
    for (const { folder } of targets) this.#byFolder.set(folder, { runId, over });
  }
}

function follow({ runId, over }: FolderChoice, candidates: readonly Run[]): Run | undefined {
  const since = candidates.find((run) => !over.has(run.id) && hasAllFindings(run));
  if (since !== undefined || runId === undefined) return since;
  // The chosen run may have been removed.
  return candidates.find(({ id }) => id === runId) ?? candidates.find(hasAllFindings);
}

function byFolder(runs: readonly Run[]): Map<string, Run[]> {
  const found = new Map<string, Run[]>();
  for (const run of runs) {
    for (const { folder } of run.targets) found.set(folder, [...(found.get(folder) ?? []), run]);
  }
  return found;
}

import { isDeepStrictEqual } from 'node:util';
import { continuedRunOf, hasHitCreditLimit, isContinued } from '../run/state/continuedRuns.ts';
import { endedEarly, isFinal, keptArtifact, type Run, runIdOf } from '../run/state/run.ts';
import { applicationSubject } from '../workflows/application.ts';

/** True when an ended run has a findings file on this machine. */
export function hasFindings(run: Run): boolean {
  return isFinal(run) && keptArtifact(run, 'findings') !== undefined;
}

/** True for a run that has found all it could: one that ended early, or that tried one pair alone, may have left part of its findings. */
export function hasAllFindings(run: Run): boolean {
  return hasFindings(run) && !endedEarly(run) && !isOnePair(run);
}

/** True for the same run with the same files: nothing was downloaded again in between. */
export function isSameRun(one: Run | undefined, other: Run | undefined): boolean {
  if (one === undefined || other === undefined) return one === other;
  const artifactsOf = (run: Run): unknown => ('artifacts' in run ? run.artifacts : undefined);
  return one.id === other.id && isDeepStrictEqual(artifactsOf(one), artifactsOf(other));
}

/** What a run is about: the code of its folders, or the application at its target URLs. Runs of one subject follow each other; those of two stand side by side. */
export function subjectOf({ id, workflow, input }: Run): string {
  if (workflow === 'whitebox-assessment') return 'whitebox';
  // Of a run that was started elsewhere nobody knows the URLs.
  return input === undefined ? `blackbox ${id}` : applicationSubject(input);
}

/** A folder with a subject: as such, the findings of one run are shown of it. */
export function shownAs(run: Run, folder: string): string {
  return JSON.stringify([folder, subjectOf(run)]);
}

/** True for a run of the service: not for a file of unknown origin that was imported. */
export function isOfService(run: Run): boolean {
  return run.state !== 'imported' || run.runId !== undefined;
}

/** True for a run that tests one pair, as Confirm Live does, and for one that continues it with one pair: it tells nothing of the rest. */
export function isOnePair(run: Run): boolean {
  return run.input?.pairs?.length === 1 && (!isContinued(run) || run.continuesOnePair === true);
}

/** True for a run that is shown without a person's choice: it has all findings, or those up to its credit limit. */
function isShownByItself(run: Run): boolean {
  return hasAllFindings(run) || (hasHitCreditLimit(run) && hasFindings(run) && !isOnePair(run));
}

/** What a person wants to see of a subject of a folder: a run, or undefined for none; it holds until another run gets findings. */
interface FolderChoice {
  readonly folder: string;
  readonly runId: string | undefined;
  /** The IDs of the runs that had findings when the person chose. */
  readonly runsWhenChosen: ReadonlySet<string>;
}

/** Chooses which run's findings each folder shows of each subject; lists of runs come newest first. */
export class FolderChoices {
  /** By `shownAs`. */
  readonly #choices = new Map<string, FolderChoice>();

  /** A person wants to see a run in its folders. */
  choose(run: Run, all: readonly Run[]): void {
    this.#choose(run, run.id, all);
  }

  /** A person wants to see no findings; a folder that only other windows have open is theirs again. */
  clear(all: readonly Run[], isOpenHere: (folder: string) => boolean): void {
    for (const run of all) this.#choose(run, undefined, all);
    for (const [key, { folder }] of [...this.#choices]) if (!isOpenHere(folder)) this.#choices.delete(key);
  }

  /**
   * The run that is shown of a folder and a subject, undefined for none, by `shownAs`: of each folder that is open, or that a person chose for. Only a person chooses a run
   * that ended early, but for one that hit its credit limit, and one that tried a single pair. A folder missing from the map accepts findings of every shown run.
   */
  runsToShow(
    all: readonly Run[],
    isOpenHere: (folder: string) => boolean,
  ): ReadonlyMap<string, Run | undefined> {
    const chosen = new Map<string, Run | undefined>();
    const folders = all
      .filter(hasFindings)
      .flatMap((run) => run.targets.map(({ folder }) => ({ run, folder, key: shownAs(run, folder) })));
    for (const [key, entries] of Map.groupBy(folders, (each) => each.key)) {
      const choice = this.#choices.get(key);
      const candidates = entries.map(({ run }) => run);
      if (choice !== undefined) chosen.set(key, follow(choice, candidates));
      else if (entries.some(({ folder }) => isOpenHere(folder))) chosen.set(key, shownByItself(candidates));
    }
    return chosen;
  }

  #choose(run: Run, runId: string | undefined, all: readonly Run[]): void {
    const runsWhenChosen = new Set(all.filter(hasFindings).map(({ id }) => id));
    for (const { folder } of run.targets)
      this.#choices.set(shownAs(run, folder), { folder, runId, runsWhenChosen });
  }
}

function follow({ runId, runsWhenChosen }: FolderChoice, candidates: readonly Run[]): Run | undefined {
  const since = candidates.find((run) => !runsWhenChosen.has(run.id) && isShownByItself(run));
  if (since !== undefined || runId === undefined) return since;
  // The chosen run may have been removed.
  return candidates.find(({ id }) => id === runId) ?? shownByItself(candidates);
}

/** The newest run that is shown by itself: a file of unknown origin that was imported takes no run's place. */
function shownByItself(candidates: readonly Run[]): Run | undefined {
  return (
    candidates.find((run) => isOfService(run) && isShownByItself(run)) ?? candidates.find(isShownByItself)
  );
}

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

function isBefore(other: Run, run: Run): boolean {
  return other.createdAt < run.createdAt || (other.createdAt === run.createdAt && other.id < run.id);
}

function foldersOf(run: Run): string {
  const folders = [...new Set(run.targets.map(({ folder }) => folder))].sort();
  return JSON.stringify([subjectOf(run), ...folders]);
}

/** True for a run that goes on with another one: both are one assessment (docs/api.md, section 2.7). */
export function goesOnWith(run: Run, other: Run): boolean {
  return continuedRunOf(run) !== undefined && continuedRunOf(run) === runIdOf(other);
}

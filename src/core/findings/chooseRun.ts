import { pathKey } from '../paths.ts';
import { hasHitCreditLimit, isContinued, predecessorOf } from '../features/continuedRuns.ts';
import { endedEarly, isFinal, keptArtifact, type Run, runIdOf, wasStartedHere } from '../run/state/run.ts';
import { applicationSubject } from '../workflows/blackboxInput.ts';

export function hasFindings(run: Run): boolean {
  return isFinal(run) && keptArtifact(run, 'findings') !== undefined;
}

/** A run that ended early or tested only one pair may lack findings. */
export function hasAllFindings(run: Run): boolean {
  return hasFindings(run) && !endedEarly(run) && !testsOnePair(run);
}

/**
 * A folder shows at most one run of each subject. A subject is the code of the run's folders, or an
 * application.
 */
export function subjectOf({ id, workflow, input }: Run): string {
  if (workflow === 'whitebox-assessment') return 'whitebox';
  // The URLs of a run that was started elsewhere are unknown.
  return input === undefined ? `blackbox ${id}` : applicationSubject(input);
}

export function folderSubjectKey(run: Run, folder: string): string {
  return JSON.stringify([pathKey(folder), subjectOf(run)]);
}

/** An imported file may be of unknown origin. */
export function isOfService(run: Run): boolean {
  return run.state !== 'imported' || run.runId !== undefined;
}

/**
 * A continuation includes its predecessor's findings, so it tests one pair only if the predecessor
 * did, too.
 */
export function testsOnePair(run: Run): boolean {
  return run.input?.pairs?.length === 1 && (!isContinued(run) || run.continuesOnePair === true);
}

function isShownByDefault(run: Run): boolean {
  return hasAllFindings(run) || (hasHitCreditLimit(run) && hasFindings(run) && !testsOnePair(run));
}

/** The choice of a run, or of none, holds until a new run of the subject is shown by default. */
interface FolderChoice {
  readonly folder: string;
  readonly runId: string | undefined;
  readonly runsWhenChosen: ReadonlySet<string>;
}

/** All lists of runs are newest first. */
export class FolderChoices {
  readonly #choices = new Map<string, FolderChoice>();

  choose(run: Run, all: readonly Run[]): void {
    this.#choose(run, run.id, all);
  }

  clear(all: readonly Run[], isOpenHere: (folder: string) => boolean): void {
    for (const run of all) this.#choose(run, undefined, all);
    for (const [key, { folder }] of [...this.#choices]) if (!isOpenHere(folder)) this.#choices.delete(key);
  }

  /**
   * Keys are `folderSubjectKey`s. A folder that isn't open has an entry only if a choice was made
   * for it.
   */
  runsToShow(
    all: readonly Run[],
    isOpenHere: (folder: string) => boolean,
  ): ReadonlyMap<string, Run | undefined> {
    const chosen = new Map<string, Run | undefined>();
    const folders = all
      .filter(hasFindings)
      .flatMap((run) =>
        run.targets.map(({ folder }) => ({ run, folder, key: folderSubjectKey(run, folder) })),
      );
    for (const [key, entries] of Map.groupBy(folders, (entry) => entry.key)) {
      const choice = this.#choices.get(key);
      const candidates = entries.map(({ run }) => run);
      if (choice !== undefined) chosen.set(key, follow(choice, candidates));
      else if (entries.some(({ folder }) => isOpenHere(folder))) chosen.set(key, defaultRun(candidates));
    }
    return chosen;
  }

  #choose(run: Run, runId: string | undefined, all: readonly Run[]): void {
    const runsWhenChosen = new Set(all.filter(hasFindings).map(({ id }) => id));
    for (const { folder } of run.targets)
      this.#choices.set(folderSubjectKey(run, folder), { folder, runId, runsWhenChosen });
  }
}

function follow({ runId, runsWhenChosen }: FolderChoice, candidates: readonly Run[]): Run | undefined {
  const newer = candidates.find((run) => !runsWhenChosen.has(run.id) && isShownByDefault(run));
  if (newer !== undefined || runId === undefined) return newer;
  // The chosen run may have been removed.
  return candidates.find(({ id }) => id === runId) ?? defaultRun(candidates);
}

function defaultRun(candidates: readonly Run[]): Run | undefined {
  const runs = candidates.filter(isShownByDefault);
  return runs.find(isOfService) ?? runs[0];
}

export function baselineAmong(runs: readonly Run[], run: Run): Run | undefined {
  if (!isOfService(run)) return undefined;
  // A run and the run that it continues are one assessment, so they have the same baseline.
  const predecessor = runsBefore(runs, run).find((other) => continuesRun(run, other));
  if (predecessor !== undefined) return baselineAmong(runs, predecessor);
  return earlierRuns(runs, run).find((other) => hasAllFindings(other) && isOfSameFolders(run, other));
}

/**
 * Imports of unknown origin share names only with each other. An import of a known run doesn't name
 * its account, so the account may be the same.
 */
export function canShareNames(one: Run, other: Run): boolean {
  if (!isOfService(one) || !isOfService(other)) return isOfService(one) === isOfService(other);
  const isOfSameAccount = one.baseUrl === other.baseUrl && one.organizationId === other.organizationId;
  return one.state === 'imported' || other.state === 'imported' || isOfSameAccount;
}

/** If several records are of one run, only the first is returned. */
export function relatedRuns(runs: readonly Run[], run: Run): readonly Run[] {
  const folders = new Set(run.targets.map(({ folder }) => pathKey(folder)));
  const related = runs.filter(
    (other) =>
      hasFindings(other) &&
      canShareNames(other, run) &&
      subjectOf(other) === subjectOf(run) &&
      other.targets.some(({ folder }) => folders.has(pathKey(folder))),
  );
  const byId = Map.groupBy(related, (other) => runIdOf(other) ?? other);
  return [...byId.values()].flatMap((same) => same.slice(0, 1));
}

/**
 * Other records of this run don't count. For an import of unknown origin, only runs of the same
 * folders count.
 */
export function earlierRuns(runs: readonly Run[], run: Run): readonly Run[] {
  const isSame = (other: Run): boolean => runIdOf(other) !== undefined && runIdOf(other) === runIdOf(run);
  const before = isOfService(run) ? runs.filter((other) => isBefore(other, run)) : runsBefore(runs, run);
  return relatedRuns(
    before.filter((other) => !isSame(other)),
    run,
  );
}

export function runsBefore(runs: readonly Run[], run: Run): readonly Run[] {
  return runs.filter((other) => isBefore(other, run) && isOfSameFolders(run, other));
}

/** Regular polls are more frequent than this. */
const maxUnseenMs = 30 * 60_000;

/**
 * Returns milliseconds. Counts only runs of the same kind that were started here, succeeded, and
 * were dispatched or polled shortly before their end was seen.
 */
export function durationsBefore(runs: readonly Run[], run: Run): readonly number[] {
  return runsBefore(runs, run).flatMap((other) => {
    const isAlike =
      other.workflow === run.workflow &&
      (predecessorOf(other) === undefined) === (predecessorOf(run) === undefined) &&
      testsOnePair(other) === testsOnePair(run);
    if (!isAlike || other.state !== 'succeeded' || !wasStartedHere(other)) return [];
    const { dispatchedAt, ranAt = dispatchedAt, exitedAt } = other;
    return exitedAt - ranAt > maxUnseenMs ? [] : [exitedAt - dispatchedAt];
  });
}

export function isOfSameFolders(a: Run, b: Run): boolean {
  return foldersKeyOf(a) === foldersKeyOf(b);
}

function isBefore(other: Run, run: Run): boolean {
  return other.createdAt < run.createdAt || (other.createdAt === run.createdAt && other.id < run.id);
}

function foldersKeyOf(run: Run): string {
  const folders = [...new Set(run.targets.map(({ folder }) => pathKey(folder)))].sort();
  return JSON.stringify([subjectOf(run), ...folders]);
}

export function continuesRun(run: Run, other: Run): boolean {
  return isContinued(run) && predecessorOf(run) === runIdOf(other);
}

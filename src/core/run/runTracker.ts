import { join } from 'node:path';
import { AssessmentError, knownError } from '../errors.ts';
import { makePrivateFolder } from '../files.ts';
import type { Disposable } from '../ports.ts';
import { visibleLine } from '../visibleText.ts';
import { HeldLeases } from './disk/heldLeases.ts';
import { withJournalLock } from './disk/lease.ts';
import { downloadAgain, hasRemoteResults, tryToKeepSource } from './finish/downloadArtifacts.ts';
import { removeUnneededArchives } from './finish/localCleanup.ts';
import { hasUploads, removeUploads } from './finish/removeUploads.ts';
import type { RunDeps } from './runDeps.ts';
import { claimFolders, type FolderClaim } from './start/claim.ts';
import { wasRefused } from './start/dispatch.ts';
import type { InputOptions } from './start/inputFiles.ts';
import { type PackedRun, RunStarter } from './start/start.ts';
import { type Assessment, type RunNote, trackedRun } from './state/newRun.ts';
import { isFinal, isLive, isPreparing, type Run, runIdOf } from './state/run.ts';
import { RunWatch } from './watch/watch.ts';

/** What a person can do with runs: start, track, cancel, send again. One window at a time drives a run and watches it to its end. */
export class RunTracker implements Disposable {
  readonly #deps: RunDeps;
  readonly #leases: HeldLeases;
  readonly #watch: RunWatch;
  readonly #starter: RunStarter;
  readonly onDidEnd: RunWatch['onDidEnd'];
  readonly onDidNearRetention: RunWatch['onDidNearRetention'];
  readonly onDidFailToKeep: RunStarter['onDidFailToKeep'];

  constructor(deps: RunDeps) {
    this.#deps = deps;
    const leases = (this.#leases = new HeldLeases(deps));
    this.#watch = new RunWatch(deps, leases);
    this.#starter = new RunStarter({ ...deps, leases }, this.#watch);
    this.onDidEnd = this.#watch.onDidEnd;
    this.onDidNearRetention = this.#watch.onDidNearRetention;
    this.onDidFailToKeep = this.#starter.onDidFailToKeep;
  }

  nextCheckAt(id: string): number | undefined {
    return this.#watch.nextPollAt(id);
  }

  resume(): Promise<void> {
    return this.#watch.resume();
  }

  focused(): Promise<void> {
    return this.#watch.focused();
  }

  checkNow(id?: string): Promise<void> {
    return this.#watch.checkNow(id);
  }

  /** For a stored or removed token, or (`isNewSource`) changed settings of where tokens come from. `isTokenOf` says which runs use it. */
  tokenChanged(isTokenOf: (run: Run) => boolean = () => true, { isNewSource = false } = {}): Promise<void> {
    return this.#watch.tokenChanged(isTokenOf, isNewSource);
  }

  claim(folders: readonly string[]): Promise<FolderClaim> {
    return claimFolders(folders, this.#deps);
  }

  start(assessment: Assessment, options?: InputOptions): Promise<Run | undefined> {
    return this.#starter.start(assessment, options);
  }

  pack(assessment: Assessment, options: InputOptions): Promise<PackedRun | undefined> {
    return this.#starter.pack(assessment, options);
  }

  unsavedRunId(id: string): string | undefined {
    return this.#starter.unsavedRunId(id);
  }

  /** Watches a run of the service; throws when the service does not know it. A run that is already watched, or ended, is returned unasked. */
  async track(place: RunNote): Promise<Run> {
    const { store, clock, clientFor } = this.#deps;
    const find = (): Run | undefined => store.all().find((run) => isWatchedAs(run, place));
    const listed = find();
    if (listed !== undefined) return listed;
    await clientFor(place).describe(place.workflow, place.runId);
    const run = trackedRun({ id: store.newId(), now: clock.now() }, place);
    const known = await this.#alone(async () => {
      const other = find();
      if (other === undefined) await store.create(run);
      return other;
    });
    if (known !== undefined) return known;
    await this.checkNow(run.id);
    return store.get(run.id) ?? run;
  }

  /** Asks the service to end a run; it stays `cancelling` until the service says EXITED. */
  async cancel(id: string): Promise<void> {
    const { store, clock, clientFor, log } = this.#deps;
    const run = this.#require(id);
    if (run.state !== 'running') return;
    const sentAt = clock.now();
    let sends = 0;
    let conflict: AssessmentError | undefined;
    const beforeSend = async (): Promise<void> => {
      sends += 1;
      if (sends > 1) return;
      // On disk first: if the answer is lost, the run's end is still read as a cancellation. Sent even when that fails: a run that goes on costs credits.
      await store.apply(id, { type: 'cancelSent', at: sentAt }).catch((error: unknown) => {
        log.warn(`Run ${id}: its cancellation was not saved: ${String(error)}`);
      });
    };
    try {
      await clientFor(run).cancel(run.workflow, run.runId, { beforeSend });
      await store.apply(id, { type: 'cancelAsked', at: clock.now() });
    } catch (error) {
      if (!(error instanceof AssessmentError)) throw error;
      // When it was sent more than once, the answer to one of them was lost, and that one may have been accepted.
      if (wasRefused(error) && sends <= 1)
        await store.apply(id, { type: 'cancelRefused', sentAt, at: clock.now() });
      // A run that has ended meanwhile cannot be cancelled: describe says how it ended.
      if (error.kind !== 'conflict') throw error;
      conflict = error;
    }
    await this.checkNow(id);
    if (conflict !== undefined && store.get(id)?.state === 'running') throw conflict;
  }

  /**
   * Gives an `unknown` run the run ID that a person found for it; throws `busyElsewhere` when it is no longer unknown, because its dispatch is
   * sent again, and `runIdTaken` when another run has this ID.
   */
  async giveRunId(id: string, runId: string): Promise<void> {
    const { store, clock, clientFor } = this.#deps;
    const run = this.#require(id);
    await clientFor(run).describe(run.workflow, runId);
    const given = await this.#alone(() => {
      const others = store.all().filter((other) => other.id !== id);
      if (others.some((other) => isWatchedAs(other, { ...run, runId })))
        throw new AssessmentError('runIdTaken');
      return store.applyIfDue(id, { type: 'runIdGiven', runId, at: clock.now() });
    });
    if (given === undefined) throw new AssessmentError('busyElsewhere');
    await this.checkNow(id);
  }

  async resend(id: string, signal?: AbortSignal): Promise<Run> {
    return this.#starter.resend(this.#require(id), signal);
  }

  /** Gives an `unknown` run up: it ends as `cancelled`, and its uploads are removed. */
  async abandon(id: string): Promise<void> {
    const { store, clock } = this.#deps;
    const run = await store.applyIfDue(id, { type: 'abandoned', at: clock.now() });
    if (run !== undefined) await this.#watch.settle(run);
  }

  /** Stops watching a run that no longer answers; if the service has it, it goes on there. Throws `changedMeanwhile` when it answers again, or has ended. */
  async stopWatching(id: string): Promise<void> {
    if (!(await this.#watch.unwatch(id, 'person'))) throw new AssessmentError('changedMeanwhile');
  }

  /** Gives a run a person's own name; an empty one removes it. */
  async rename(id: string, label: string): Promise<void> {
    await this.#deps.store.apply(id, { type: 'renamed', label, at: this.#deps.clock.now() });
  }

  async answerIsSame(id: string, isSame: boolean): Promise<void> {
    await this.#deps.store.apply(id, { type: 'answeredIsSame', isSame, at: this.#deps.clock.now() });
  }

  /** Downloads the artifacts of an ended run again. Throws the first failure after saving the others; a cancellation changes nothing. */
  async downloadAgain(id: string, cancelled?: AbortSignal): Promise<void> {
    const { store, clock, clientFor } = this.#deps;
    const run = this.#require(id);
    if (!hasRemoteResults(run)) throw new AssessmentError('noResult');
    // A person who was just shown the end may ask for this while uploads are still being removed.
    const isMine = this.#watch.isFinishing(id);
    if (!isMine && !(await this.#watch.take(id))) throw new AssessmentError('busyElsewhere');
    try {
      const signal = this.#watch.stoppedOr(cancelled);
      const download = { client: clientFor(run), folder: store.folderOf(id), signal, clock };
      const { artifacts, failure } = await downloadAgain(run, download);
      await tryToKeepSource(run, this.#deps, signal);
      const next = await store.apply(id, { type: 'downloadedAgain', artifacts, at: clock.now() });
      await removeUnneededArchives(next, this.#deps);
      if (failure !== undefined) throw failure;
    } finally {
      if (!isMine) await this.#leases.release(id);
    }
  }

  /** Removes what is left of a run's uploads; returns the first failure, after which some may still be there. */
  async deleteUploads(id: string): Promise<AssessmentError | undefined> {
    // Another window may have removed the run meanwhile.
    const run = await this.#deps.store.refresh(id);
    if (run === undefined) return undefined;
    return removeUploads(run, true, this.#deps);
  }

  /**
   * Removes a run with everything that is kept of it. Its uploads go first, as the setting says; when that fails, the run is kept and the failure
   * returned, unless the person `leavesSource` there. Throws `changedMeanwhile` for a run that is live or being dispatched: it may have been paid
   * for.
   */
  async remove(id: string, { leavesSource = false } = {}): Promise<AssessmentError | undefined> {
    // Another window may have advanced it since the person saw it.
    const run = await this.#deps.store.refresh(id);
    if (run === undefined) return undefined;
    if (isLive(run) || run.state === 'dispatching') throw new AssessmentError('changedMeanwhile');
    const failure = leavesSource ? undefined : await this.#removeRemaining(run);
    if (failure !== undefined) return failure;
    if (leavesSource) {
      const files = run.targets.flatMap(({ upload }) => upload?.fileId ?? []);
      this.#deps.log.warn(`Run ${id} is removed; on the service may stay: ${visibleLine(files.join(', '))}`);
    }
    await this.#watch.discard(id);
    return undefined;
  }

  dispose(): void {
    this.#watch.stop();
  }

  /** Runs `act`, with all journals read, while no other window does so: each run ID is listed once. */
  async #alone<T>(act: () => Promise<T>): Promise<T> {
    const { store, clock } = this.#deps;
    await store.requireWritable();
    await makePrivateFolder(store.startingFolder);
    return withJournalLock(join(store.startingFolder, 'lock'), clock, async () => {
      await store.reload();
      return act();
    });
  }

  #require(id: string): Run {
    const run = this.#deps.store.get(id);
    if (run === undefined) throw new AssessmentError('notFound', { subject: id });
    return run;
  }

  /** Removes the uploads of an ended run, or gives the run up first. Returns the first failure; throws `changedMeanwhile`. */
  async #removeRemaining(run: Run): Promise<AssessmentError | undefined> {
    const { store, clock, deleteSourceAfterRun } = this.#deps;
    const includeConfirmed = deleteSourceAfterRun();
    let ended: Run | undefined = run;
    try {
      const isGivenUp = run.state === 'unknown' || isPreparing(run);
      if (!isGivenUp && !hasUploads(run, includeConfirmed, clock.now())) return undefined;
      if (isGivenUp) ended = await store.applyIfDue(run.id, { type: 'abandoned', at: clock.now() });
      if (ended !== undefined) return await removeUploads(ended, includeConfirmed, this.#deps);
    } catch (error) {
      return knownError(error);
    }
    throw new AssessmentError('changedMeanwhile');
  }
}

/** True for a local run that is this one of the service. One that ended without an exit is not: tracked again, it may have results. */
function isWatchedAs(run: Run, place: Pick<RunNote, 'baseUrl' | 'organizationId' | 'runId'>): boolean {
  return (
    runIdOf(run) === place.runId &&
    run.baseUrl === place.baseUrl &&
    run.organizationId === place.organizationId &&
    !(isFinal(run) && !('exit' in run && run.exit !== undefined))
  );
}

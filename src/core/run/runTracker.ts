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
import { claimStart, type StartClaim } from './start/claim.ts';
import { wasRefused } from './start/dispatch.ts';
import type { InputOptions } from './start/inputFiles.ts';
import { type PackedRun, RunStarter } from './start/start.ts';
import { type Assessment, type RunNote, trackedRun } from './state/newRun.ts';
import { isFinal, isLive, type Run, runIdOf } from './state/run.ts';
import { RunWatch } from './watch/watch.ts';

/** The editor's door to runs: start, track, cancel, resend, remove. One window at a time drives a run to its end. */
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

  /** For a stored or removed token; `isNewSource` for changed settings of where tokens come from. `isTokenOf` says which runs use the token. */
  tokenChanged(isTokenOf: (run: Run) => boolean = () => true, { isNewSource = false } = {}): Promise<void> {
    return this.#watch.tokenChanged(isTokenOf, isNewSource);
  }

  claim(subjects: readonly string[]): Promise<StartClaim> {
    return claimStart(subjects, this.#deps);
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

  /** Watches a run of the service; throws when the service does not know it. Returns a run that is listed already, without asking. */
  async track(note: RunNote): Promise<Run> {
    const { store, clock, clientFor } = this.#deps;
    const find = (): Run | undefined => store.all().find((run) => isRunOfNote(run, note));
    const listed = find();
    if (listed !== undefined) return listed;
    await clientFor(note).describe(note.workflow, note.runId);
    const run = trackedRun({ id: store.newId(), now: clock.now() }, note);
    const listedMeanwhile = await this.#withListLock(async () => {
      const found = find();
      if (found === undefined) await store.create(run);
      return found;
    });
    if (listedMeanwhile !== undefined) return listedMeanwhile;
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
      // Saved first: if the answer is lost, the run's end is still a cancellation. Sent even if that fails: a run that goes on costs credits.
      await store.apply(id, { type: 'cancelSent', at: sentAt }).catch((error: unknown) => {
        log.warn(`Run ${id}: its cancellation was not saved: ${String(error)}`);
      });
    };
    try {
      await clientFor(run).cancel(run.workflow, run.runId, { beforeSend });
      await store.apply(id, { type: 'cancelAsked', at: clock.now() });
    } catch (error) {
      if (!(error instanceof AssessmentError)) throw error;
      // After several sends, one whose answer was lost may have been accepted.
      if (wasRefused(error) && sends <= 1)
        await store.apply(id, { type: 'cancelRefused', sentAt, at: clock.now() });
      // A run that has ended cannot be cancelled: the poll below says how it ended.
      if (error.kind !== 'conflict') throw error;
      conflict = error;
    }
    await this.checkNow(id);
    if (conflict !== undefined && store.get(id)?.state === 'running') throw conflict;
  }

  /** Gives an `unknown` run the ID that a person found. Throws `busyElsewhere` while its dispatch is sent again, `runIdTaken` if another run has the ID. */
  async giveRunId(id: string, runId: string): Promise<void> {
    const { store, clock, clientFor } = this.#deps;
    const run = this.#require(id);
    await clientFor(run).describe(run.workflow, runId);
    const next = await this.#withListLock(() => {
      if (store.all().some((other) => other.id !== id && isRunOfNote(other, { ...run, runId })))
        throw new AssessmentError('runIdTaken');
      return store.applyIfDue(id, { type: 'runIdGiven', runId, at: clock.now() });
    });
    if (next === undefined) throw new AssessmentError('busyElsewhere');
    await this.checkNow(id);
  }

  async resend(id: string, signal?: AbortSignal): Promise<Run> {
    return this.#starter.resend(this.#require(id), signal);
  }

  /** Ends an `unknown` run as `cancelled`, and removes its uploads. */
  async abandon(id: string): Promise<void> {
    const { store, clock } = this.#deps;
    const run = await store.applyIfDue(id, { type: 'abandoned', at: clock.now() });
    if (run !== undefined) await this.#watch.settle(run);
  }

  /** For a run that no longer answers; the service may still run it. Throws `changedMeanwhile` when it answers again, or has ended. */
  async stopWatching(id: string): Promise<void> {
    if (!(await this.#watch.unwatch(id, 'person'))) throw new AssessmentError('changedMeanwhile');
  }

  /** An empty label removes the name that a person gave. */
  async rename(id: string, label: string): Promise<void> {
    await this.#deps.store.apply(id, { type: 'renamed', label, at: this.#deps.clock.now() });
  }

  async answerIsSame(id: string, isSame: boolean): Promise<void> {
    await this.#deps.store.apply(id, { type: 'answeredIsSame', isSame, at: this.#deps.clock.now() });
  }

  /** Throws the first failure after saving the other artifacts; a cancellation changes nothing. */
  async downloadAgain(id: string, cancelled?: AbortSignal): Promise<void> {
    const { store, clock, clientFor } = this.#deps;
    const run = this.#require(id);
    if (!hasRemoteResults(run)) throw new AssessmentError('noResult');
    // A person who was just shown the end may ask while this window still removes uploads.
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

  /** Returns the first failure, after which some uploads may be left. */
  async deleteUploads(id: string): Promise<AssessmentError | undefined> {
    const run = await this.#deps.store.refresh(id);
    if (run === undefined) return undefined;
    return removeUploads(run, true, this.#deps);
  }

  /**
   * Removes a run and its files, after its uploads as the setting says. Keeps the run and returns the failure if these cannot be removed, unless the
   * person `leavesSource`. Throws `changedMeanwhile` for a run that is live or being dispatched: it may have been paid for.
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
      this.#deps.log.warn(
        `Run ${id} is removed. The service may still have these files: ${visibleLine(files.join(', '))}`,
      );
    }
    await this.#watch.discard(id);
    return undefined;
  }

  dispose(): void {
    this.#watch.stop();
  }

  /** Runs `act`, with all journals read, while no other window does so: each run ID is listed once. */
  async #withListLock<T>(act: () => Promise<T>): Promise<T> {
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

  /** Ends a run that has not ended, and removes its uploads. Returns the first failure; throws `changedMeanwhile`. */
  async #removeRemaining(run: Run): Promise<AssessmentError | undefined> {
    const { store, clock, deleteSourceAfterRun } = this.#deps;
    const includeConfirmed = deleteSourceAfterRun();
    let ended: Run | undefined = run;
    try {
      const isUndispatched = run.state === 'unknown' || run.state === 'preparing';
      if (!isUndispatched && !hasUploads(run, includeConfirmed, clock.now())) return undefined;
      if (isUndispatched) ended = await store.applyIfDue(run.id, { type: 'abandoned', at: clock.now() });
      if (ended !== undefined) return await removeUploads(ended, includeConfirmed, this.#deps);
    } catch (error) {
      return knownError(error);
    }
    throw new AssessmentError('changedMeanwhile');
  }
}

/** False for a local run that ended without an exit: tracked again, it may have results. */
function isRunOfNote(run: Run, note: Pick<RunNote, 'baseUrl' | 'organizationId' | 'runId'>): boolean {
  const mayHaveResults = isFinal(run) && !('exit' in run && run.exit !== undefined);
  return (
    !mayHaveResults &&
    runIdOf(run) === note.runId &&
    run.baseUrl === note.baseUrl &&
    run.organizationId === note.organizationId
  );
}

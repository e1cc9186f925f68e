import { hash } from 'node:crypto';
import { AssessmentError, isAbortError, knownError } from '../errors.ts';
import { type Disposable, Emitter, type Event, type OnBytes } from '../ports.ts';
import { visibleLine } from '../visibleText.ts';
import { claimStart, type Lease, type StartClaim } from './disk/lease.ts';
import { DrivingWindow } from './drive/drivingWindow.ts';
import { type PackedRun, packRun } from './start/packRun.ts';
import { sendAgain, startRun } from './start/startRun.ts';
import { retryAfterMs } from './state/delays.ts';
import { type Assessment, type RunNote, trackedRun } from './state/newRun.ts';
import { uploadsToRemove } from './state/retention.ts';
import { hasRemoteResults, isFinal, isLive, type Run, runIdOf } from './state/run.ts';
import { sendCancellation } from './steps/cancelRun.ts';
import { saveRecord } from './steps/endRun.ts';
import { downloadAgain } from './steps/downloadArtifacts.ts';
import { sendRemovals } from './steps/sendRemovals.ts';
import type { NotSaved, RunDeps, StartDeps } from './steps/step.ts';

export interface StartOptions {
  readonly signal?: AbortSignal | undefined;
  readonly onPackaging?: OnBytes | undefined;
  readonly onUploading?: OnBytes | undefined;
}

export class RunTracker implements Disposable {
  readonly #deps: RunDeps;
  readonly #window: DrivingWindow;
  /** Fires when a run has ended or waits for a user: usually once, in one window (`announce`). */
  readonly onDidEnd: Event<Run>;
  readonly onDidFailToSave: Event<NotSaved>;
  readonly #notSaved: Emitter<NotSaved>;

  constructor(deps: RunDeps) {
    this.#deps = deps;
    const ended = new Emitter<Run>(deps.log);
    this.#notSaved = new Emitter(deps.log);
    this.#window = new DrivingWindow(deps, ended);
    this.onDidEnd = ended.event;
    this.onDidFailToSave = this.#notSaved.event;
  }

  /** Returns wall-clock ms (`Delays.nextCheckAt`). */
  nextCheckAt(id: string): number | undefined {
    return this.#window.driveOf(id)?.nextCheckAt();
  }

  resume(): Promise<void> {
    return this.#window.resume();
  }

  focused(): Promise<void> {
    return this.#window.focused();
  }

  checkNow(id?: string): Promise<void> {
    return this.#window.checkNow(id);
  }

  /** `isNewSource` means that the settings for the source of tokens have changed. */
  tokenChanged(isTokenOf: (run: Run) => boolean = () => true, { isNewSource = false } = {}): Promise<void> {
    return this.#window.tokenChanged(isTokenOf, isNewSource ? 'user' : 'token');
  }

  async claim(subjects: readonly string[]): Promise<StartClaim> {
    const { store } = this.#deps;
    await store.requireWritable();
    return claimStart(subjects, store.startingFolder, this.#deps);
  }

  async start(assessment: Assessment, options: StartOptions = {}): Promise<Run | undefined> {
    const packed = await this.pack(assessment, options);
    return packed && this.startPacked(packed, options);
  }

  /** The caller must have claimed the subjects. Undefined after an abort. */
  async pack(assessment: Assessment, { signal, onPackaging }: StartOptions): Promise<PackedRun | undefined> {
    await this.#deps.store.requireWritable();
    try {
      return await packRun(assessment, this.#startDeps({ cancelled: signal, onPackaging }));
    } catch (error) {
      if (isAbortError(error)) return undefined;
      throw knownError(error);
    }
  }

  async startPacked(packed: PackedRun, { signal, onUploading }: StartOptions): Promise<Run | undefined> {
    try {
      if (signal?.aborted === true) return undefined;
      const start = () => startRun(packed, this.#startDeps({ cancelled: signal, onUploading }));
      return await this.#driveAfter(packed.run.id, packed.lease, start);
    } finally {
      await packed.discard();
    }
  }

  #startDeps(options: Omit<StartDeps, keyof RunDeps | 'notSaved' | 'stopped'>): StartDeps {
    return { ...this.#deps, ...options, notSaved: this.#notSaved, stopped: this.#window.stopped };
  }

  async #driveAfter(id: string, lease: Lease, start: () => Promise<Run>): Promise<Run> {
    try {
      const run = await start();
      await lease.renew().catch(() => undefined);
      // The start may have saved another run, in its own folder, or the lease may be lost. Then
      // `driveOn` tries to take a new lease.
      if (run.id === id && !lease.lost.aborted) this.#window.drive(run.id, lease);
      else await lease.release();
      const driven = this.#window.driveOn(run.id);
      if (run.state !== 'cancelled') await driven;
      return this.#deps.store.get(run.id) ?? run;
    } catch (error) {
      await lease.release();
      throw isAbortError(error) ? error : knownError(error);
    }
  }

  async track(note: RunNote): Promise<Run> {
    const { store, clock, clientFor } = this.#deps;
    await store.requireWritable();
    const find = (): Run | undefined => store.all().find((run) => isRunOfNote(run, note));
    const listed = find();
    if (listed !== undefined) return listed;
    await clientFor(note).describe(note.workflow, note.runId);
    await store.reload();
    const tracked =
      find() ?? (await store.create(trackedRun({ id: this.#idFor(note), now: clock.now() }, note)));
    await this.checkNow(tracked.id);
    return store.get(tracked.id) ?? tracked;
  }

  /**
   * All windows give a tracked run the same ID, so only the first one creates the run. If a listed
   * run already has this ID, for example one that ended without an exit, returns a new ID.
   */
  #idFor({ baseUrl, organizationId, runId }: RunNote): string {
    const id = hash('sha256', JSON.stringify([baseUrl, organizationId, runId]), 'hex').slice(0, 32);
    return this.#deps.store.has(id) ? this.#deps.store.newId() : id;
  }

  async cancel(id: string): Promise<void> {
    const run = this.#require(id);
    if (run.state !== 'running') return;
    const conflict = await sendCancellation(run, this.#deps);
    await this.checkNow(id);
    if (conflict !== undefined && this.#deps.store.get(id)?.state === 'running') throw conflict;
  }

  async giveRunId(id: string, runId: string): Promise<void> {
    const { store, clock, clientFor } = this.#deps;
    await store.requireWritable();
    await clientFor(this.#require(id)).describe(this.#require(id).workflow, runId);
    await store.reload();
    const run = this.#require(id);
    if (store.all().some((other) => other.id !== id && isRunOfNote(other, { ...run, runId })))
      throw new AssessmentError('runIdTaken');
    if (run.state !== 'unknown') throw new AssessmentError('busyElsewhere');
    const { intendedAt } = run;
    // A resend changes `intendedAt`. The event then has no effect, because the run of the resend
    // must be watched.
    const given = await store.applyIfDue(id, { type: 'dispatched', intendedAt, runId, at: clock.now() });
    if (given === undefined) throw new AssessmentError('busyElsewhere');
    await this.checkNow(id);
  }

  /** Only a user may decide to resend, because a second run may start and spend credits. */
  async resend(id: string, signal?: AbortSignal): Promise<Run> {
    const run = this.#require(id);
    if (run.state !== 'unknown') return run;
    await this.#deps.store.requireWritable();
    // A drive whose step keeps failing holds the lease, so the lease is taken from the drive.
    const lease = await this.#window.takeFromDrive(id);
    if (lease === undefined) throw new AssessmentError('busyElsewhere');
    return this.#driveAfter(id, lease, () => sendAgain(id, lease, this.#startDeps({ cancelled: signal })));
  }

  async abandon(id: string): Promise<void> {
    const { store, clock } = this.#deps;
    const run = await store.applyIfDue(id, { type: 'abandoned', at: clock.now() });
    if (run !== undefined) await this.#window.driveOn(id);
  }

  async stopWatching(id: string): Promise<void> {
    const { store, clock, log } = this.#deps;
    const run = await store.applyIfDue(id, { type: 'unwatched', at: clock.now() });
    if (run === undefined) throw new AssessmentError('changedMeanwhile');
    log.info(`Run ${id} is no longer watched`);
    await this.#window.driveOn(id);
  }

  async rename(id: string, label: string): Promise<void> {
    await this.#deps.store.apply(id, { type: 'renamed', label, at: this.#deps.clock.now() });
  }

  async answerIsSame(id: string, isSame: boolean): Promise<void> {
    await this.#deps.store.apply(id, { type: 'answeredIsSame', isSame, at: this.#deps.clock.now() });
  }

  async downloadAgain(id: string, cancelled?: AbortSignal): Promise<void> {
    const run = this.#require(id);
    if (!hasRemoteResults(run)) throw new AssessmentError('noResult');
    const { stopped } = this.#window;
    const signal = cancelled === undefined ? stopped : AbortSignal.any([stopped, cancelled]);
    const recordSaved = await saveRecord(await downloadAgain(run, this.#deps, signal), this.#deps, signal);
    if (recordSaved !== undefined) await this.#deps.store.apply(id, recordSaved);
  }

  /**
   * Returns the first failure, after which some uploads may be left. Throws failures of the disk.
   */
  async deleteUploads(id: string): Promise<AssessmentError | undefined> {
    const run = await this.#deps.store.refresh(id);
    return run && this.#tryToRemoveUploads(run, true);
  }

  /**
   * Removes the uploads of a run (`uploadsToRemove`), and then the run and its files. If an upload
   * can't be removed, keeps the run and returns the failure. With `leavesSource`, the uploads stay
   * on the service.
   */
  async remove(id: string, { leavesSource = false } = {}): Promise<AssessmentError | undefined> {
    const { store, clock, log, deleteSourceAfterRun } = this.#deps;
    const run = await store.refresh(id);
    if (run === undefined) return undefined;
    if (isLive(run) || run.state === 'dispatching') throw new AssessmentError('changedMeanwhile');
    await this.#window.stopDriving(id);
    if (leavesSource) {
      const files = run.targets.flatMap(({ upload }) => upload?.fileId ?? []);
      log.warn(
        `Run ${id} is removed. The service may still have these files: ${visibleLine(files.join(', '))}`,
      );
    } else {
      const event = { type: 'abandoned', at: clock.now() } as const;
      const ended = isFinal(run) ? run : await store.applyIfDue(id, event);
      if (ended === undefined) throw new AssessmentError('changedMeanwhile');
      const failure = await this.#tryToRemoveUploads(ended, deleteSourceAfterRun());
      if (failure !== undefined) return failure;
    }
    await store.remove(id);
    return undefined;
  }

  async #tryToRemoveUploads(run: Run, deletesSource: boolean): Promise<AssessmentError | undefined> {
    const { clock } = this.#deps;
    try {
      const waitMs = retryAfterMs(run, clock.now());
      if (waitMs > 0 && uploadsToRemove(run, deletesSource, clock.now()).length > 0)
        throw new AssessmentError('rateLimited', { retryAfterMs: waitMs });
      await sendRemovals(run, deletesSource, this.#deps);
      return undefined;
    } catch (error) {
      if (error instanceof AssessmentError && error.kind !== 'storage') return error;
      throw error;
    }
  }

  dispose(): void {
    this.#window.stop();
  }

  #require(id: string): Run {
    const run = this.#deps.store.get(id);
    if (run === undefined) throw new AssessmentError('notFound', { subject: id });
    return run;
  }
}

/**
 * False for a local run that ended without an exit, because it may have results when it is tracked
 * again.
 */
function isRunOfNote(run: Run, note: Pick<RunNote, 'baseUrl' | 'organizationId' | 'runId'>): boolean {
  const mayHaveResults = isFinal(run) && !('exit' in run && run.exit !== undefined);
  return (
    !mayHaveResults &&
    runIdOf(run) === note.runId &&
    run.baseUrl === note.baseUrl &&
    run.organizationId === note.organizationId
  );
}

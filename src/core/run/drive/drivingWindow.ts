import { join } from 'node:path';
import { isAbortError, knownError } from '../../errors.ts';
import { sweepTemporary } from '../../files.ts';
import type { Clock, Disposable, Emitter } from '../../ports.ts';
import { answerOf } from '../../yieldingWork.ts';
import { type Lease, takeLease } from '../disk/lease.ts';
import { retryAfterMs, type Waker } from '../state/delays.ts';
import { next } from '../state/next.ts';
import { needsArchives } from '../state/retention.ts';
import { dayMs, isLive, type LiveRun, type Run } from '../state/run.ts';
import { cleanUp, removeAbandonedStarts } from '../steps/cleanUp.ts';
import { saveRecord } from '../steps/endRun.ts';
import { poll, toStepFailed } from '../steps/poll.ts';
import { circumstances, type RunDeps } from '../steps/step.ts';
import { Drive } from './drive.ts';

const beatMs = 5_000;
/**
 * A larger gap between two beats, or between the two clocks, probably means that the machine slept
 * or a clock was set.
 */
const jumpMs = 30_000;

/** Drives runs that need something and whose lease this window can take. */
export class DrivingWindow {
  readonly #deps: RunDeps;
  readonly #ended: Emitter<Run>;
  readonly #drives = new Map<string, Drive>();
  readonly #taking = new Map<string, Promise<unknown>>();
  readonly #stop = new AbortController();
  readonly #following: Disposable;
  #isBeating = false;
  #cleanedAt = -Infinity;
  readonly #tried = new Set<string>();
  /** True while the workbench doesn't respond, for example because its window is gone. */
  #isWorkbenchGone = false;

  constructor(deps: RunDeps, ended: Emitter<Run>) {
    this.#deps = deps;
    this.#ended = ended;
    this.#following = deps.store.onDidChange((changed) => {
      for (const { id } of changed) this.#drives.get(id)?.recheck();
      this.#beat();
    });
  }

  get stopped(): AbortSignal {
    return this.#stop.signal;
  }

  driveOf(id: string): Drive | undefined {
    const drive = this.#drives.get(id);
    return drive?.hasEnded === true ? undefined : drive;
  }

  async resume(): Promise<void> {
    await this.#deps.store.reload();
    const drives = await this.#takeOverAll();
    await Promise.all([this.#cleanUp(), ...drives.map((drive) => drive.whenIdle())]);
  }

  async focused(): Promise<void> {
    await Promise.all([this.#wake([...this.#drives.values()], 'focus'), this.resume()]);
  }

  /** Checks one live run, or all of them. Respects `Retry-After`. */
  async checkNow(id?: string): Promise<void> {
    const { store } = this.#deps;
    await store.reload();
    await this.#takeOverAll();
    const runs = store.all().filter((run) => isLive(run) && (id === undefined || run.id === id)) as LiveRun[];
    await Promise.all(
      runs.map((run) => {
        const drive = this.driveOf(run.id);
        return drive === undefined ? this.#ask(run) : this.#wake([drive], 'user');
      }),
    );
  }

  /** Wakes only this window's drives, because each window notices a changed token by itself. */
  async tokenChanged(isTokenOf: (run: Run) => boolean, waker: 'token' | 'user'): Promise<void> {
    const runs = this.#deps.store.all().filter(isTokenOf);
    const drives = runs.flatMap(({ id }) => this.driveOf(id) ?? []);
    await this.#wake(drives, waker);
  }

  drive(id: string, lease: Lease): Drive {
    const drive = new Drive(id, lease, this.#deps, this.#ended);
    this.#drives.set(id, drive);
    void drive.ended.then(() => {
      if (this.#drives.get(id) === drive) this.#drives.delete(id);
    });
    if (this.stopped.aborted) drive.stop();
    this.#beat();
    return drive;
  }

  takeFromDrive(id: string): Promise<Lease | undefined> {
    return this.#inTurn(id, async () => {
      await this.stopDriving(id);
      return this.#takeLease(id);
    });
  }

  async #takeLease(id: string): Promise<Lease | undefined> {
    if (this.stopped.aborted) return undefined;
    return takeLease(join(this.#deps.store.folderOf(id), 'lease'), this.#deps);
  }

  /**
   * Lets only one call at a time take a run's lease, because two calls in this window would compete
   * like two windows.
   */
  async #inTurn<T>(id: string, take: () => Promise<T>): Promise<T> {
    while (this.#taking.has(id)) await this.#taking.get(id);
    const taking = take();
    this.#taking.set(
      id,
      taking.catch(() => undefined),
    );
    try {
      return await taking;
    } finally {
      this.#taking.delete(id);
    }
  }

  async stopDriving(id: string): Promise<void> {
    const drive = this.#drives.get(id);
    drive?.stop();
    await drive?.ended;
  }

  async driveOn(id: string): Promise<void> {
    const drive = await this.#take(id);
    drive?.recheck();
    await drive?.whenIdle();
  }

  /** Stops all drives, so that another window can take over their runs at once. */
  stop(): void {
    this.#following.dispose();
    this.#stop.abort(new DOMException('Disposed', 'AbortError'));
    this.#stopDrives();
  }

  #stopDrives(): void {
    for (const drive of this.#drives.values()) drive.stop();
  }

  /** Polls without the lease. The window that has the lease reads the result from the journal. */
  async #ask(run: LiveRun): Promise<void> {
    const { store, clock } = this.#deps;
    if (run.state === 'collecting' || retryAfterMs(run, clock.now()) > 0) return;
    const event = await poll(run, this.#deps).catch((error: unknown) =>
      toStepFailed(knownError(error), clock.now()),
    );
    await store.apply(run.id, event);
  }

  async #wake(drives: readonly Drive[], waker: Waker): Promise<void> {
    const idle = drives.filter(({ isBusy }) => !isBusy);
    for (const drive of drives) drive.wake(waker);
    await Promise.all(idle.map((drive) => drive.whenIdle()));
  }

  async #cleanUp(): Promise<void> {
    const { store, clock, log } = this.#deps;
    if (store.problem !== undefined) return;
    try {
      await removeAbandonedStarts(this.#deps);
      if (clock.monotonic() - this.#cleanedAt >= dayMs && (await cleanUp(this.#deps)))
        this.#cleanedAt = clock.monotonic();
      await this.#saveRecords();
    } catch (error) {
      log.warn(`Old files could not be removed: ${String(error)}`);
    }
  }

  /** Saves findings that could not be saved before. Each window tries once for each run. */
  async #saveRecords(): Promise<void> {
    const { store, log } = this.#deps;
    const isToTry = (run: Run): boolean => needsArchives(run) && !this.#tried.has(run.id);
    for (const { id } of store.all().filter(isToTry)) {
      const lease = await this.#takeLease(id);
      if (lease === undefined) continue;
      this.#tried.add(id);
      try {
        const run = await store.refresh(id);
        if (run === undefined || !needsArchives(run)) continue;
        const signal = AbortSignal.any([this.stopped, lease.lost]);
        const recordSaved = await saveRecord(run, this.#deps, signal);
        if (recordSaved !== undefined) await store.apply(id, recordSaved);
      } catch (error) {
        log.warn(`Run ${id}: that its findings are saved could not be noted: ${String(error)}`);
      } finally {
        await lease.release();
      }
    }
  }

  async #takeOverAll(): Promise<Drive[]> {
    this.#beat();
    // If the folder of the runs isn't writable, no lease can be taken.
    if (this.#deps.store.problem !== undefined || this.#isWorkbenchGone) return [];
    const isTaken = (id: string): boolean => this.#drives.has(id) || this.#taking.has(id);
    const runs = this.#deps.store.all().filter((run) => !isTaken(run.id) && this.#needsWork(run));
    const taken = await Promise.all(runs.map(({ id }) => this.#take(id)));
    return taken.filter((drive) => drive !== undefined);
  }

  #take(id: string): Promise<Drive | undefined> {
    return this.#inTurn(id, async () => this.driveOf(id) ?? this.#takeOver(id));
  }

  async #takeOver(id: string): Promise<Drive | undefined> {
    const { store, clock, log } = this.#deps;
    let lease: Lease | undefined;
    try {
      await this.#drives.get(id)?.ended;
      lease = await this.#takeLease(id);
      if (lease === undefined) return undefined;
      await sweepTemporary(store.folderOf(id), clock.now()).catch((error: unknown) => {
        log.warn(`Run ${id}: files of unfinished writes could not be removed: ${String(error)}`);
      });
      if ((await store.refresh(id)) !== undefined) return this.drive(id, lease);
    } catch (error) {
      log.debug(`Run ${id} could not be taken over: ${String(error)}`);
    }
    await lease?.release();
    return undefined;
  }

  readonly #needsWork = (run: Run): boolean => next(run, circumstances(run, this.#deps)).length > 0;

  get #isBeatNeeded(): boolean {
    return this.#drives.size > 0 || this.#deps.store.all().some(this.#needsWork);
  }

  #beat(): void {
    if (this.#isBeating || this.#stop.signal.aborted || !this.#isBeatNeeded) return;
    this.#isBeating = true;
    this.#beats().catch((error: unknown) => {
      if (!isAbortError(error)) this.#deps.log.error(`The beat stopped: ${String(error)}`);
    });
  }

  async #beats(): Promise<void> {
    const { clock, log, store } = this.#deps;
    const haveJumped = watchClocks(clock);
    try {
      while (this.#isBeatNeeded) {
        await clock.sleep(beatMs, this.#stop.signal);
        await this.#askWorkbench();
        if (haveJumped()) {
          log.info('The machine slept, or its clock was changed: polling every run');
          for (const drive of this.#drives.values()) drive.wake('clock');
        }
        await store.reload(this.#needsWork).catch((error: unknown) => {
          log.error(`The journals could not be read: ${String(error)}`);
        });
        void this.#takeOverAll();
        for (const drive of this.#drives.values()) drive.recheck();
      }
    } finally {
      this.#isBeating = false;
    }
  }

  async #askWorkbench(): Promise<void> {
    const { askWorkbench, clock, log } = this.#deps;
    if (askWorkbench === undefined) return;
    try {
      await answerOf(askWorkbench(), 'VS Code', { clock, signal: this.stopped });
      this.#isWorkbenchGone = false;
    } catch (error) {
      log.debug(`The workbench did not answer: ${String(error)}`);
      this.#isWorkbenchGone = true;
      this.#stopDrives();
    }
  }
}

function watchClocks(clock: Clock): () => boolean {
  let [wall, monotonic] = [clock.now(), clock.monotonic()];
  return () => {
    const passed = clock.monotonic() - monotonic;
    const haveJumped = passed > jumpMs || Math.abs(clock.now() - wall - passed) > jumpMs;
    [wall, monotonic] = [clock.now(), clock.monotonic()];
    return haveJumped;
  };
}

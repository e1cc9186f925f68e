import { join } from 'node:path';
import { AssessmentError, isAbortError } from '../../errors.ts';
import { sweepTemporary } from '../../files.ts';
import type { Disposable } from '../../ports.ts';
import { removeStrays } from '../disk/journal.ts';
import { takeLease } from '../disk/lease.ts';
import type { RunEvent } from '../state/event.ts';
import { next } from '../state/next.ts';
import { isLive, type LiveRun, type Run } from '../state/run.ts';
import { isOver, mayNeedOtherToken, needsToken } from '../state/waits.ts';
import { poll, toPollFailed } from '../steps/poll.ts';
import { circumstances, type DriveDeps, type Start } from '../steps/step.ts';
import { Drive } from './drive.ts';

const beatMs = 5_000;
/** A longer gap between beats, or between the two clocks, means that the machine slept or a clock was set. */
const jumpMs = 30_000;
/** A workbench that does not answer for this long is gone, although its extension host lives. */
const maxAnswerMs = 10_000;
const focusPollMs = 60_000;
const strayCheckMs = 60 * 60 * 1000;

interface TakeOptions {
  /** A run without a journal yet. */
  readonly newRun?: Run | undefined;
  readonly start?: Start | undefined;
  /** Saved before the first step. */
  readonly first?: RunEvent | undefined;
}

/**
 * This window among those that may drive runs. It takes the lease of each run that needs something and that no other
 * living window drives, at its start, at its focus, and on a beat every 5 s while any run needs something.
 */
export class DrivingWindow {
  readonly #deps: DriveDeps;
  readonly #drives = new Map<string, Drive>();
  readonly #taking = new Set<string>();
  /** Runs whose lease could not be taken or renewed. */
  readonly #failing = new Set<string>();
  /** Token changes for runs that another window drives. Kept until this window drives them. */
  readonly #tokenChanges = new Map<string, RunEvent>();
  readonly #stop = new AbortController();
  readonly #following: Disposable;
  #isBeating = false;
  #strayCheckAt = -Infinity;
  /** True while files that no run has are due for removal. */
  #areStraysDue = false;
  /** When the first question was asked since the last answer of the workbench, by the monotonic clock. */
  #askedSince: number | undefined;
  #isAsking = false;
  readonly #focusPolls = new Map<string, number>();

  constructor(deps: DriveDeps) {
    this.#deps = deps;
    this.#following = deps.store.onDidChange((changed) => {
      for (const { id } of changed) this.#drives.get(id)?.look();
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

  /** Reads the journals, and drives what needs something; resolves once none of it is due. */
  async resume(): Promise<void> {
    await this.#deps.store.reload();
    await this.#removeStrays();
    const drives = await this.#takeOverAll();
    await Promise.all(drives.map((drive) => drive.whenIdle()));
  }

  /** Resumes, and polls the runs of this window whose last poll failed, each at most once a minute. */
  async focused(): Promise<void> {
    await this.resume();
    const now = this.#deps.clock.monotonic();
    for (const drive of this.#drives.values()) {
      const run = this.#deps.store.get(drive.id);
      const hasFailed = run !== undefined && isLive(run) && run.trouble !== undefined && !needsToken(run);
      if (!hasFailed || now - (this.#focusPolls.get(drive.id) ?? -Infinity) < focusPollMs) continue;
      this.#focusPolls.set(drive.id, now);
      await this.#pollNow(drive);
    }
  }

  /** For a person who asks about one live run, or all of them: polls, unless `Retry-After` has not passed. */
  async checkNow(id?: string): Promise<void> {
    const { store } = this.#deps;
    await store.reload();
    await this.#takeOverAll();
    const runs = store.all().filter((run) => isLive(run) && (id === undefined || run.id === id)) as LiveRun[];
    await Promise.all(
      runs.map((run) => {
        const drive = this.driveOf(run.id);
        return drive === undefined ? this.#ask(run) : this.#pollNow(drive);
      }),
    );
  }

  /** Drives on with what waits for a token. `isNewSource`: a person changed where tokens come from. */
  async tokenChanged(isTokenOf: (run: Run) => boolean, isNewSource: boolean): Promise<void> {
    const { store, clock, random } = this.#deps;
    await Promise.all(
      store
        .all()
        .filter(isTokenOf)
        .map(async ({ id }) => {
          const event = { type: 'tokenChanged', isNewSource, jitter: random(), at: clock.now() } as const;
          // A step under way may be the one that finds that it needs another token.
          const held = this.#drives.get(id);
          if ((await held?.record(event)) === true) return held?.whenIdle();
          const run = store.get(id);
          if (run === undefined || !mayNeedOtherToken(run)) return;
          this.#tokenChanges.set(id, event);
          await (await this.#tryToTake(id))?.whenIdle();
        }),
    );
  }

  /** Takes the lease of a run and drives it; undefined while a living window, also this one, has it. */
  async take(id: string, { newRun, start, first }: TakeOptions = {}): Promise<Drive | undefined> {
    const held = this.#drives.get(id);
    if (this.#stop.signal.aborted || this.#taking.has(id) || held?.hasEnded === false) return undefined;
    const { store, clock } = this.#deps;
    this.#taking.add(id);
    try {
      await held?.ended;
      const lease = await takeLease(join(store.folderOf(id), 'lease'), clock);
      if (lease === undefined) return undefined;
      const tokenChange = this.#tokenChanges.get(id);
      try {
        if (newRun !== undefined) await store.create(newRun);
        // The previous holder may have advanced it.
        else if (!(await this.#readLatest(id))) {
          await lease.release();
          return undefined;
        }
        for (const event of [first, tokenChange]) if (event !== undefined) await store.apply(id, event);
        if (this.#tokenChanges.get(id) === tokenChange) this.#tokenChanges.delete(id);
      } catch (error) {
        await lease.release();
        throw error;
      }
      const drive = new Drive(id, { lease, start }, this.#deps);
      this.#drives.set(id, drive);
      this.#failing.delete(id);
      void drive.ended.then(() => {
        if (this.#drives.get(id) === drive) this.#drives.delete(id);
      });
      if (this.stopped.aborted) drive.stop();
      this.#beat();
      return drive;
    } finally {
      this.#taking.delete(id);
    }
  }

  /** Stops driving a run, for a person who removes it or sends it again. */
  async giveUp(id: string): Promise<void> {
    const drive = this.#drives.get(id);
    drive?.stop();
    await drive?.ended;
  }

  /** Drives what a person's event has left to do; resolves once none of it is due. */
  async drive(id: string): Promise<void> {
    const drive = this.driveOf(id) ?? (await this.#tryToTake(id));
    drive?.look();
    await drive?.whenIdle();
  }

  /** Gives all leases back, so that another window can take over at once. */
  stop(): void {
    this.#following.dispose();
    this.#stop.abort(new DOMException('Disposed', 'AbortError'));
    for (const drive of this.#drives.values()) drive.stop();
  }

  /** Asks without the lease; the window that has it reads the answer in the journal. */
  async #ask(run: LiveRun): Promise<void> {
    const { store, clock } = this.#deps;
    if (run.state === 'collecting') return;
    if (run.check !== undefined && !isOver(run.check, clock.monotonic(), clock, true)) return;
    try {
      await store.apply(run.id, await poll(run, { ...this.#deps, isExtra: true }));
    } catch (error) {
      if (isAbortError(error)) throw error;
      await store.apply(run.id, toPollFailed(run, error, { ...this.#deps, isExtra: true }));
    }
  }

  /** Nobody waits for a long step that is already under way. */
  async #pollNow(drive: Drive): Promise<void> {
    const { step } = drive;
    if (step !== undefined && step !== 'poll') return;
    if (step === undefined) drive.hurry('person');
    await drive.whenIdle();
  }

  async #removeStrays(): Promise<void> {
    const { store, clock, log } = this.#deps;
    if (store.problem !== undefined || clock.monotonic() - this.#strayCheckAt < strayCheckMs) return;
    this.#strayCheckAt = clock.monotonic();
    try {
      this.#areStraysDue = await removeStrays(await store.foldersWithoutJournal(), clock);
    } catch (error) {
      this.#areStraysDue = false;
      log.warn(`Files of ended processes could not be removed: ${String(error)}`);
    }
  }

  /** Takes over every run that needs something; a failure with one does not stop the others. */
  async #takeOverAll(): Promise<Drive[]> {
    this.#beat();
    // Where no lease can be written, runs are shown as last saved.
    if (this.#deps.store.problem !== undefined || this.#isTornAway()) return [];
    const runs = this.#deps.store.all().filter((run) => !this.#drives.has(run.id) && this.#isOwed(run));
    const taken = await Promise.all(runs.map(({ id }) => this.#tryToTake(id)));
    return taken.filter((drive) => drive !== undefined);
  }

  async #tryToTake(id: string): Promise<Drive | undefined> {
    try {
      return await this.take(id);
    } catch (error) {
      this.#warnOnce(id, `Run ${id} could not be taken over: ${String(error)}`);
      this.#beat();
      return undefined;
    }
  }

  async #readLatest(id: string): Promise<boolean> {
    const { store, clock, log } = this.#deps;
    await sweepTemporary(store.folderOf(id), clock.now()).catch((error: unknown) => {
      log.warn(`Run ${id}: files of unfinished writes could not be removed: ${String(error)}`);
    });
    return (await store.refresh(id)) !== undefined;
  }

  /** True while some window has to act on a run. */
  #isOwed(run: Run): boolean {
    return this.#tokenChanges.has(run.id) || next(run, circumstances(this.#deps, false)).length > 0;
  }

  #isBeatNeeded(): boolean {
    return (
      this.#drives.size > 0 || this.#areStraysDue || this.#deps.store.all().some((run) => this.#isOwed(run))
    );
  }

  /** Starts the beat, unless nothing is to do: an idle window has no timer. */
  #beat(): void {
    if (this.#isBeating || this.#stop.signal.aborted || !this.#isBeatNeeded()) return;
    this.#isBeating = true;
    this.#beats().catch((error: unknown) => {
      if (!isAbortError(error)) this.#deps.log.error(`The beat stopped: ${String(error)}`);
    });
  }

  async #beats(): Promise<void> {
    const { clock, log } = this.#deps;
    try {
      while (this.#isBeatNeeded()) {
        const [wall, monotonic] = [clock.now(), clock.monotonic()];
        await clock.sleep(beatMs, this.#stop.signal);
        const passed = clock.monotonic() - monotonic;
        const jumped = passed > jumpMs || Math.abs(clock.now() - wall - passed) > jumpMs;
        if (jumped) log.info('The machine slept, or its clock was changed: polling every run');
        await this.#onBeat(jumped);
      }
    } finally {
      this.#isBeating = false;
    }
  }

  async #onBeat(jumped: boolean): Promise<void> {
    // A question that is still open counts from the jump.
    if (jumped && this.#askedSince !== undefined) this.#askedSince = this.#deps.clock.monotonic();
    void this.#askWorkbench();
    if (this.#isTornAway()) {
      // An accepted run that is not saved is kept in memory.
      for (const drive of this.#drives.values())
        if (!drive.isStarting && drive.unsavedRunId === undefined) drive.stop();
    }
    await Promise.all([...this.#drives.values()].map((drive) => this.#renew(drive)));
    if (jumped) for (const drive of this.#drives.values()) drive.hurry('jump');
    await this.#deps.store
      .readOpen((run) => this.#isOwed(run))
      .catch((error: unknown) => {
        this.#deps.log.error(`The journals could not be read: ${String(error)}`);
      });
    await this.#removeStrays();
    void this.#takeOverAll();
    for (const drive of this.#drives.values()) drive.look();
  }

  async #renew(drive: Drive): Promise<void> {
    try {
      // After a start request, the drive itself looks whether it may go on.
      if (!(await drive.renewLease()) && drive.step !== 'send' && drive.unsavedRunId === undefined)
        drive.stop(new AssessmentError('busyElsewhere'));
      this.#failing.delete(drive.id);
    } catch (error) {
      // The lease is kept until another window takes it.
      this.#warnOnce(drive.id, `The lease of run ${drive.id} could not be renewed: ${String(error)}`);
    }
  }

  /** The disk may be full or read-only for days. */
  #warnOnce(id: string, message: string): void {
    this.#deps.log[this.#failing.has(id) ? 'debug' : 'warn'](message);
    this.#failing.add(id);
  }

  async #askWorkbench(): Promise<void> {
    const { askWorkbench, clock, log } = this.#deps;
    if (askWorkbench === undefined || this.#isAsking) return;
    this.#isAsking = true;
    this.#askedSince ??= clock.monotonic();
    try {
      await askWorkbench();
      this.#askedSince = undefined;
    } catch (error) {
      log.debug(`The workbench did not answer: ${String(error)}`);
    } finally {
      this.#isAsking = false;
    }
  }

  #isTornAway(): boolean {
    return this.#askedSince !== undefined && this.#deps.clock.monotonic() - this.#askedSince >= maxAnswerMs;
  }
}

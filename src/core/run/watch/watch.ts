import { isAbortError } from '../../errors.ts';
import { sweepTemporary } from '../../files.ts';
import { type Clock, type Disposable, Emitter } from '../../ports.ts';
import { Finisher } from '../finish/finishRun.ts';
import { cleanUp } from '../finish/localCleanup.ts';
import { UploadRemoval } from '../finish/removeUploads.ts';
import type { RunDeps } from '../runDeps.ts';
import { isGivenUp } from '../state/deadlines.ts';
import { isFinal, isLive, isPreparing, phaseOf, type Run } from '../state/run.ts';
import { Poller } from './poll.ts';
import { Schedule, WakingTime } from './schedule.ts';

const cleanUpEveryMs = 60 * 60 * 1000;
const heartbeatMs = 5_000;
/** A longer gap between heartbeats, or between the clocks, means sleep or a changed clock. */
const jumpMs = 30_000;

/** Takes over the runs that no living window drives, polls them when it is time, and sees each to its end. */
export class RunWatch {
  readonly schedule: Schedule;
  readonly uploads: UploadRemoval;
  readonly finisher: Finisher;
  readonly poller: Poller;
  readonly #deps: RunDeps;
  readonly #stop = new AbortController();
  readonly #nearRetention = new Emitter<Run>();
  readonly #waking: WakingTime;
  #isBeating = false;
  #cleanedUpAt = -Infinity;
  /** True while something here is due for removal and waits for its waking time. */
  #isCleanUpDue = false;
  #following: Disposable | undefined;

  constructor(deps: RunDeps) {
    this.#deps = deps;
    this.#waking = new WakingTime(deps.clock);
    this.schedule = new Schedule(deps);
    this.uploads = new UploadRemoval(deps);
    this.finisher = new Finisher(deps, this.schedule, this.uploads);
    this.poller = new Poller(deps, this.schedule, this.finisher, this.stopped);
  }

  /** Called once, in one window, with each run whose results are not here and may soon be deleted by the service. */
  readonly onDidNearRetention = this.#nearRetention.event;

  /** Aborts when watching stops. */
  get stopped(): AbortSignal {
    return this.#stop.signal;
  }

  /** Aborts when the given signal does, or when watching stops. */
  until(cancelled: AbortSignal | undefined): AbortSignal {
    return AbortSignal.any([this.stopped, ...(cancelled === undefined ? [] : [cancelled])]);
  }

  /** From now on changes by another window count here: what it leaves to do keeps this window's heartbeat going, since that window may die, and results of a run that it saw exit are downloaded at once. */
  follow(): void {
    this.#following ??= this.#deps.store.onDidChange((run) => {
      if (this.#needsTime(run)) this.#startBeating();
      if (run.state === 'collecting' && run.trouble === undefined) this.schedule.planPoll(run.id, 0);
    });
  }

  /** Stops polling and releases the leases, so that another window can take over at once. */
  stop(): void {
    this.#following?.dispose();
    this.#stop.abort(new DOMException('Disposed', 'AbortError'));
    void this.schedule.releaseAll();
  }

  /** Takes the lease of a run, which the heartbeat renews; false while another living window drives it, or this one does already. */
  async take(id: string): Promise<boolean> {
    const isTaken = await this.schedule.take(id);
    if (isTaken) this.#startBeating();
    return isTaken;
  }

  /** Takes over every run that `needsCare` and that no living window drives; a failure with one does not stop the others. */
  async takeOverAll(needsCare: (run: Run) => boolean): Promise<void> {
    const { store, log } = this.#deps;
    // Before what may take long, such as the removal of uploads.
    this.#startBeating();
    // Where no lease can be written, runs are shown as last saved.
    if (store.problem !== undefined) return;
    const runs = store.all().filter((run) => !this.schedule.has(run.id) && needsCare(run));
    await Promise.all(
      runs.map(({ id }) =>
        this.#takeOver(id).catch((error: unknown) => {
          log.error(`Run ${id} could not be taken over: ${String(error)}`);
        }),
      ),
    );
  }

  async #takeOver(id: string): Promise<void> {
    if (this.#stop.signal.aborted || !(await this.take(id))) return;
    try {
      await this.#goOn(id);
    } catch (error) {
      await this.schedule.release(id);
      throw error;
    }
  }

  /** Goes on with a run just taken, from where its journal says. */
  async #goOn(id: string): Promise<void> {
    const { store, clock, log } = this.#deps;
    await sweepTemporary(store.folderOf(id), clock.now()).catch((error: unknown) => {
      log.warn(`Run ${id}: files of unfinished writes could not be removed: ${String(error)}`);
    });
    // Re-read: the previous holder may have advanced it.
    const found = await store.refresh(id);
    if (found === undefined) return this.schedule.release(id);
    // Nothing of it has left the machine.
    if (phaseOf(found) === 'packaging') return this.discard(id);
    const isInterrupted = isPreparing(found) || found.state === 'dispatching';
    const run = isInterrupted ? await this.#afterInterruption(found) : found;
    if (isLive(run)) {
      this.schedule.setNotBefore(id, run.trouble?.notBefore);
      this.schedule.planPoll(id, 0);
    } else if (isFinal(run) || isInterrupted) await this.finisher.finish(run);
    else await this.schedule.release(id);
  }

  async #afterInterruption({ id }: Run): Promise<Run> {
    const { store, clock } = this.#deps;
    const run = await store.apply(id, { type: 'takenOver', at: clock.now() });
    // A listener of the store may have given a lost dispatch the run ID of its note.
    return (await store.refresh(id)) ?? run;
  }

  /** True for a run that waits for nothing but a window. */
  isOpen(run: Run): boolean {
    return isFinal(run) ? this.finisher.isNoticeDue(run) : run.state !== 'unknown';
  }

  /** True for an open run, and for an ended one whose uploads are to be removed now. */
  isUnfinished(run: Run): boolean {
    return this.isOpen(run) || this.uploads.isDue(run);
  }

  /** True for a run for which something is left to do as time passes. */
  #needsTime(run: Run): boolean {
    return this.isOpen(run) || this.uploads.isPending(run);
  }

  /** Removes a run of which nothing has left the machine. */
  async discard(id: string): Promise<void> {
    await this.schedule.release(id);
    await this.#deps.store.remove(id);
  }

  /** Ends a live run that no longer answers; false when it answers again or has ended. */
  async unwatch(id: string, by: 'person' | 'time'): Promise<boolean> {
    const { store, clock, log } = this.#deps;
    const run = await store.applyIfDue(id, { type: 'unwatched', by, at: clock.now() });
    if (run === undefined) return false;
    log.info(`Run ${id} is no longer watched`);
    await this.finisher.finish(run);
    return true;
  }

  /** Local maintenance, once an hour at most. */
  async cleanUp(): Promise<void> {
    const { clock } = this.#deps;
    if (clock.monotonic() - this.#cleanedUpAt < cleanUpEveryMs) return;
    this.#cleanedUpAt = clock.monotonic();
    const { nearing, isDue } = await cleanUp({
      ...this.#deps,
      schedule: this.schedule,
      waking: this.#waking,
    });
    this.#isCleanUpDue = isDue;
    if (isDue) this.#startBeating();
    for (const run of nearing) this.#nearRetention.fire(run);
  }

  /** Starts the heartbeat, unless it beats already or watching has stopped. */
  #startBeating(): void {
    if (this.#isBeating || this.stopped.aborted) return;
    this.#isBeating = true;
    this.#beat().catch((error: unknown) => {
      if (!isAbortError(error)) this.#deps.log.error(`The heartbeat stopped: ${String(error)}`);
    });
  }

  /** Beats while something needs it, so that an idle window holds no timer. */
  async #beat(): Promise<void> {
    const { clock, log } = this.#deps;
    try {
      while (this.#isBeatNeeded()) {
        const jumped = await nextHeartbeat(clock, this.stopped);
        if (jumped) log.info('The machine slept, or its clock was changed: polling every run');
        await this.#onBeat(jumped);
      }
    } finally {
      this.#isBeating = false;
    }
  }

  #isBeatNeeded(): boolean {
    if (this.schedule.ids().length > 0 || this.#isCleanUpDue) return true;
    return this.#deps.store.all().some((run) => this.#needsTime(run));
  }

  async #onBeat(jumped: boolean): Promise<void> {
    const { store, clock, log } = this.#deps;
    try {
      await this.schedule.renewAll();
      await store.reload();
      void this.takeOverAll((run) => this.isUnfinished(run));
      await this.cleanUp();
    } catch (error) {
      log.error(`The journals could not be read: ${String(error)}`);
    }
    for (const id of this.schedule.ids()) {
      const run = store.get(id);
      if (run === undefined || !isGivenUp(run, clock.now())) continue;
      this.unwatch(id, 'time').catch((error: unknown) => log.error(`Run ${id}: ${String(error)}`));
    }
    this.poller.pollDue(jumped);
  }
}

/** Resolves with the next heartbeat: true when the machine slept or its clock was changed meanwhile. */
export async function nextHeartbeat(clock: Clock, stopped: AbortSignal): Promise<boolean> {
  const [wall, monotonic] = [clock.now(), clock.monotonic()];
  await clock.sleep(heartbeatMs, stopped);
  const passed = clock.monotonic() - monotonic;
  return passed > jumpMs || Math.abs(clock.now() - wall - passed) > jumpMs;
}

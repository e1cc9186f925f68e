import { sweepTemporary } from '../../files.ts';
import { type Disposable, Emitter } from '../../ports.ts';
import type { HeldLeases } from '../disk/heldLeases.ts';
import { Finisher } from '../finish/finishRun.ts';
import { cleanUp } from '../finish/localCleanup.ts';
import { UploadRemoval } from '../finish/removeUploads.ts';
import type { RunDeps } from '../runDeps.ts';
import { isGivenUp } from '../state/deadlines.ts';
import { isFinal, isLive, isPreparing, needsPerson, needsToken, phaseOf, type Run } from '../state/run.ts';
import { WakingTime } from '../state/wakingTime.ts';
import { Heartbeat } from './heartbeat.ts';
import { Poller } from './poll.ts';
import { Schedule } from './schedule.ts';

const cleanUpEveryMs = 60 * 60 * 1000;

/**
 * Takes over the runs that no living window drives, polls them when it is time, and sees each to its end. It acts when the window starts
 * (`resume`), gets the focus (`focused`), has another token (`tokenChanged`), when a person asks (`checkNow`), when another window changes a run
 * (`#onChange`), and at each heartbeat, every 5 s while something is left to do (`#onBeat`).
 */
export class RunWatch {
  readonly #deps: RunDeps & { readonly leases: HeldLeases; readonly waking: WakingTime };
  readonly #schedule: Schedule;
  readonly #uploads: UploadRemoval;
  readonly #finisher: Finisher;
  readonly #poller: Poller;
  readonly #heartbeat: Heartbeat;
  readonly #stop = new AbortController();
  readonly #nearRetention = new Emitter<Run>();
  #cleanedUpAt = -Infinity;
  /** True while something here is due for removal and waits for its waking time. */
  #isCleanUpDue = false;
  #following: Disposable | undefined;
  readonly onDidEnd: Finisher['onDidEnd'];

  constructor(runDeps: RunDeps, leases: HeldLeases) {
    const deps = { ...runDeps, leases, waking: new WakingTime(runDeps.clock), stopped: this.stopped };
    this.#deps = deps;
    this.#schedule = new Schedule(leases, deps.clock);
    this.#uploads = new UploadRemoval(deps);
    this.#finisher = new Finisher({ ...deps, uploads: this.#uploads });
    this.#poller = new Poller({ ...deps, schedule: this.#schedule, finisher: this.#finisher });
    this.#heartbeat = new Heartbeat({
      ...deps,
      isNeeded: () => this.#isBeatNeeded(),
      onBeat: (jumped) => this.#onBeat(jumped),
    });
    this.onDidEnd = this.#finisher.onDidEnd;
  }

  /** Called once, in one window, with each run whose results are not here and may soon be deleted by the service. */
  readonly onDidNearRetention = this.#nearRetention.event;

  get stopped(): AbortSignal {
    return this.#stop.signal;
  }

  until(cancelled: AbortSignal | undefined): AbortSignal {
    return AbortSignal.any([this.stopped, ...(cancelled === undefined ? [] : [cancelled])]);
  }

  /** Reads the journals and goes on from what they say, except for runs that another window drives. */
  async resume(): Promise<void> {
    await this.#deps.store.reload();
    this.#following ??= this.#deps.store.onDidChange((run) => this.#onChange(run));
    await this.#takeOverAll((run) => this.#isUnfinished(run));
    await this.#cleanUp();
  }

  /** As `resume`, and polls at once what could not be polled last time. A run that waits for a token still waits for it. */
  async focused(): Promise<void> {
    await this.resume();
    const { store } = this.#deps;
    const failed = store.all().filter((run) => isLive(run) && run.trouble !== undefined && !needsToken(run));
    await Promise.all(failed.map(({ id }) => this.#poller.poll(id)));
  }

  /** Polls one run, or all live ones, at once, except before `Retry-After` has passed. */
  async checkNow(id?: string): Promise<void> {
    const { store } = this.#deps;
    await store.reload();
    const runs = store.all().filter((run) => (id === undefined || run.id === id) && isLive(run));
    await this.#takeOverAll((run) => runs.includes(run));
    await Promise.all(runs.map((run) => this.#poller.poll(run.id)));
  }

  /**
   * Polls the runs of this window that waited for the changed token (`isTokenOf`), and removes the uploads that did. `isNewSource` says that a
   * person changed where tokens come from.
   */
  async tokenChanged(isTokenOf: (run: Run) => boolean, isNewSource: boolean): Promise<void> {
    const { store } = this.#deps;
    const waiting = store.all().filter((run) => isLive(run) && needsPerson(run) && isTokenOf(run));
    this.#uploads.tokenChanged(isTokenOf, isNewSource);
    await Promise.all([
      ...waiting.map(({ id }) => this.#poller.pollWithNewToken(id, isNewSource)),
      this.#takeOverAll((run) => this.#isUnfinished(run) && isTokenOf(run)),
    ]);
  }

  /** Stops polling and releases the leases, so that another window can take over at once. */
  stop(): void {
    this.#following?.dispose();
    this.#stop.abort(new DOMException('Disposed', 'AbortError'));
    void this.#deps.leases.releaseAll();
  }

  nextPollAt(id: string): number | undefined {
    return this.#schedule.nextPollAt(id);
  }

  /** Takes the lease of a run, which the heartbeat renews; false while another living window drives it, or this one does already. */
  async take(id: string): Promise<boolean> {
    const isTaken = await this.#deps.leases.take(id);
    if (isTaken) this.#heartbeat.start();
    return isTaken;
  }

  isFinishing(id: string): boolean {
    return this.#finisher.isFinishing(id);
  }

  settle(run: Run): Promise<Run> {
    return this.#poller.settle(run);
  }

  /** Removes a run of which nothing has left the machine. */
  async discard(id: string): Promise<void> {
    await this.#deps.leases.release(id);
    await this.#deps.store.remove(id);
  }

  /** Ends a live run that no longer answers; false when it answers again or has ended. */
  async unwatch(id: string, by: 'person' | 'time'): Promise<boolean> {
    const { store, clock, log } = this.#deps;
    const run = await store.applyIfDue(id, { type: 'unwatched', by, at: clock.now() });
    if (run === undefined) return false;
    log.info(`Run ${id} is no longer watched`);
    await this.settle(run);
    return true;
  }

  /** Keeps beating while another window, which may die, leaves work unfinished, and downloads at once the results of a run that it saw exit. */
  #onChange(run: Run): void {
    if (this.#needsTime(run)) this.#heartbeat.start();
    if (run.state === 'collecting' && run.trouble === undefined) this.#schedule.planPoll(run.id, 0);
  }

  /** Takes over every run that `needsCare` and that no living window drives; a failure with one does not stop the others. */
  async #takeOverAll(needsCare: (run: Run) => boolean): Promise<void> {
    const { store, log } = this.#deps;
    // Before what may take long, such as the removal of uploads.
    this.#heartbeat.start();
    // Where no lease can be written, runs are shown as last saved.
    if (store.problem !== undefined) return;
    const runs = store.all().filter((run) => !this.#deps.leases.has(run.id) && needsCare(run));
    await Promise.all(
      runs.map(({ id }) =>
        this.#takeOver(id).catch((error: unknown) => {
          log.error(`Run ${id} could not be taken over: ${String(error)}`);
        }),
      ),
    );
  }

  async #takeOver(id: string): Promise<void> {
    if (this.stopped.aborted || !(await this.take(id))) return;
    try {
      await this.#goOn(id);
    } catch (error) {
      await this.#deps.leases.release(id);
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
    if (found === undefined) return this.#deps.leases.release(id);
    // Nothing of it has left the machine.
    if (phaseOf(found) === 'packaging') return this.discard(id);
    const isInterrupted = isPreparing(found) || found.state === 'dispatching';
    const run = isInterrupted ? await this.#afterInterruption(found) : found;
    if (isLive(run)) {
      this.#schedule.setNotBefore(id, run.trouble?.notBefore);
      this.#schedule.planPoll(id, 0);
    } else if (isFinal(run) || isInterrupted) await this.settle(run);
    else await this.#deps.leases.release(id);
  }

  async #afterInterruption({ id }: Run): Promise<Run> {
    const { store, clock } = this.#deps;
    const run = await store.apply(id, { type: 'takenOver', at: clock.now() });
    // A listener of the store may have given a lost dispatch the run ID of its note.
    return (await store.refresh(id)) ?? run;
  }

  /** True while some window still has to act on a run. */
  #isOpen(run: Run): boolean {
    return isFinal(run) ? this.#finisher.isNoticeDue(run) : run.state !== 'unknown';
  }

  /** True for an open run, and for an ended one whose uploads are to be removed now. */
  #isUnfinished(run: Run): boolean {
    return this.#isOpen(run) || this.#uploads.isDue(run);
  }

  /** True for a run for which something is left to do as time passes. */
  #needsTime(run: Run): boolean {
    return this.#isOpen(run) || this.#uploads.isPending(run);
  }

  /** Local maintenance, once an hour at most. */
  async #cleanUp(): Promise<void> {
    const { clock } = this.#deps;
    if (clock.monotonic() - this.#cleanedUpAt < cleanUpEveryMs) return;
    this.#cleanedUpAt = clock.monotonic();
    const { nearing, isDue } = await cleanUp(this.#deps);
    this.#isCleanUpDue = isDue;
    if (isDue) this.#heartbeat.start();
    for (const run of nearing) this.#nearRetention.fire(run);
  }

  /** True while this window drives a run, or something is left to do for some window. */
  #isBeatNeeded(): boolean {
    if (this.#deps.leases.ids().length > 0 || this.#isCleanUpDue) return true;
    return this.#deps.store.all().some((run) => this.#needsTime(run));
  }

  /**
   * Renews the leases, takes over what other windows left, cleans up, gives runs up, and polls those whose time has come. A run is given up after
   * 30 days without a good answer, with at least 48 polls in vain over 24 h of waking time (`isGivenUp`).
   */
  async #onBeat(jumped: boolean): Promise<void> {
    const { store, clock, log } = this.#deps;
    try {
      await this.#deps.leases.renewAll();
      await store.reload();
      void this.#takeOverAll((run) => this.#isUnfinished(run));
      await this.#cleanUp();
    } catch (error) {
      log.error(`The journals could not be read: ${String(error)}`);
    }
    for (const id of this.#deps.leases.ids()) {
      const run = store.get(id);
      if (run === undefined || !isGivenUp(run, clock.now())) continue;
      this.unwatch(id, 'time').catch((error: unknown) => log.error(`Run ${id}: ${String(error)}`));
    }
    this.#poller.pollDue(jumped);
  }
}

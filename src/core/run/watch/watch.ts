import { sweepTemporary } from '../../files.ts';
import { type Disposable, Emitter, type Event } from '../../ports.ts';
import type { HeldLeases } from '../disk/heldLeases.ts';
import { Finisher } from '../finish/finishRun.ts';
import { cleanUp } from '../finish/localCleanup.ts';
import { UploadRemoval } from '../finish/removeUploads.ts';
import type { RunDeps } from '../runDeps.ts';
import { isGivenUp } from '../state/deadlines.ts';
import { isFinal, isLive, needsPerson, needsToken, phaseOf, type Run } from '../state/run.ts';
import { WakingTime } from '../state/wakingTime.ts';
import { Heartbeat } from './heartbeat.ts';
import { Poller } from './poll.ts';
import { Schedule } from './schedule.ts';

const cleanUpEveryMs = 60 * 60 * 1000;

/**
 * Takes over runs that no living window drives; a `Poller` polls them and a `Finisher` finishes them. Six things trigger it: the window starts
 * (`resume`) or gets the focus (`focused`); a token changes (`tokenChanged`); a person asks (`checkNow`); another window changes a run (`#onChange`);
 * the heartbeat, every 5 s while work is left (`#onBeat`).
 */
export class RunWatch {
  readonly #deps: RunDeps & { readonly leases: HeldLeases; readonly waking: WakingTime };
  readonly #schedule: Schedule;
  readonly #uploads: UploadRemoval;
  readonly #finisher: Finisher;
  readonly #poller: Poller;
  readonly #heartbeat: Heartbeat;
  readonly #stop = new AbortController();
  readonly #nearRetention: Emitter<Run>;
  #cleanedUpAt = -Infinity;
  /** True while local files are due for removal and wait for waking time to pass. */
  #isCleanUpDue = false;
  #following: Disposable | undefined;
  readonly onDidEnd: Finisher['onDidEnd'];

  constructor(runDeps: RunDeps, leases: HeldLeases) {
    const deps = { ...runDeps, leases, waking: new WakingTime(runDeps.clock), stopped: this.stopped };
    this.#deps = deps;
    this.#nearRetention = new Emitter(deps.log);
    this.onDidNearRetention = this.#nearRetention.event;
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

  /** Called once, in one window, with each run whose results the service may soon delete and this machine does not have. */
  readonly onDidNearRetention: Event<Run>;

  get stopped(): AbortSignal {
    return this.#stop.signal;
  }

  stoppedOr(cancelled: AbortSignal | undefined): AbortSignal {
    return AbortSignal.any([this.stopped, ...(cancelled === undefined ? [] : [cancelled])]);
  }

  /** Reads the journals and takes over every run that has work left and that no other window drives. */
  async resume(): Promise<void> {
    await this.#deps.store.reload();
    this.#following ??= this.#deps.store.onDidChange((run) => this.#onChange(run));
    await this.#takeOverAll((run) => this.#hasWorkNow(run));
    await this.#cleanUp();
  }

  /** Resumes, and polls each run whose last poll failed, except those that wait for a token. */
  async focused(): Promise<void> {
    await this.resume();
    const { store } = this.#deps;
    const failed = store.all().filter((run) => isLive(run) && run.trouble !== undefined && !needsToken(run));
    await Promise.all(failed.map(({ id }) => this.#poller.poll(id)));
  }

  /** Polls one live run, or all of them, unless `Retry-After` has not passed. */
  async checkNow(id?: string): Promise<void> {
    const { store } = this.#deps;
    await store.reload();
    const runs = store.all().filter((run) => (id === undefined || run.id === id) && isLive(run));
    await this.#takeOverAll((run) => runs.includes(run));
    await Promise.all(runs.map((run) => this.#poller.poll(run.id)));
  }

  /**
   * Polls runs that waited for the changed token, and removes uploads that did. `isTokenOf` says which runs use the token; `isNewSource`, that a
   * person changed where tokens come from.
   */
  async tokenChanged(isTokenOf: (run: Run) => boolean, isNewSource: boolean): Promise<void> {
    const { store } = this.#deps;
    const waiting = store.all().filter((run) => isLive(run) && needsPerson(run) && isTokenOf(run));
    this.#uploads.tokenChanged(isTokenOf, isNewSource);
    await Promise.all([
      ...waiting.map(({ id }) => this.#poller.pollWithNewToken(id, isNewSource)),
      this.#takeOverAll((run) => this.#hasWorkNow(run) && isTokenOf(run)),
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

  /** Takes the lease of a run, which the heartbeat renews; false while a living window, also this one, has it. */
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

  /** The heartbeat takes over a run whose window dies. Results of a run that another window has seen exit are downloaded at once. */
  #onChange(run: Run): void {
    if (this.#hasWorkLeft(run)) this.#heartbeat.start();
    if (run.state === 'collecting' && run.trouble === undefined) this.#schedule.planPoll(run.id, 0);
  }

  /** Renews the leases, takes over what other windows left, cleans up, gives up runs that no longer answer (`isGivenUp`), and polls those that are due. */
  async #onBeat(jumped: boolean): Promise<void> {
    const { store, clock, log } = this.#deps;
    try {
      await this.#deps.leases.renewAll();
      await store.reload();
      void this.#takeOverAll((run) => this.#hasWorkNow(run));
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

  /** Takes over every run of the `filter` that no living window drives; a failure with one does not stop the others. */
  async #takeOverAll(filter: (run: Run) => boolean): Promise<void> {
    const { store, log } = this.#deps;
    // Started before work that may take long, such as the removal of uploads.
    this.#heartbeat.start();
    // Where no lease can be written, runs are shown as last saved.
    if (store.problem !== undefined) return;
    const runs = store.all().filter((run) => !this.#deps.leases.has(run.id) && filter(run));
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
      await this.#continue(id);
    } catch (error) {
      await this.#deps.leases.release(id);
      throw error;
    }
  }

  /** Continues a run whose lease was just taken, from the state in its journal. */
  async #continue(id: string): Promise<void> {
    const { store, clock, log } = this.#deps;
    await sweepTemporary(store.folderOf(id), clock.now()).catch((error: unknown) => {
      log.warn(`Run ${id}: files of unfinished writes could not be removed: ${String(error)}`);
    });
    // The previous holder may have advanced it.
    const saved = await store.refresh(id);
    if (saved === undefined) return this.#deps.leases.release(id);
    // Nothing of it has left the machine.
    if (phaseOf(saved) === 'packaging') return this.discard(id);
    const isInterrupted = saved.state === 'preparing' || saved.state === 'dispatching';
    const run = isInterrupted ? await this.#interrupt(saved) : saved;
    if (isLive(run)) {
      this.#schedule.setNotBefore(id, run.trouble?.notBefore);
      this.#schedule.planPoll(id, 0);
    } else if (isFinal(run) || isInterrupted) await this.settle(run);
    // An `unknown` run waits for a person.
    else await this.#deps.leases.release(id);
  }

  /** Ends a start whose window has gone. */
  async #interrupt({ id }: Run): Promise<Run> {
    const { store, clock } = this.#deps;
    const run = await store.apply(id, { type: 'takenOver', at: clock.now() });
    // `RunNotes` may have restored the run ID of a lost dispatch.
    return (await store.refresh(id)) ?? run;
  }

  async #cleanUp(): Promise<void> {
    const { clock } = this.#deps;
    if (clock.monotonic() - this.#cleanedUpAt < cleanUpEveryMs) return;
    this.#cleanedUpAt = clock.monotonic();
    const { nearing, isDue } = await cleanUp(this.#deps);
    this.#isCleanUpDue = isDue;
    if (isDue) this.#heartbeat.start();
    for (const run of nearing) this.#nearRetention.fire(run);
  }

  /** True while this window drives a run, or work is left that another window, which may die, has not done. */
  #isBeatNeeded(): boolean {
    if (this.#deps.leases.ids().length > 0 || this.#isCleanUpDue) return true;
    return this.#deps.store.all().some((run) => this.#hasWorkLeft(run));
  }

  /** True until a window has seen a run to its end and shown that. A run with a lost dispatch waits for a person. */
  #isOpen(run: Run): boolean {
    return isFinal(run) ? this.#finisher.isNoticeDue(run) : run.state !== 'unknown';
  }

  #hasWorkNow(run: Run): boolean {
    return this.#isOpen(run) || this.#uploads.isDue(run);
  }

  /** True for a run with work now, or with uploads to remove later. */
  #hasWorkLeft(run: Run): boolean {
    return this.#isOpen(run) || this.#uploads.isPending(run);
  }
}

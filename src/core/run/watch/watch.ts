import type { Disposable, Event } from '../../ports.ts';
import { sweepTemporary } from '../../files.ts';
import { needsArchives, removeArchives } from '../finish/archives.ts';
import { isGivenUp } from '../state/deadlines.ts';
import { DrivenRuns } from './schedule.ts';
import { Heartbeat } from './wakeUps.ts';
import { keepHouse } from '../finish/localCleanup.ts';
import { pollIntervalMs } from './pollSchedule.ts';
import { isFinal, isLive, isPreparing, type Run } from '../state/run.ts';
import { type CheckDeps, RunChecks } from './poll.ts';
import { Tidying, type TidyingDeps } from '../finish/tidying.ts';
import { WakingTime } from '../finish/wakingTime.ts';

/** What watching works with. */
export interface WatchDeps extends CheckDeps, TidyingDeps {
  /** For how many days ended runs stay on this machine. */
  readonly retainLocalDays: () => number;
}

const houseMs = 60 * 60 * 1000;

/** Takes up the runs that no living window drives, asks about them when it is time, and sees each to its end. */
export class RunWatch {
  readonly driven: DrivenRuns;
  readonly checks: RunChecks;
  readonly tidying: Tidying;
  readonly #deps: WatchDeps;
  readonly #heartbeat: Heartbeat;
  readonly #stop = new AbortController();
  readonly #endListeners = new Set<(run: Run) => void>();
  /** Runs whose end this window has told: where that could not be noted, it is not told twice here. */
  readonly #told = new Set<string>();
  readonly #retentionListeners = new Set<(run: Run) => void>();
  readonly #settling = new Set<string>();
  readonly #waking: WakingTime;
  #housedAt = -Infinity;
  /** True while something here is to go once that has been so for long. */
  #isHouseDue = false;
  #following: Disposable | undefined;

  constructor(deps: WatchDeps) {
    this.#deps = deps;
    this.#waking = new WakingTime(deps.clock);
    this.driven = new DrivenRuns(deps);
    this.tidying = new Tidying(deps);
    this.checks = new RunChecks(deps, {
      driven: this.driven,
      stopped: this.stopped,
      onAnswer: (run) => (isLive(run) ? this.dropArchives(run) : this.settle(run)),
    });
    this.#heartbeat = new Heartbeat({
      ...deps,
      stopped: this.stopped,
      isNeeded: () =>
        this.driven.size > 0 || this.#isHouseDue || deps.store.all().some((run) => this.#needsTime(run)),
      onBeat: (jumped) => this.#onBeat(jumped),
    });
  }

  /** Called once, in one window, with each run that reached its end or came to need a person. */
  readonly onDidEnd: Event<Run> = (listener): Disposable => {
    this.#endListeners.add(listener);
    return { dispose: () => this.#endListeners.delete(listener) };
  };

  /** Called once, in one window, with each run whose results are not here and soon on the service no more. */
  readonly onDidNearRetention: Event<Run> = (listener): Disposable => {
    this.#retentionListeners.add(listener);
    return { dispose: () => this.#retentionListeners.delete(listener) };
  };

  /** Aborts when watching stops. */
  get stopped(): AbortSignal {
    return this.#stop.signal;
  }

  /** Aborts when somebody cancels, or when watching stops. */
  until(cancelled: AbortSignal | undefined): AbortSignal {
    return AbortSignal.any([this.stopped, ...(cancelled === undefined ? [] : [cancelled])]);
  }

  /** From now on a run that another window leaves something to do for makes the heart beat here, too, for that window may die; and results that another window heard of are fetched here at once. */
  follow(): void {
    this.#following ??= this.#deps.store.onDidChange((run) => {
      if (this.#needsTime(run)) this.#heartbeat.start();
      if (run.state === 'collecting' && run.trouble === undefined) this.driven.schedule(run.id, 0);
    });
  }

  /** True while this window, which drives an ended run, tidies up after it. */
  isSettling(id: string): boolean {
    return this.#settling.has(id) && this.driven.has(id);
  }

  /** Stops asking and gives the leases back, so that another window can take over at once. */
  stop(): void {
    this.#following?.dispose();
    this.#stop.abort(new DOMException('Disposed', 'AbortError'));
    this.driven.letAllGo().catch((error: unknown) => {
      this.#deps.log.warn(`A lease could not be given back: ${String(error)}`);
    });
  }

  /** Takes the lease of a run, and keeps it with the heartbeat; false while another living window drives it, or this one does already. */
  async take(id: string): Promise<boolean> {
    const taken = await this.driven.take(id);
    if (taken) this.#heartbeat.start();
    return taken;
  }

  /** Takes up a run that no living window drives, in whatever state its journal is; the lease is given back when that fails. */
  async #adopt({ id }: Run): Promise<void> {
    if (this.#stop.signal.aborted || !(await this.take(id))) return;
    try {
      await this.#goOn(id);
    } catch (error) {
      await this.driven.letGo(id).catch((failure: unknown) => {
        this.#deps.log.warn(`The lease of run ${id} could not be given back: ${String(failure)}`);
      });
      throw error;
    }
  }

  /** Goes on with a run just taken, from where its journal says. */
  async #goOn(id: string): Promise<void> {
    const { store, clock, log } = this.#deps;
    await sweepTemporary(store.folderOf(id), clock.now()).catch((error: unknown) => {
      log.warn(`Run ${id}: what writes that never ended left could not be removed: ${String(error)}`);
    });
    // What was known before the lease is hearsay: the former holder may have moved on.
    const run = await store.refresh(id);
    const at = clock.now();
    if (run === undefined) {
      await this.driven.letGo(id);
    } else if (isLive(run)) {
      this.driven.noteQuiet(id, run.trouble?.notBefore);
      this.driven.schedule(id, 0);
      await this.dropArchives(run);
    } else if (run.state === 'packaging') {
      await this.discard(id);
    } else if (isPreparing(run)) {
      const failure = { kind: 'interrupted' } as const;
      await this.settle(await store.apply(id, { type: 'failed', failure, at }));
    } else if (run.state === 'dispatching') {
      const reason = { kind: 'interrupted' } as const;
      const lost = await store.apply(id, { type: 'dispatchLost', reason, at });
      // Its run ID may have been noted, and has been given to it then.
      await this.settle((await store.refresh(id)) ?? lost);
    } else if (isFinal(run)) {
      await this.settle(run);
    } else {
      await this.driven.letGo(id);
    }
  }

  /** Takes up every run that something is left to do for; a run that cannot be taken up does not keep the others from it. */
  async adoptAll(needsCare: (run: Run) => boolean): Promise<void> {
    const { store, log } = this.#deps;
    // Before what may take long: the service may want to be left alone while a run is tidied up after.
    this.#heartbeat.start();
    const runs = store.all().filter((run) => !this.driven.has(run.id) && needsCare(run));
    await Promise.all(
      runs.map((run) =>
        this.#adopt(run).catch((error: unknown) => {
          log.error(`Run ${run.id} could not be taken up: ${String(error)}`);
        }),
      ),
    );
  }

  /** True for a run that waits for nobody but a window. */
  isOpen(run: Run): boolean {
    if (isFinal(run)) return run.noticeDue && !this.#told.has(run.id);
    return run.state !== 'unknown';
  }

  /** True for an open run, and for an ended one that it is time to tidy up after. */
  isUnfinished(run: Run): boolean {
    return this.isOpen(run) || this.tidying.isDue(run);
  }

  /** True for a run that something is left to do for as time passes. */
  #needsTime(run: Run): boolean {
    return this.isOpen(run) || this.tidying.isWaiting(run);
  }

  /** Forgets a run of which nothing has left the machine. */
  async discard(id: string): Promise<void> {
    await this.driven.letGo(id);
    await this.#deps.store.remove(id);
  }

  /** Does what a state asks for once it is reached: plans the next look, or tells, tidies up and lets go. */
  async settle(run: Run): Promise<Run> {
    this.#settling.add(run.id);
    try {
      return await this.#settle(run);
    } finally {
      this.#settling.delete(run.id);
    }
  }

  async #settle(run: Run): Promise<Run> {
    const { store, random } = this.#deps;
    if (isLive(run)) {
      this.driven.schedule(run.id, pollIntervalMs(0, random()));
      return run;
    }
    await this.#tell(run);
    await this.dropArchives(run);
    if (isFinal(run)) await this.tidying.tidy(run);
    const latest = await store.refresh(run.id);
    await this.driven.letGo(run.id);
    return latest ?? run;
  }

  /** Noted before anybody is told, so that it is told once; where it cannot be noted, it is told all the same, and again by the next window. */
  async #tell(run: Run): Promise<void> {
    const { store, clock, log } = this.#deps;
    if (!this.driven.has(run.id)) return;
    const isDue = isFinal(run) ? run.noticeDue && !this.#told.has(run.id) : run.state === 'unknown';
    if (!isDue) return;
    if (isFinal(run)) {
      this.#told.add(run.id);
      await store.apply(run.id, { type: 'noticed', at: clock.now() }).catch((error: unknown) => {
        log.warn(`Run ${run.id}: that a person is told of its end was not noted: ${String(error)}`);
      });
    }
    for (const listener of [...this.#endListeners]) listener(run);
  }

  /** Keeps the house of runs, once an hour at most. */
  async keepHouse(): Promise<void> {
    const { clock } = this.#deps;
    if (clock.monotonic() - this.#housedAt < houseMs) return;
    this.#housedAt = clock.monotonic();
    const { nearing, isDue } = await keepHouse({ ...this.#deps, driven: this.driven, waking: this.#waking });
    this.#isHouseDue = isDue;
    if (isDue) this.#heartbeat.start();
    for (const run of nearing) for (const listener of [...this.#retentionListeners]) listener(run);
  }

  /** Lets a live run go that answers no more; false when it is not to be let go, because it answers again or has ended. */
  async unwatch(id: string, by: 'person' | 'time'): Promise<boolean> {
    const { store, clock, log } = this.#deps;
    const run = await store.applyIfDue(id, { type: 'unwatched', by, at: clock.now() });
    if (run === undefined) return false;
    log.info(`Run ${id} is watched no more`);
    await this.settle(run);
    return true;
  }

  /** Removes the local archives of a run that needs them no more. */
  async dropArchives(run: Run): Promise<void> {
    const { store, log } = this.#deps;
    if (needsArchives(run)) return;
    try {
      await removeArchives(run, store.folderOf(run.id));
    } catch (error) {
      log.warn(`Run ${run.id}: a local archive could not be removed: ${String(error)}`);
    }
  }

  async #onBeat(jumped: boolean): Promise<void> {
    const { store, log } = this.#deps;
    try {
      await this.driven.renewAll();
      await store.reload();
      void this.adoptAll((run) => this.isUnfinished(run));
      await this.keepHouse();
    } catch (error) {
      log.error(`The journals could not be read: ${String(error)}`);
    }
    for (const id of this.driven.ids()) {
      const run = store.get(id);
      if (run === undefined || !isGivenUp(run, this.#deps.clock.now())) continue;
      this.unwatch(id, 'time').catch((error: unknown) => log.error(`Run ${id}: ${String(error)}`));
    }
    this.checks.checkDue(jumped);
    this.checks.checkReachable();
  }
}

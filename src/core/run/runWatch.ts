import type { AssessmentClient } from '../api/client.ts';
import { AssessmentError, isAbortError } from '../errors.ts';
import { sweepTemporary } from '../files.ts';
import type { Clock, Disposable, Event, Logger } from '../ports.ts';
import type { Network } from '../api/reach.ts';
import { needsArchives, removeArchives } from './archives.ts';
import { isPastWatching } from './attention.ts';
import { DrivenRuns } from './drivenRuns.ts';
import { keepHouse } from './housekeeping.ts';
import { type KeepSource, look } from './look.ts';
import { NetworkReturn } from './networkReturn.ts';
import { backoffMs, pollIntervalMs } from './pollSchedule.ts';
import { hasRemains, releaseUploads } from './release.ts';
import {
  isFinal,
  isLive,
  isPreparing,
  needsPerson,
  type Run,
  toFailure,
  type Trouble,
  waitsForToken,
} from './run.ts';
import type { RunStore } from './runStore.ts';

/** What watching works with. */
export interface WatchDeps {
  readonly store: RunStore;
  /** A client for a run's own origin and organization. */
  readonly clientFor: (place: { baseUrl: string; organizationId: string }) => AssessmentClient;
  readonly clock: Clock;
  /** 0 to 1, for jitter. */
  readonly random: () => number;
  readonly log: Logger;
  /** Whether confirmed files are deleted from the service once nothing needs them any more. */
  readonly deleteSourceAfterRun: () => boolean;
  /** Awaited once a run's artifacts are in its folder, before its archives go; a failure is logged and holds nothing up. */
  readonly keepSource?: KeepSource | undefined;
  /** For how many days ended runs stay on this machine. */
  readonly retainLocalDays: () => number;
  /** What tells that the network is back; without it a run that could not be reached is asked about when its time comes. */
  readonly network?: Network | undefined;
}

const heartbeatMs = 5_000;
/** A gap between heartbeats, or between the clocks, that only sleep or a clock change explains. */
const jumpMs = 30_000;
/** So many looks in a row have failed before a run is let go: the first may come before the network. */
const leastFailures = 3;
const houseMs = 24 * 60 * 60 * 1000;

/** Takes up the runs that no living window drives, asks about them when it is time, and sees each to its end. */
export class RunWatch {
  readonly driven: DrivenRuns;
  readonly #deps: WatchDeps;
  readonly #stop = new AbortController();
  readonly #endListeners = new Set<(run: Run) => void>();
  /** Runs whose end this window has told: a listener that fails to note it is not told again. */
  readonly #told = new Set<string>();
  readonly #retentionListeners = new Set<(run: Run) => void>();
  readonly #networkReturn: NetworkReturn;
  #looksForNetwork = false;
  #housedAt = -Infinity;
  #beating = false;
  #following: Disposable | undefined;

  constructor(deps: WatchDeps) {
    this.#deps = deps;
    this.driven = new DrivenRuns(deps);
    this.#networkReturn = new NetworkReturn(deps.network);
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

  /** From now on a run that another window has opened makes the heart beat here, too: that window may die. */
  follow(): void {
    this.#following ??= this.#deps.store.onDidChange((run) => {
      if (this.isOpen(run)) this.beat();
    });
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
    if (taken) this.beat();
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
    const { store, clock } = this.#deps;
    await sweepTemporary(store.folderOf(id), clock.now());
    // What was known before the lease is hearsay: the former holder may have moved on.
    const run = await store.refresh(id);
    const at = clock.now();
    if (run === undefined) {
      await this.driven.letGo(id);
    } else if (isLive(run)) {
      this.driven.keepQuiet(id, (run.trouble?.notBefore ?? at) - at);
      this.driven.schedule(id, 0);
      await this.dropArchives(run);
    } else if (run.state === 'packaging') {
      await this.discard(id);
    } else if (isPreparing(run)) {
      const failure = { kind: 'interrupted' } as const;
      await this.settle(await store.apply(id, { type: 'failed', failure, at }));
    } else if (run.state === 'dispatching') {
      const reason = { kind: 'interrupted' } as const;
      await this.settle(await store.apply(id, { type: 'dispatchLost', reason, at }));
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
    this.beat();
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

  /** True for an open run, and for an ended one that may still have files on the service. */
  isUnfinished(run: Run): boolean {
    const { clock, deleteSourceAfterRun } = this.#deps;
    return this.isOpen(run) || hasRemains(run, deleteSourceAfterRun(), clock.now());
  }

  /** Forgets a run of which nothing has left the machine. */
  async discard(id: string): Promise<void> {
    await this.driven.letGo(id);
    await this.#deps.store.remove(id);
  }

  /** Does what a state asks for once it is reached: plans the next look, or tells, tidies up and lets go. */
  async settle(run: Run): Promise<Run> {
    const { store, random } = this.#deps;
    if (isLive(run)) {
      this.driven.schedule(run.id, pollIntervalMs(0, random()));
      return run;
    }
    this.#tell(run);
    await this.dropArchives(run);
    if (isFinal(run)) await this.#tidy(run);
    // What listeners noted goes on disk before another window may take the run up.
    const latest = await store.refresh(run.id);
    await this.driven.letGo(run.id);
    return latest ?? run;
  }

  /** Looks at a run now, one look at a time; the service's own `Retry-After` still counts. Failures are noted on the run. */
  check(id: string): Promise<void> {
    return this.driven.oneAtATime(id, () => this.#look(id));
  }

  /**
   * Looks at a run that waited for a token, now that there is another one. Each that is refused as well makes the next wait longer: a token
   * command may make one at every look, and what it makes is a change, too.
   */
  async checkWithNewToken(id: string): Promise<void> {
    const { driven } = this;
    if (!driven.has(id)) return;
    // A look under way began with the old token.
    await driven.whenIdle(id);
    const times = driven.countToken(id);
    if (times === 1) await this.check(id);
    else if (driven.nextCheckAt(id) === undefined)
      driven.schedule(id, backoffMs(times, 0, this.#deps.random()));
  }

  /** Starts the heartbeat; it ends by itself when no run is open. */
  beat(): void {
    if (this.#beating || this.#stop.signal.aborted) return;
    this.#beating = true;
    this.#heartbeat().catch((error: unknown) => {
      if (!isAbortError(error)) this.#deps.log.error(`The heartbeat stopped: ${String(error)}`);
    });
  }

  #tell(run: Run): void {
    if (!this.driven.has(run.id)) return;
    const isDue = isFinal(run) ? run.noticeDue && !this.#told.has(run.id) : run.state === 'unknown';
    if (!isDue) return;
    if (isFinal(run)) this.#told.add(run.id);
    for (const listener of [...this.#endListeners]) listener(run);
  }

  /** Keeps the house of runs, once a day at most. */
  async keepHouse(): Promise<void> {
    const { clock } = this.#deps;
    if (clock.now() - this.#housedAt < houseMs) return;
    this.#housedAt = clock.now();
    for (const run of await keepHouse({ ...this.#deps, driven: this.driven }))
      for (const listener of [...this.#retentionListeners]) listener(run);
  }

  /** Lets a live run go that answers no more. */
  async unwatch(id: string, by: 'person' | 'time'): Promise<void> {
    const { store, clock, log } = this.#deps;
    const run = await store.applyIfDue(id, { type: 'unwatched', by, at: clock.now() });
    if (run === undefined) return;
    log.info(`Run ${id} is watched no more`);
    await this.settle(run);
  }

  /** Removes the local archives of a run that needs them no more. */
  async dropArchives(run: Run): Promise<void> {
    const { store, clock, log } = this.#deps;
    if (needsArchives(run, clock.now())) return;
    try {
      await removeArchives(run, store);
    } catch (error) {
      log.warn(`Run ${run.id}: a local archive could not be removed: ${String(error)}`);
    }
  }

  async #tidy(run: Run): Promise<void> {
    const { clientFor, deleteSourceAfterRun, log } = this.#deps;
    try {
      await releaseUploads(run, deleteSourceAfterRun(), { ...this.#deps, client: clientFor(run) });
    } catch (error) {
      // What is left is tried again at the next start.
      log.warn(`Run ${run.id}: not everything could be tidied up: ${String(error)}`);
    }
  }

  async #heartbeat(): Promise<void> {
    const { clock, store, log } = this.#deps;
    try {
      while (this.driven.size > 0 || store.all().some((run) => this.isOpen(run))) {
        const [wall, monotonic] = [clock.now(), clock.monotonic()];
        await clock.sleep(heartbeatMs, this.#stop.signal);
        const passedWall = clock.now() - wall;
        const passed = clock.monotonic() - monotonic;
        const jumped = passed > jumpMs || Math.abs(passedWall - passed) > jumpMs;
        if (jumped) log.info('The machine slept, or its clock was changed: asking about every run');
        try {
          await this.driven.renewAll();
          await store.reload();
          // After a sleep every lease looks stale until its holder, as awake as this window, has renewed it.
          if (!jumped) void this.adoptAll((run) => this.isOpen(run));
          await this.keepHouse();
        } catch (error) {
          log.error(`The journals could not be read: ${String(error)}`);
        }
        const checked = (work: Promise<void>, id: string): void => {
          work.catch((error: unknown) => log.error(`Run ${id}: ${String(error)}`));
        };
        for (const id of this.driven.ids()) {
          const run = store.get(id);
          if (run !== undefined && this.#isGivenUp(run)) checked(this.unwatch(id, 'time'), id);
        }
        for (const id of this.driven.due(jumped)) checked(this.check(id), id);
        this.#lookForNetwork();
      }
    } finally {
      this.#beating = false;
    }
  }

  /** True for a run that answers no more, and was asked about here in vain: the service may have kept the results for longer than it need. */
  #isGivenUp(run: Run): boolean {
    const failures = this.driven.failuresOf(run.id);
    const enough = needsPerson(run) ? 1 : leastFailures;
    return failures >= enough && isPastWatching(run, this.#deps.clock.now());
  }

  /** Asks about runs at once that could not be reached and can be again; not waited for, since a dead network answers late. */
  #lookForNetwork(): void {
    const { store, log } = this.#deps;
    if (this.#looksForNetwork) return;
    this.#looksForNetwork = true;
    const mine = this.driven.ids().flatMap((id) => store.get(id) ?? []);
    this.#networkReturn
      .returned(mine)
      .then(async (runs) => {
        if (runs.length > 0) log.info('The network is back: asking about its runs');
        await Promise.all(runs.map(({ id }) => this.check(id)));
      })
      .catch((error: unknown) => log.error(`The network could not be looked at: ${String(error)}`))
      .finally(() => {
        this.#looksForNetwork = false;
      });
  }

  async #look(id: string): Promise<void> {
    const { store, clock, clientFor, random } = this.#deps;
    const run = store.get(id);
    if (run === undefined || !isLive(run)) {
      if (run === undefined || isFinal(run)) await this.driven.letGo(id);
      return;
    }
    if (!this.driven.mayAsk(id, run.trouble?.notBefore)) return;
    try {
      const next = await look(run, {
        ...this.#deps,
        client: clientFor(run),
        signal: this.#stop.signal,
        isDriven: () => this.driven.has(id),
      });
      this.driven.clearFailures(id);
      if (!isLive(next)) await this.settle(next);
      else {
        this.driven.schedule(id, pollIntervalMs(clock.now() - next.dispatchedAt, random()));
        await this.dropArchives(next);
      }
    } catch (error) {
      if (!isAbortError(error)) await this.#noteTrouble(id, error);
    }
  }

  async #noteTrouble(id: string, error: unknown): Promise<void> {
    const { store, clock, random, log } = this.#deps;
    const known =
      error instanceof AssessmentError
        ? error
        : new AssessmentError('storage', { detail: String(error) }, { cause: error });
    const failure = toFailure(known);
    const retryAfterMs = known.data.retryAfterMs ?? 0;
    const times = this.driven.countFailure(id);
    const trouble = troubleOf(store.get(id));
    const isNew = trouble?.kind !== failure.kind || trouble.status !== failure.status;
    // Each distinct trouble is told once: the same one may come back for days.
    log[isNew ? 'warn' : 'debug'](`Run ${id}: asking failed (${String(times)}): ${known.message}`);
    // Planned before it is noted: a disk that takes no note must not make the next heartbeat ask again.
    this.driven.schedule(id, waitsForToken(failure) ? Infinity : backoffMs(times, retryAfterMs, random()));
    this.driven.keepQuiet(id, retryAfterMs);
    await store.apply(id, { type: 'askFailed', failure, retryAfterMs, at: clock.now() });
  }
}

function troubleOf(run: Run | undefined): Trouble | undefined {
  return run !== undefined && isLive(run) ? run.trouble : undefined;
}

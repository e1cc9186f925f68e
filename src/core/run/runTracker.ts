import { join } from 'node:path';
import type { AssessmentClient } from '../api/client.ts';
import { AssessmentError, isAbortError } from '../errors.ts';
import type { Clock, Disposable, Event, Logger } from '../ports.ts';
import { collectArtifacts } from './collect.ts';
import {
  type Assessment,
  dispatch,
  type LaunchDeps,
  type LaunchOptions,
  packageTargets,
  removeArchives,
  uploadTargets,
} from './launch.ts';
import { type Lease, takeLease } from './lease.ts';
import { backoffMs, pollIntervalMs } from './pollSchedule.ts';
import { releaseUploads } from './release.ts';
import { isFinal, isLive, isPreparing, type Run, toFailure, waitsForToken } from './run.ts';
import type { RunStore } from './runStore.ts';

/** What the tracker works with. */
export interface TrackerDeps {
  readonly store: RunStore;
  /** A client for a run's own origin and organization. */
  readonly clientFor: (place: { baseUrl: string; organizationId: string }) => AssessmentClient;
  readonly clock: Clock;
  /** 0 to 1, for jitter. */
  readonly random: () => number;
  readonly log: Logger;
  readonly workerFile: string;
  /** Whether confirmed files are deleted from the service once nothing needs them any more. */
  readonly deleteSourceAfterRun: () => boolean;
}

/** A run this window drives: its lease, and when it is asked about next by either clock. */
interface Driven {
  readonly lease: Lease;
  nextWall: number;
  nextMonotonic: number;
  busy: Promise<void> | undefined;
}

const heartbeatMs = 5_000;
/** A gap between heartbeats, or between the clocks, that only sleep or a clock change explains. */
const jumpMs = 30_000;

/** Drives runs through their states: launches, asks, downloads, tidies up, and goes on after a restart; one window at a time drives a run. */
export class RunTracker implements Disposable {
  readonly #deps: TrackerDeps;
  readonly #driven = new Map<string, Driven>();
  readonly #stop = new AbortController();
  readonly #endListeners = new Set<(run: Run) => void>();
  #beating = false;

  constructor(deps: TrackerDeps) {
    this.#deps = deps;
  }

  /** Called once, in one window, with each run that reached its end or came to need a person. */
  readonly onDidEnd: Event<Run> = (listener): Disposable => {
    this.#endListeners.add(listener);
    return { dispose: () => this.#endListeners.delete(listener) };
  };

  /** When a run driven by this window is asked about next, in wall-clock milliseconds. */
  nextCheckAt(id: string): number | undefined {
    const next = this.#driven.get(id)?.nextWall;
    return next === undefined || !Number.isFinite(next) ? undefined : next;
  }

  /** Reads the journals and goes on where they say; what another window drives is left to it. */
  async resume(): Promise<void> {
    await this.#deps.store.reload();
    await Promise.all(this.#deps.store.all().map((run) => this.#adopt(run)));
    this.#beat();
  }

  /**
   * Packages, uploads and dispatches; resolves with the run once it is running, unknown or at its end. Until something has left the machine a
   * failure is thrown and a refusal or cancellation gives undefined, and nothing of the run is kept; a later cancellation ends it as `cancelled`.
   */
  async start(assessment: Assessment, options: LaunchOptions = {}): Promise<Run | undefined> {
    const { store, clock } = this.#deps;
    const run: Run = {
      version: 1,
      state: 'packaging',
      id: store.newId(),
      workflow: assessment.workflow,
      baseUrl: assessment.baseUrl,
      organizationId: assessment.organizationId,
      language: assessment.language,
      webhookEndpointIds: [...assessment.webhookEndpointIds],
      targets: assessment.targets.map(({ folder, name, commit }) => ({
        folder,
        name,
        ...(commit === undefined ? {} : { commit }),
      })),
      createdAt: clock.now(),
      noticeDue: false,
    };
    const lease = await this.#lease(run.id);
    if (lease === undefined) throw new AssessmentError('busyElsewhere');
    await store.create(run);
    this.#drive(run.id, lease);
    const deps = this.#launchDeps(run);
    try {
      await packageTargets(run, assessment, deps, options);
      const agreed = (await options.confirmUpload?.(store.get(run.id) ?? run)) ?? true;
      options.signal?.throwIfAborted();
      if (!agreed) {
        await this.#discard(run.id);
        return undefined;
      }
    } catch (error) {
      await this.#discard(run.id);
      if (isAbortError(error)) return undefined;
      throw error;
    }
    try {
      await uploadTargets(run, deps, options);
      options.signal?.throwIfAborted();
      return await this.#settle(await dispatch(run, deps));
    } catch (error) {
      return this.#giveUp(run.id, error);
    }
  }

  /** Watches a run that was started elsewhere; throws when the service does not know it. */
  async track(
    place: Pick<Assessment, 'workflow' | 'baseUrl' | 'organizationId' | 'language'> & {
      runId: string;
      folder: string;
      name: string;
    },
  ): Promise<Run> {
    const { store, clock } = this.#deps;
    const known = store
      .all()
      .find((run) => 'runId' in run && run.runId === place.runId && run.baseUrl === place.baseUrl);
    if (known !== undefined) return known;
    await this.#deps.clientFor(place).describe(place.workflow, place.runId);
    const now = clock.now();
    const run: Run = {
      version: 1,
      state: 'running',
      id: store.newId(),
      workflow: place.workflow,
      baseUrl: place.baseUrl,
      organizationId: place.organizationId,
      language: place.language,
      webhookEndpointIds: [],
      targets: [{ folder: place.folder, name: place.name }],
      createdAt: now,
      noticeDue: false,
      runId: place.runId,
      dispatchedAt: now,
      bareExits: 0,
    };
    await store.create(run);
    await this.checkNow(run.id);
    return store.get(run.id) ?? run;
  }

  /** Asks about one run, or about all live ones, at once; the service's own `Retry-After` still counts. */
  async checkNow(id?: string): Promise<void> {
    await this.#deps.store.reload();
    const runs = this.#deps.store.all().filter((run) => (id === undefined || run.id === id) && isLive(run));
    await Promise.all(
      runs.map(async (run) => {
        await this.#adopt(run);
        await this.#check(run.id);
      }),
    );
    this.#beat();
  }

  /** To be called when a token was stored or removed, in any window: what waited for one is asked about again. */
  async tokenChanged(): Promise<void> {
    const waiting = this.#deps.store.all().filter((run) => isLive(run) && waitsForToken(run.trouble));
    await Promise.all(waiting.map((run) => this.checkNow(run.id)));
  }

  /** Asks the service to end a run; it stays `cancelling` until the service says EXITED. */
  async cancel(id: string): Promise<void> {
    const run = this.#require(id);
    if (run.state !== 'running') return;
    try {
      await this.#deps.clientFor(run).cancel(run.workflow, run.runId);
    } catch (error) {
      // A run that has ended meanwhile cannot be cancelled: describe decides what it is.
      if (!(error instanceof AssessmentError) || error.kind !== 'conflict') throw error;
      await this.checkNow(id);
      return;
    }
    await this.#deps.store.apply(id, { type: 'cancelAsked', at: this.#deps.clock.now() });
    await this.checkNow(id);
  }

  /** Gives an `unknown` run the run ID that a person found for it. */
  async giveRunId(id: string, runId: string): Promise<void> {
    const run = this.#require(id);
    await this.#deps.clientFor(run).describe(run.workflow, runId);
    await this.#deps.store.apply(id, { type: 'dispatched', runId, at: this.#deps.clock.now() });
    await this.checkNow(id);
  }

  /** Sends the dispatch of an `unknown` run again, with the files already uploaded: a person's decision, since it may start a second paid run. */
  async resend(id: string): Promise<Run> {
    const run = this.#require(id);
    if (run.state !== 'unknown') return run;
    const lease = await this.#lease(id);
    if (lease === undefined) throw new AssessmentError('busyElsewhere');
    this.#drive(id, lease);
    try {
      return await this.#settle(await dispatch(run, this.#launchDeps(run)));
    } catch (error) {
      await this.#letGo(id);
      throw error;
    }
  }

  /** Lets an `unknown` run go: it ends as `cancelled` and its files leave the service. */
  async abandon(id: string): Promise<void> {
    await this.#settle(await this.#deps.store.apply(id, { type: 'abandoned', at: this.#deps.clock.now() }));
  }

  /** Deletes what is left of a run's files on the service; false when something may still be there. */
  async deleteUploads(id: string): Promise<boolean> {
    const run = this.#require(id);
    return releaseUploads(run, true, { ...this.#deps, client: this.#deps.clientFor(run) });
  }

  /** Notes that a person was told how a run ended. */
  async noticed(id: string): Promise<void> {
    await this.#deps.store.apply(id, { type: 'noticed', at: this.#deps.clock.now() });
  }

  /** Stops asking and gives the leases back, so that another window can take over at once. */
  dispose(): void {
    this.#stop.abort(new DOMException('Disposed', 'AbortError'));
    for (const id of [...this.#driven.keys()]) void this.#letGo(id);
  }

  #require(id: string): Run {
    const run = this.#deps.store.get(id);
    if (run === undefined) throw new AssessmentError('notFound', { subject: id });
    return run;
  }

  #lease(id: string): Promise<Lease | undefined> {
    return takeLease(join(this.#deps.store.folderOf(id), 'lease'), this.#deps.clock);
  }

  #launchDeps(run: Run): LaunchDeps {
    const stillMine = async (): Promise<boolean> => (await this.#driven.get(run.id)?.lease.renew()) ?? false;
    return { ...this.#deps, client: this.#deps.clientFor(run), stillMine };
  }

  #drive(id: string, lease: Lease): Driven {
    const driven: Driven = { lease, nextWall: Infinity, nextMonotonic: Infinity, busy: undefined };
    this.#driven.set(id, driven);
    this.#beat();
    return driven;
  }

  async #letGo(id: string): Promise<void> {
    const driven = this.#driven.get(id);
    this.#driven.delete(id);
    await driven?.lease.release();
  }

  /** Takes up a run that no living window drives. */
  async #adopt(run: Run): Promise<void> {
    const { store, clock } = this.#deps;
    const leftOver = isFinal(run) && run.noticeDue;
    if (this.#driven.has(run.id) || run.state === 'unknown' || (isFinal(run) && !leftOver)) return;
    const lease = await this.#lease(run.id);
    if (lease === undefined) return;
    this.#drive(run.id, lease);
    if (isLive(run)) {
      this.#schedule(run.id, 0);
    } else if (run.state === 'packaging') {
      await this.#discard(run.id);
    } else if (isPreparing(run)) {
      await this.#settle(
        await store.apply(run.id, { type: 'failed', failure: { kind: 'interrupted' }, at: clock.now() }),
      );
    } else if (run.state === 'dispatching') {
      await this.#settle(
        await store.apply(run.id, { type: 'dispatchLost', reason: { kind: 'interrupted' }, at: clock.now() }),
      );
    } else {
      await this.#settle(run);
    }
  }

  /** Forgets a run of which nothing has left the machine. */
  async #discard(id: string): Promise<void> {
    await this.#letGo(id);
    await this.#deps.store.remove(id);
  }

  /** Ends a launch that failed or was cancelled before the dispatch. */
  async #giveUp(id: string, error: unknown): Promise<Run> {
    const { store, clock, log } = this.#deps;
    if (this.#stop.signal.aborted) throw error;
    const at = clock.now();
    if (isAbortError(error)) return this.#settle(await store.apply(id, { type: 'abandoned', at }));
    const known =
      error instanceof AssessmentError ? error : new AssessmentError('storage', {}, { cause: error });
    if (known !== error)
      log.error(`Run ${id}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
    return this.#settle(await store.apply(id, { type: 'failed', failure: toFailure(known), at }));
  }

  /** Does what a state asks for once it is reached: schedules the next look, or tidies up and tells. */
  async #settle(run: Run): Promise<Run> {
    if (isLive(run)) {
      this.#schedule(run.id, pollIntervalMs(0, this.#deps.random()));
      return run;
    }
    if (isFinal(run)) {
      await removeArchives(run, this.#deps.store);
      const confirmedToo = this.#deps.deleteSourceAfterRun();
      await releaseUploads(run, confirmedToo, { ...this.#deps, client: this.#deps.clientFor(run) });
    }
    const latest = this.#deps.store.get(run.id) ?? run;
    if (latest.noticeDue || latest.state === 'unknown')
      for (const listener of [...this.#endListeners]) listener(latest);
    await this.#letGo(run.id);
    return latest;
  }

  #schedule(id: string, delayMs: number): void {
    const driven = this.#driven.get(id);
    if (driven === undefined) return;
    driven.nextWall = this.#deps.clock.now() + delayMs;
    driven.nextMonotonic = this.#deps.clock.monotonic() + delayMs;
  }

  /** Starts the heartbeat; it ends by itself when no run is live. */
  #beat(): void {
    if (this.#beating || this.#stop.signal.aborted) return;
    this.#beating = true;
    this.#heartbeat()
      .catch((error: unknown) => {
        if (!isAbortError(error)) this.#deps.log.error(`The heartbeat stopped: ${String(error)}`);
      })
      .finally(() => {
        this.#beating = false;
      });
  }

  async #heartbeat(): Promise<void> {
    const { clock, store, log } = this.#deps;
    while (this.#driven.size > 0 || store.all().some(isLive)) {
      const [wall, monotonic] = [clock.now(), clock.monotonic()];
      await clock.sleep(heartbeatMs, this.#stop.signal);
      const passedWall = clock.now() - wall;
      const passed = clock.monotonic() - monotonic;
      const jumped = passed > jumpMs || Math.abs(passedWall - passed) > jumpMs;
      if (jumped) log.info('The machine slept, or its clock was changed: asking about every run');
      try {
        await store.reload();
        for (const [id, driven] of [...this.#driven]) {
          if (!(await driven.lease.renew())) this.#driven.delete(id);
        }
        for (const run of store.all()) if (isLive(run)) await this.#adopt(run);
      } catch (error) {
        log.error(`The journals could not be read: ${String(error)}`);
      }
      for (const [id, driven] of this.#driven) {
        const due = clock.now() >= driven.nextWall || clock.monotonic() >= driven.nextMonotonic;
        if (due || (jumped && Number.isFinite(driven.nextWall))) void this.#check(id);
      }
    }
  }

  /** One look at a run at a time. */
  #check(id: string): Promise<void> {
    const driven = this.#driven.get(id);
    if (driven === undefined) return this.#ask(id);
    driven.busy ??= this.#ask(id).finally(() => {
      driven.busy = undefined;
    });
    return driven.busy;
  }

  async #ask(id: string): Promise<void> {
    const { store, clock, random, log } = this.#deps;
    const run = store.get(id);
    if (run === undefined || !isLive(run) || clock.now() < (run.trouble?.notBefore ?? 0)) return;
    try {
      const next = await this.#step(run);
      if (isLive(next)) this.#schedule(id, pollIntervalMs(clock.now() - next.dispatchedAt, random()));
      else await this.#settle(next);
    } catch (error) {
      if (isAbortError(error)) return;
      const known =
        error instanceof AssessmentError
          ? error
          : new AssessmentError('storage', { detail: String(error) }, { cause: error });
      const retryAfterMs = known.data.retryAfterMs ?? 0;
      const troubled = await store.apply(id, {
        type: 'askFailed',
        failure: toFailure(known),
        retryAfterMs,
        at: clock.now(),
      });
      if (!isLive(troubled) || troubled.trouble === undefined) return;
      log.warn(`Run ${id}: asking failed (${String(troubled.trouble.times)}): ${known.message}`);
      const pauses = waitsForToken(troubled.trouble);
      this.#schedule(id, pauses ? Infinity : backoffMs(troubled.trouble.times, retryAfterMs, random()));
    }
  }

  /** Describes a run on the service and, once it has ended, downloads what it made. */
  async #step(run: Run): Promise<Run> {
    const { store, clock } = this.#deps;
    const signal = this.#stop.signal;
    const client = this.#deps.clientFor(run);
    let current = run;
    if (current.state === 'running' || current.state === 'cancelling') {
      const description = await client.describe(current.workflow, current.runId, { signal });
      current = await store.apply(run.id, { type: 'answered', description, at: clock.now() });
    }
    if (current.state !== 'collecting') return current;
    const artifacts = await collectArtifacts(current, { client, folder: store.folderOf(run.id), signal });
    return store.apply(run.id, { type: 'collected', artifacts, at: clock.now() });
  }
}

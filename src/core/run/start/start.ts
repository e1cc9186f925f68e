import { hash } from 'node:crypto';
import { join } from 'node:path';
import { AssessmentError, isAbortError, knownError, systemCode } from '../../errors.ts';
import { Emitter } from '../../ports.ts';
import type { ManifestEntry } from '../../upload/archive/packing.ts';
import type { HeldLeases } from '../disk/heldLeases.ts';
import { type Lease, takeLease } from '../disk/lease.ts';
import { untilSaved } from '../disk/runStore.ts';
import type { RunDeps } from '../runDeps.ts';
import { advance, type RunEvent } from '../state/advance.ts';
import { type Assessment, newRun } from '../state/newRun.ts';
import { isLive, type Run, runIdOf, type RunIn, toFailure } from '../state/run.ts';
import type { RunWatch } from '../watch/watch.ts';
import { intendDispatch, sendDispatch, type SendDeps } from './dispatch.ts';
import { type InputOptions, packageTargets, uploadTargets } from './inputFiles.ts';

const claimRenewMs = 5_000;

/** The right to start a run of some folders, which one start at a time has, in whichever window. */
export interface FolderClaim {
  release(): Promise<void>;
}

/** How a start shows its progress, and what may stop it until the dispatch. */
export interface StartOptions extends InputOptions {
  /** The claim on the folders, when they were claimed before the person was asked; else they are claimed for the length of the start. */
  readonly claim?: FolderClaim | undefined;
}

/** A run whose archives are on disk. Nothing of it has left the machine. */
export interface PackedRun {
  readonly run: Run;
  readonly manifests: readonly Iterable<ManifestEntry>[];
  /** Uploads and dispatches: see `RunStarter.start`. Undefined after a cancellation. */
  start(): Promise<Run | undefined>;
  /** Removes everything of the run, unless it was started. */
  discard(): Promise<void>;
}

/** Starts runs, each under its lease, and hands them to the watch. Only here, and by a person's decision, a dispatch whose answer was lost is sent again. */
export class RunStarter {
  readonly #deps: RunDeps & { readonly leases: HeldLeases };
  readonly #watch: RunWatch;
  readonly #failToKeep = new Emitter<{ readonly id: string; readonly error: AssessmentError }>();
  readonly #unsavedRunIds = new Map<string, string>();

  constructor(deps: RunDeps & { readonly leases: HeldLeases }, watch: RunWatch) {
    this.#deps = deps;
    this.#watch = watch;
  }

  /** Called with the local ID and `notKept` (subject: the run ID) when a run was accepted and the disk does not take that yet. */
  readonly onDidFailToKeep = this.#failToKeep.event;

  /** The service's ID of a run that it has accepted, while the disk does not take it. */
  unsavedRunId(id: string): string | undefined {
    return this.#unsavedRunIds.get(id);
  }

  /**
   * Packages, uploads and dispatches; resolves with the run once it is running, unknown or ended. Until something has left the machine a failure
   * is thrown, a refusal or cancellation resolves to undefined, and nothing of the run is kept; a later cancellation ends it as `cancelled`.
   * Throws `startedElsewhere` while another start of one of the folders goes on, and `storage` where runs cannot be saved.
   */
  async start(assessment: Assessment, options: StartOptions = {}): Promise<Run | undefined> {
    const claim = options.claim ?? (await this.claim(assessment.targets.map(({ folder }) => folder)));
    try {
      const packed = await this.pack(assessment, options);
      const run = await packed?.start();
      await packed?.discard();
      return run;
    } finally {
      if (options.claim === undefined) await claim.release();
    }
  }

  /** Makes the archives of a run whose folders are claimed; undefined after a cancellation. Nothing of the run is kept where that fails. */
  async pack(assessment: Assessment, options: InputOptions): Promise<PackedRun | undefined> {
    const { store, clock } = this.#deps;
    const stoppable = { ...options, signal: this.#watch.stoppedOr(options.signal) };
    const run = newRun({ id: store.newId(), now: clock.now() }, assessment);
    const { id } = run;
    try {
      if (!(await this.#watch.take(id))) throw new AssessmentError('busyElsewhere');
      await store.create(run);
      const manifests = await packageTargets(run, assessment, this.#deps, stoppable);
      let isStarted = false;
      return {
        run: store.get(id) ?? run,
        manifests,
        start: async () => {
          if (stoppable.signal.aborted) return undefined;
          isStarted = true;
          return this.#start(run, stoppable);
        },
        discard: async () => {
          if (!isStarted) await this.#discard(id);
        },
      };
    } catch (error) {
      await this.#discard(id);
      if (isAbortError(error)) return undefined;
      throw this.#toKnown(id, error);
    }
  }

  async #discard(id: string): Promise<void> {
    await this.#watch.discard(id).catch((failure: unknown) => {
      this.#deps.log.warn(`Run ${id}: what it left could not be removed: ${String(failure)}`);
    });
  }

  /** Claims all folders or none, by leases that are renewed until released; throws `startedElsewhere` and `storage`. */
  async claim(folders: readonly string[]): Promise<FolderClaim> {
    const { store, clock, log } = this.#deps;
    await store.requireWritable();
    const leases: Lease[] = [];
    const each = async (act: (lease: Lease) => Promise<unknown>): Promise<void> => {
      for (const lease of leases)
        await act(lease).catch((error: unknown) =>
          log.warn(`The claim on a folder could not be renewed or released: ${String(error)}`),
        );
    };
    const releaseAll = (): Promise<void> => each((lease) => lease.release());
    try {
      for (const folder of new Set(folders)) {
        const lease = await takeLease(join(store.startingFolder, keyOf(folder)), clock);
        if (lease === undefined) throw new AssessmentError('startedElsewhere');
        leases.push(lease);
      }
    } catch (error) {
      await releaseAll();
      throw error;
    }
    const stop = new AbortController();
    const renew = async (): Promise<void> => {
      while (leases.length > 0) {
        await clock.sleep(claimRenewMs, stop.signal);
        await each((lease) => lease.renew());
      }
    };
    const renewing = renew().catch((error: unknown) => {
      if (!isAbortError(error)) throw error;
    });
    return {
      release: async () => {
        stop.abort();
        await renewing;
        await releaseAll();
      },
    };
  }

  async #start(run: Run, options: InputOptions & { readonly signal: AbortSignal }): Promise<Run> {
    const deps = this.#sendDeps(run);
    let intended: RunIn<'dispatching'>;
    try {
      await uploadTargets(run, deps, options);
      options.signal.throwIfAborted();
      intended = await intendDispatch(run, deps);
    } catch (error) {
      return this.#giveUp(run.id, error);
    }
    return this.#send(intended, deps, options.signal);
  }

  /** Sends the dispatch of an `unknown` run again, with the files already uploaded: a person's decision, since it may start a second paid run. */
  async resend(run: Run, options: Pick<StartOptions, 'signal'> = {}): Promise<Run> {
    const { id } = run;
    if (run.state !== 'unknown') return run;
    await this.#deps.store.requireWritable();
    if (!(await this.#watch.take(id))) throw new AssessmentError('busyElsewhere');
    try {
      const deps = this.#sendDeps(run);
      return await this.#send(await intendDispatch(run, deps), deps, this.#watch.stoppedOr(options.signal));
    } catch (error) {
      await this.#deps.leases.release(id);
      throw error;
    }
  }

  #sendDeps(run: Run): SendDeps {
    const { stopped } = this.#watch;
    return { ...this.#deps, client: this.#deps.clientFor(run), stopped };
  }

  /** Sends an intended dispatch. No later failure on this side ends the run: the service may have accepted it. */
  async #send(intended: RunIn<'dispatching'>, deps: SendDeps, signal: AbortSignal): Promise<Run> {
    try {
      const outcome = await sendDispatch(intended, deps, signal);
      return await this.#settle(await this.#save(intended, outcome));
    } catch (error) {
      await this.#deps.leases.release(intended.id);
      throw error;
    }
  }

  /** Puts the outcome of a dispatch on disk, however long that takes: the run may have been paid for. Rejects only when the window closes. */
  async #save(intended: RunIn<'dispatching'>, outcome: RunEvent): Promise<Run> {
    const { clock, log, notes } = this.#deps;
    const { id } = intended;
    const next = advance(intended, outcome);
    // Before the journal, which the disk may not take.
    if (isLive(next)) notes?.keep(next);
    const onFailure = (error: unknown): void => {
      log.error(`Run ${id}: the outcome of its dispatch could not be saved: ${String(error)}`);
      if (outcome.type !== 'dispatched') return;
      this.#unsavedRunIds.set(id, outcome.runId);
      const data = { subject: outcome.runId, detail: systemCode(error) };
      this.#failToKeep.fire({ id, error: new AssessmentError('notKept', data, { cause: error }) });
    };
    const write = (): Promise<Run> => this.#trySave(intended, outcome);
    const run = await untilSaved(write, { clock, stopped: this.#watch.stopped, onFailure });
    this.#unsavedRunIds.delete(id);
    return run;
  }

  /** Saves the outcome of a dispatch. Recreates a lost journal; where the journal has moved on, an accepted run becomes another one. */
  async #trySave(intended: RunIn<'dispatching'>, outcome: RunEvent): Promise<Run> {
    const { store, log } = this.#deps;
    const { id } = intended;
    try {
      const run = await store.apply(id, outcome);
      if (outcome.type === 'dispatched' && runIdOf(run) !== outcome.runId) {
        log.warn(`Run ${id} has advanced since its dispatch, although the service accepted it`);
        await store.create(advance({ ...intended, id: store.newId() }, outcome));
      }
      return run;
    } catch (error) {
      if (!(error instanceof AssessmentError && error.kind === 'notFound')) throw error;
    }
    log.warn(`Run ${id}: its journal has gone since the dispatch, and is made again`);
    // The lease has gone with the folder.
    if (!(await this.#deps.leases.renew(id))) await this.#watch.take(id);
    const run = advance(intended, outcome);
    await store.create(run);
    return run;
  }

  /** Whoever cancelled a run does not wait for the removal of its uploads. */
  async #settle(run: Run): Promise<Run> {
    const settled = this.#watch.settle(run);
    if (run.state !== 'cancelled') return settled;
    settled.catch((error: unknown) => this.#deps.log.error(`Run ${run.id}: ${String(error)}`));
    return run;
  }

  /** Ends a start that failed or was cancelled before the dispatch. */
  async #giveUp(id: string, error: unknown): Promise<Run> {
    const { store, clock, log } = this.#deps;
    if (this.#watch.stopped.aborted) throw error;
    const known = isAbortError(error) ? undefined : this.#toKnown(id, error);
    try {
      if (known?.kind === 'busyElsewhere') throw known;
      const at = clock.now();
      const end: RunEvent =
        known === undefined ? { type: 'abandoned', at } : { type: 'failed', failure: toFailure(known), at };
      return await this.#settle(await store.apply(id, end));
    } catch (failure) {
      // The disk takes no more, or another window drives the run: the next start goes on from what the journal says.
      log.error(`Run ${id}: the end of its start could not be saved: ${String(failure)}`);
      await this.#deps.leases.release(id);
      throw known ?? knownError(failure);
    }
  }

  /** The error as one of ours; the log has it as it came. */
  #toKnown(id: string, error: unknown): AssessmentError {
    const known = knownError(error);
    if (known !== error)
      this.#deps.log.error(
        `Run ${id}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`,
      );
    return known;
  }
}

function keyOf(folder: string): string {
  return hash('sha256', folder, 'hex').slice(0, 32);
}

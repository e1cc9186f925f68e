import { AssessmentError, isAbortError, knownError, systemCode } from '../../errors.ts';
import { Emitter, type Event } from '../../ports.ts';
import type { ManifestEntry } from '../../upload/archive/packing.ts';
import type { HeldLeases } from '../disk/heldLeases.ts';
import { untilSaved } from '../disk/runStore.ts';
import type { RunDeps } from '../runDeps.ts';
import { advance, type RunEvent } from '../state/advance.ts';
import { type Assessment, newRun } from '../state/newRun.ts';
import { isLive, type Run, runIdOf, type RunIn, toFailure } from '../state/run.ts';
import type { RunWatch } from '../watch/watch.ts';
import { intendDispatch, sendDispatch, type SendDeps } from './dispatch.ts';
import { type InputOptions, packageTargets, uploadTargets } from './inputFiles.ts';

/** A run whose archives are on disk. Its journal says `packaging`: nothing of it has left the machine. */
export interface PackedRun {
  readonly run: Run;
  readonly manifests: readonly Iterable<ManifestEntry>[];
  start(): Promise<Run | undefined>;
  /** Removes everything of the run, unless it was started. */
  discard(): Promise<void>;
}

/** Starts runs, each under its lease, and hands them to the watch: pack, upload, intend, send, save. Only `resend` sends a lost dispatch again. */
export class RunStarter {
  readonly #deps: RunDeps & { readonly leases: HeldLeases };
  readonly #watch: RunWatch;
  readonly #failToKeep: Emitter<{ readonly id: string; readonly error: AssessmentError }>;
  readonly #unsavedRunIds = new Map<string, string>();

  constructor(deps: RunDeps & { readonly leases: HeldLeases }, watch: RunWatch) {
    this.#deps = deps;
    this.#failToKeep = new Emitter(deps.log);
    this.onDidFailToKeep = this.#failToKeep.event;
    this.#watch = watch;
  }

  /** Called with the local ID and `notKept` (subject: the run ID) when a run was accepted and the disk does not take that yet. */
  readonly onDidFailToKeep: Event<{ readonly id: string; readonly error: AssessmentError }>;

  /** The service's ID of an accepted run, while the disk does not take it. */
  unsavedRunId(id: string): string | undefined {
    return this.#unsavedRunIds.get(id);
  }

  /**
   * Packs, uploads and dispatches; resolves with the run once it is running, unknown or ended. Until something has left the machine, a failure is
   * thrown, a cancellation resolves to undefined, and nothing of the run is kept. A later cancellation ends the run as `cancelled`.
   */
  async start(assessment: Assessment, options: InputOptions = {}): Promise<Run | undefined> {
    const packed = await this.pack(assessment, options);
    const run = await packed?.start();
    await packed?.discard();
    return run;
  }

  /** Makes the archives of a run whose folders the caller has claimed; undefined after a cancellation. Keeps nothing of the run where that fails. */
  async pack(assessment: Assessment, options: InputOptions): Promise<PackedRun | undefined> {
    const { store, clock } = this.#deps;
    await store.requireWritable();
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
      throw this.#toLoggedError(id, error);
    }
  }

  async #start(run: Run, options: InputOptions & { readonly signal: AbortSignal }): Promise<Run> {
    const deps = this.#sendDeps(run);
    let intended: RunIn<'dispatching'>;
    try {
      await uploadTargets(run, deps, options);
      options.signal.throwIfAborted();
      intended = await intendDispatch(run, deps);
    } catch (error) {
      return this.#endStart(run.id, error);
    }
    return this.#send(intended, deps, options.signal);
  }

  /** Sends the dispatch of an `unknown` run again, with the files already uploaded: a person's decision, since it may start a second paid run. */
  async resend(run: Run, signal?: AbortSignal): Promise<Run> {
    const { id } = run;
    if (run.state !== 'unknown') return run;
    await this.#deps.store.requireWritable();
    if (!(await this.#watch.take(id))) throw new AssessmentError('busyElsewhere');
    try {
      const deps = this.#sendDeps(run);
      return await this.#send(await intendDispatch(run, deps), deps, this.#watch.stoppedOr(signal));
    } catch (error) {
      await this.#deps.leases.release(id);
      throw error;
    }
  }

  #sendDeps(run: Run): SendDeps {
    const { stopped } = this.#watch;
    return { ...this.#deps, client: this.#deps.clientFor(run), stopped };
  }

  /** Sends an intended dispatch and saves its outcome. No later failure on this side ends the run: the service may have accepted it. */
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
    // Noted before the journal, which the disk may not take.
    if (isLive(next)) notes?.keep(next);
    const onFailure = (error: unknown): void => {
      log.error(`Run ${id}: the outcome of its start request could not be saved: ${String(error)}`);
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

  /** Recreates a lost journal. Where the journal has moved on, an accepted run gets another journal. */
  async #trySave(intended: RunIn<'dispatching'>, outcome: RunEvent): Promise<Run> {
    const { store, log } = this.#deps;
    const { id } = intended;
    try {
      const run = await store.apply(id, outcome);
      if (outcome.type === 'dispatched' && runIdOf(run) !== outcome.runId) {
        log.warn(`Run ${id} has changed state since its start request, although the service accepted it`);
        await store.create(advance({ ...intended, id: store.newId() }, outcome));
      }
      return run;
    } catch (error) {
      if (!(error instanceof AssessmentError && error.kind === 'notFound')) throw error;
    }
    log.warn(`Run ${id}: its journal is gone since the start request, and is written again`);
    // The lease has gone with the folder.
    if (!(await this.#deps.leases.renew(id))) await this.#watch.take(id);
    const run = advance(intended, outcome);
    await store.create(run);
    return run;
  }

  /** A person who cancelled does not wait for the removal of uploads. */
  async #settle(run: Run): Promise<Run> {
    const settled = this.#watch.settle(run);
    if (run.state !== 'cancelled') return settled;
    settled.catch((error: unknown) => this.#deps.log.error(`Run ${run.id}: ${String(error)}`));
    return run;
  }

  /** Ends a start that failed or was cancelled before its dispatch. */
  async #endStart(id: string, error: unknown): Promise<Run> {
    const { store, clock, log } = this.#deps;
    if (this.#watch.stopped.aborted) throw error;
    const known = isAbortError(error) ? undefined : this.#toLoggedError(id, error);
    try {
      if (known?.kind === 'busyElsewhere') throw known;
      const at = clock.now();
      const end: RunEvent =
        known === undefined ? { type: 'abandoned', at } : { type: 'failed', failure: toFailure(known), at };
      return await this.#settle(await store.apply(id, end));
    } catch (failure) {
      // The disk takes no more, or another window drives the run: the window that takes it over reads the journal.
      log.error(`Run ${id}: the end of its start could not be saved: ${String(failure)}`);
      await this.#deps.leases.release(id);
      throw known ?? knownError(failure);
    }
  }

  async #discard(id: string): Promise<void> {
    await this.#watch.discard(id).catch((failure: unknown) => {
      this.#deps.log.warn(`Run ${id}: its remaining files could not be removed: ${String(failure)}`);
    });
  }

  /** The error as an `AssessmentError`; logs one that was none. */
  #toLoggedError(id: string, error: unknown): AssessmentError {
    const known = knownError(error);
    if (known !== error)
      this.#deps.log.error(
        `Run ${id}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`,
      );
    return known;
  }
}

import { AssessmentError, isAbortError, systemCode, knownError } from '../../errors.ts';
import type { Disposable, Event } from '../../ports.ts';
import { advance, type RunEvent } from '../state/advance.ts';
import { claimFolders, type FolderClaim } from './folderClaim.ts';
import { intendDispatch, requireStorage, sendDispatch } from './dispatch.ts';
import {
  type Assessment,
  type LaunchDeps,
  type LaunchOptions,
  newRun,
  packageTargets,
  uploadTargets,
} from './inputFiles.ts';
import { isLive, type Run, type RunIn, toFailure } from '../state/run.ts';
import type { RunNotes } from '../disk/recoveryNotes.ts';
import type { RunWatch, WatchDeps } from '../watch/watch.ts';

/** What became of a dispatch is written again after so long when the disk did not take it. */
const noteAgainMs = 5_000;

/** What starting runs works with. */
export interface LauncherDeps extends WatchDeps {
  /** The packaging worker's script. */
  readonly workerFile: string;
  /** What notes a run as soon as the service has accepted it. */
  readonly notes?: Pick<RunNotes, 'keep'> | undefined;
}

/** Starts runs, each under its lease, and hands them to the watch; a dispatch whose answer was lost is sent again only from here, by a person's decision. */
export class Launcher {
  readonly #deps: LauncherDeps;
  readonly #watch: RunWatch;
  readonly #notKeptListeners = new Set<(error: AssessmentError) => void>();

  constructor(deps: LauncherDeps, watch: RunWatch) {
    this.#deps = deps;
    this.#watch = watch;
  }

  /** Called with `notKept` and the run ID when the service has accepted a run and the disk does not take it; that is tried again until it does or this window closes. */
  readonly onDidFailToKeep: Event<AssessmentError> = (listener): Disposable => {
    this.#notKeptListeners.add(listener);
    return { dispose: () => this.#notKeptListeners.delete(listener) };
  };

  /**
   * Packages, uploads and dispatches; resolves with the run once it is running, unknown or at its end. Until something has left the machine a
   * failure is thrown and a refusal or cancellation gives undefined, and nothing of the run is kept; a later cancellation ends it as `cancelled`.
   * Throws `startedElsewhere` while another start of one of the folders goes on.
   */
  async start(assessment: Assessment, options: LaunchOptions = {}): Promise<Run | undefined> {
    requireStorage(this.#deps.store, options.mayBeForgotten ?? false);
    if (options.claim !== undefined) return this.#start(assessment, options);
    const claim = await this.claim(assessment.targets.map(({ folder }) => folder));
    try {
      return await this.#start(assessment, options);
    } finally {
      await claim.release();
    }
  }

  /** Claims folders for a start; where nothing can be written, windows cannot agree, and nothing is claimed. */
  async claim(folders: readonly string[]): Promise<FolderClaim> {
    const { store } = this.#deps;
    if (store.isTemporary) return { release: () => Promise.resolve() };
    return claimFolders(folders, { ...this.#deps, root: store.startingFolder });
  }

  async #start(assessment: Assessment, options: LaunchOptions): Promise<Run | undefined> {
    const { store } = this.#deps;
    const launch = { ...options, signal: this.#watch.until(options.signal) };
    const run = newRun(assessment, this.#deps);
    const deps = this.#launchDeps(run, options.mayBeForgotten);
    try {
      if (!(await this.#watch.take(run.id))) throw new AssessmentError('busyElsewhere');
      await store.create(run);
      await packageTargets(run, assessment, deps, launch);
      const agreed = (await options.confirmUpload?.(store.get(run.id) ?? run)) ?? true;
      launch.signal.throwIfAborted();
      if (!agreed) {
        await this.#watch.discard(run.id);
        return undefined;
      }
    } catch (error) {
      await this.#watch.discard(run.id);
      if (isAbortError(error)) return undefined;
      throw this.#toKnown(run.id, error);
    }
    let intended: RunIn<'dispatching'>;
    try {
      await uploadTargets(run, deps, launch);
      launch.signal.throwIfAborted();
      intended = await intendDispatch(run, deps);
    } catch (error) {
      return this.#giveUp(run.id, error);
    }
    return this.#send(intended, deps, options.signal);
  }

  /** Sends the dispatch of an `unknown` run again, with the files already uploaded: a person's decision, since it may start a second paid run. */
  async resend(run: Run, options: Pick<LaunchOptions, 'mayBeForgotten' | 'signal'> = {}): Promise<Run> {
    const { id } = run;
    if (run.state !== 'unknown') return run;
    if (!(await this.#watch.take(id))) throw new AssessmentError('busyElsewhere');
    const deps = this.#launchDeps(run, options.mayBeForgotten);
    try {
      return await this.#send(await intendDispatch(run, deps), deps, options.signal);
    } catch (error) {
      await this.#watch.driven.letGo(id);
      throw error;
    }
  }

  #launchDeps({ id, ...place }: Run, mayBeForgotten = false): LaunchDeps {
    const { driven, stopped } = this.#watch;
    return {
      ...this.#deps,
      client: this.#deps.clientFor(place),
      stillMine: () => driven.renew(id),
      stopped,
      mayBeForgotten,
    };
  }

  /** Sends an intended dispatch. Whatever goes wrong now is not a failed run: it may have been accepted. */
  async #send(
    intended: RunIn<'dispatching'>,
    deps: LaunchDeps,
    signal: AbortSignal | undefined,
  ): Promise<Run> {
    try {
      const outcome = await sendDispatch(intended, deps, this.#watch.until(signal));
      return await this.#settle(await this.#note(intended, outcome));
    } catch (error) {
      await this.#watch.driven.letGo(intended.id);
      throw error;
    }
  }

  /** Puts what became of a dispatch on disk, however long that takes: the run may have been paid for. Rejects only when the window closes. */
  async #note(intended: RunIn<'dispatching'>, outcome: RunEvent): Promise<Run> {
    const { clock, log, notes } = this.#deps;
    const { id } = intended;
    const next = advance(intended, outcome);
    // Before the journal, which the disk may not take.
    if (isLive(next)) notes?.keep(next);
    for (let tries = 1; ; tries += 1) {
      try {
        return await this.#keep(intended, outcome);
      } catch (error) {
        if (tries === 1) {
          log.error(`Run ${id}: what became of its dispatch could not be noted: ${String(error)}`);
          if (outcome.type === 'dispatched') this.#tellNotKept(outcome.runId, error);
        }
        await clock.sleep(noteAgainMs, this.#watch.stopped);
      }
    }
  }

  /** Applies what became of a dispatch to its journal; one that was taken away or damaged meanwhile is made anew, and what was accepted after the run had moved on is a run of its own. */
  async #keep(intended: RunIn<'dispatching'>, outcome: RunEvent): Promise<Run> {
    const { store, log } = this.#deps;
    const { id } = intended;
    try {
      const run = await store.apply(id, outcome);
      if (outcome.type === 'dispatched' && !('runId' in run && run.runId === outcome.runId)) {
        log.warn(`Run ${id} has moved on since its dispatch, which the service accepted all the same`);
        await store.create({ ...advance(intended, outcome), id: store.newId() });
      }
      return run;
    } catch (error) {
      if (!(error instanceof AssessmentError && error.kind === 'notFound')) throw error;
    }
    log.warn(`Run ${id}: its journal has gone since the dispatch, and is made anew`);
    // The lease has gone with the folder.
    if (!(await this.#watch.driven.renew(id))) await this.#watch.take(id);
    const run = advance(intended, outcome);
    await store.create(run);
    return run;
  }

  /** Has a run seen to as its state asks for; who cancelled it does not wait until its files are off the service. */
  async #settle(run: Run): Promise<Run> {
    const settled = this.#watch.settle(run);
    if (run.state !== 'cancelled') return settled;
    settled.catch((error: unknown) => this.#deps.log.error(`Run ${run.id}: ${String(error)}`));
    return run;
  }

  #tellNotKept(runId: string, cause: unknown): void {
    const facts = { subject: runId, detail: systemCode(cause) };
    const error = new AssessmentError('notKept', facts, { cause });
    for (const listener of [...this.#notKeptListeners]) listener(error);
  }

  /** Ends a launch that failed or was cancelled before the dispatch. */
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
      // The journal takes no more, or is another window's: the next start goes on from what it says.
      log.error(`Run ${id}: the end of its start could not be noted: ${String(failure)}`);
      await this.#watch.driven.letGo(id);
      throw known ?? knownError(failure);
    }
  }

  /** What went wrong as an error of ours; the log has it as it came. */
  #toKnown(id: string, error: unknown): AssessmentError {
    const known = knownError(error);
    if (known !== error)
      this.#deps.log.error(
        `Run ${id}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`,
      );
    return known;
  }
}

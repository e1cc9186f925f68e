import { join } from 'node:path';
import { AssessmentError } from '../errors.ts';
import { makePrivateFolder } from '../files.ts';
import type { Disposable, Event } from '../ports.ts';
import { visibleLine } from '../visibleText.ts';
import { downloadAgain, hasRemoteResults } from './finish/downloadAgain.ts';
import type { FolderClaim } from './start/folderClaim.ts';
import { withJournalLock } from './disk/journalLock.ts';
import { wasRefused } from './start/dispatch.ts';
import { type Assessment, type LaunchOptions, newRun } from './start/inputFiles.ts';
import { Launcher, type LauncherDeps } from './start/start.ts';
import { tryToKeepSource } from './watch/look.ts';
import { hasRemains, releaseUploads } from './finish/removeUploads.ts';
import { isFinal, isLive, isPreparing, needsPerson, type Run } from './state/run.ts';
import type { RunNote } from './disk/recoveryNotes.ts';
import { RunWatch } from './watch/watch.ts';

/** What people do with runs: start, track, cancel, send again; one window at a time drives a run, and watches it to its end. */
export class RunTracker implements Disposable {
  readonly #deps: LauncherDeps;
  readonly #watch: RunWatch;
  readonly #launcher: Launcher;
  /** Called once, in one window, with each run that reached its end or came to need a person. */
  readonly onDidEnd: Event<Run>;
  /** Called once, in one window, with each run whose results are not here and soon on the service no more. */
  readonly onDidNearRetention: Event<Run>;
  /** Called with `notKept` and the run ID when the service has accepted a run and the disk does not take it, yet. */
  readonly onDidFailToKeep: Event<AssessmentError>;

  constructor(deps: LauncherDeps) {
    this.#deps = deps;
    this.#watch = new RunWatch(deps);
    this.#launcher = new Launcher(deps, this.#watch);
    this.onDidEnd = this.#watch.onDidEnd;
    this.onDidNearRetention = this.#watch.onDidNearRetention;
    this.onDidFailToKeep = this.#launcher.onDidFailToKeep;
  }

  /** When a run driven by this window is asked about next, in wall-clock milliseconds. */
  nextCheckAt(id: string): number | undefined {
    return this.#watch.driven.nextCheckAt(id);
  }

  /** Reads the journals and goes on where they say; what another window drives is left to it. */
  async resume(): Promise<void> {
    await this.#deps.store.reload();
    this.#watch.follow();
    await this.#watch.adoptAll((run) => this.#watch.isUnfinished(run));
    await this.#watch.keepHouse();
  }

  /** Keeps other starts of these folders from beginning, in whichever window, until it is released; throws `startedElsewhere` while one goes on. */
  claim(folders: readonly string[]): Promise<FolderClaim> {
    return this.#launcher.claim(folders);
  }

  /** Packages, uploads and dispatches, as `Launcher.start` says. */
  start(assessment: Assessment, options?: LaunchOptions): Promise<Run | undefined> {
    return this.#launcher.start(assessment, options);
  }

  /** Watches a run that was started elsewhere, or of which a note was kept; throws when the service does not know it. One that is watched already, or whose end is known, is returned unasked. */
  async track(place: RunNote): Promise<Run> {
    const { store, clock, clientFor } = this.#deps;
    const { runId, dispatchedAt, targets, ...destination } = place;
    const find = (): Run | undefined => store.all().find((run) => isWatchedAs(run, place));
    const listed = find();
    if (listed !== undefined) return listed;
    await clientFor(place).describe(place.workflow, runId);
    const at = clock.now();
    const run: Run = {
      ...newRun({ ...destination, webhookEndpointIds: [], targets }, this.#deps),
      // Only what is confirmed can be dispatched.
      targets: targets.map(({ folder, name, fileId }) =>
        fileId === undefined
          ? { folder, name }
          : { folder, name, upload: { fileId, state: 'confirmed', at } },
      ),
      // A run that began before others is not the latest for being tracked again.
      createdAt: Math.min(at, dispatchedAt ?? at),
      state: 'running',
      runId,
      dispatchedAt: dispatchedAt ?? at,
      lastAnswerAt: at,
      bareExits: 0,
    };
    const known = await this.#alone(async () => {
      const other = find();
      if (other === undefined) await store.create(run);
      return other;
    });
    if (known !== undefined) return known;
    await this.checkNow(run.id);
    return store.get(run.id) ?? run;
  }

  /** Asks about one run, or about all live ones, at once; the service's own `Retry-After` still counts. */
  async checkNow(id?: string): Promise<void> {
    const { store } = this.#deps;
    await store.reload();
    const runs = store.all().filter((run) => (id === undefined || run.id === id) && isLive(run));
    await this.#watch.adoptAll((run) => runs.includes(run));
    await Promise.all(runs.map((run) => this.#watch.checks.check(run.id)));
  }

  /** To be called when a token was stored or removed, in any window: what waited for it is asked about again, by the window that drives it. `isTokenOf` says whose it is; every run's when left out. */
  async tokenChanged(isTokenOf: (run: Run) => boolean = () => true): Promise<void> {
    const waiting = this.#waitForToken().filter(isTokenOf);
    this.#watch.tidying.tokenChanged(isTokenOf);
    await Promise.all([
      ...waiting.map(({ id }) => this.#watch.checks.checkWithNewToken(id)),
      this.#watch.adoptAll((run) => this.#watch.isUnfinished(run) && isTokenOf(run)),
    ]);
  }

  /** To be called when a person has changed the settings that tokens come from: what waits for a token is asked about at once, by the window that drives it. */
  async tokenSourceChanged(): Promise<void> {
    this.#watch.tidying.tokenSourceChanged();
    await Promise.all([
      ...this.#waitForToken().map(({ id }) => this.#watch.checks.checkWithNewSource(id)),
      this.#watch.adoptAll((run) => this.#watch.isUnfinished(run)),
    ]);
  }

  /** Asks the service to end a run; it stays `cancelling` until the service says EXITED. */
  async cancel(id: string): Promise<void> {
    const { store, clock, clientFor, log } = this.#deps;
    const run = this.#require(id);
    if (run.state !== 'running') return;
    const sentAt = clock.now();
    let sends = 0;
    let conflict: AssessmentError | undefined;
    const beforeSend = async (): Promise<void> => {
      sends += 1;
      if (sends > 1) return;
      // On disk first: whatever keeps the answer from it, how the run ends is read by this. Credits go on without the cancel, so it is sent all the same.
      await store.apply(id, { type: 'cancelSent', at: sentAt }).catch((error: unknown) => {
        log.warn(`Run ${id}: that it is cancelled was not noted: ${String(error)}`);
      });
    };
    try {
      await clientFor(run).cancel(run.workflow, run.runId, { beforeSend });
      await store.apply(id, { type: 'cancelAsked', at: clock.now() });
    } catch (error) {
      if (!(error instanceof AssessmentError)) throw error;
      // Sent more than once, one whose answer was lost may have been taken.
      if (wasRefused(error) && sends <= 1)
        await store.apply(id, { type: 'cancelRefused', sentAt, at: clock.now() });
      // A run that has ended meanwhile cannot be cancelled: describe decides what it is.
      if (error.kind !== 'conflict') throw error;
      conflict = error;
    }
    await this.checkNow(id);
    if (conflict !== undefined && store.get(id)?.state === 'running') throw conflict;
  }

  /**
   * Gives an `unknown` run the run ID that a person found for it; throws `busyElsewhere` when it is not unknown any more, since its dispatch is
   * sent again, and `runIdTaken` when another run has this ID.
   */
  async giveRunId(id: string, runId: string): Promise<void> {
    const { store, clock, clientFor } = this.#deps;
    const run = this.#require(id);
    await clientFor(run).describe(run.workflow, runId);
    const given = await this.#alone(() => {
      const others = store.all().filter((other) => other.id !== id);
      if (others.some((other) => isWatchedAs(other, { ...run, runId })))
        throw new AssessmentError('runIdTaken');
      return store.applyIfDue(id, { type: 'runIdGiven', runId, at: clock.now() });
    });
    if (given === undefined) throw new AssessmentError('busyElsewhere');
    await this.checkNow(id);
  }

  /** Sends the dispatch of an `unknown` run again, with the files already uploaded: a person's decision, since it may start a second paid run. */
  async resend(id: string, options?: Pick<LaunchOptions, 'mayBeForgotten' | 'signal'>): Promise<Run> {
    return this.#launcher.resend(this.#require(id), options);
  }

  /** Lets an `unknown` run go: it ends as `cancelled` and its files leave the service. */
  async abandon(id: string): Promise<void> {
    const { store, clock } = this.#deps;
    const run = await store.applyIfDue(id, { type: 'abandoned', at: clock.now() });
    if (run !== undefined) await this.#watch.settle(run);
  }

  /** Lets a run go that answers no more; on the service it goes on, if it is there. Throws `changedMeanwhile` when it answers again, or has ended. */
  async stopWatching(id: string): Promise<void> {
    if (!(await this.#watch.unwatch(id, 'person'))) throw new AssessmentError('changedMeanwhile');
  }

  /** Gives a run a name of a person's own; an empty one takes it back. */
  async rename(id: string, label: string): Promise<void> {
    await this.#deps.store.apply(id, { type: 'renamed', label, at: this.#deps.clock.now() });
  }

  /** Downloads the artifacts of an ended run anew; throws the first failure, after what could be had was noted. A cancellation is thrown, and what is here stays as it was. */
  async downloadAgain(id: string, cancelled?: AbortSignal): Promise<void> {
    const { store, clock, clientFor } = this.#deps;
    const run = this.#require(id);
    if (!hasRemoteResults(run)) throw new AssessmentError('noResult');
    // Whoever was told of the end may ask for this while the source is still being deleted.
    const isMine = this.#watch.isSettling(id);
    if (!isMine && !(await this.#watch.take(id))) throw new AssessmentError('busyElsewhere');
    try {
      const signal = this.#watch.until(cancelled);
      const download = { client: clientFor(run), folder: store.folderOf(id), signal, clock };
      const { artifacts, failure } = await downloadAgain(run, download);
      await tryToKeepSource(run, { ...this.#deps, signal });
      const next = await store.apply(id, { type: 'recollected', artifacts, at: clock.now() });
      await this.#watch.dropArchives(next);
      if (failure !== undefined) throw failure;
    } finally {
      if (!isMine) await this.#watch.driven.letGo(id);
    }
  }

  /** Deletes what is left of a run's files on the service; returns the first failure, after which something may still be there. */
  async deleteUploads(id: string): Promise<AssessmentError | undefined> {
    // Another window may have removed it meanwhile, with its source.
    const run = await this.#deps.store.refresh(id);
    if (run === undefined) return undefined;
    return releaseUploads(run, true, { ...this.#deps, client: this.#deps.clientFor(run) });
  }

  /**
   * Forgets a run with everything that was kept of it. What it has on the service goes first, as the setting says, unless the run may still
   * need it; when that fails, the run is kept and the failure returned, unless a person `leavesSource` there. Throws `changedMeanwhile` for a
   * run that goes on or is being sent: it was paid for, or may be.
   */
  async remove(id: string, { leavesSource = false } = {}): Promise<AssessmentError | undefined> {
    // Who wants it gone may have seen a state that another window has changed since.
    const run = await this.#deps.store.refresh(id);
    if (run === undefined) return undefined;
    if (isLive(run) || run.state === 'dispatching') throw new AssessmentError('changedMeanwhile');
    const failure = leavesSource ? undefined : await this.#releaseRest(run);
    if (failure !== undefined) return failure;
    if (leavesSource) {
      const files = run.targets.flatMap(({ upload }) => upload?.fileId ?? []);
      this.#deps.log.warn(`Run ${id} is removed; on the service may stay: ${visibleLine(files.join(', '))}`);
    }
    await this.#watch.discard(id);
    return undefined;
  }

  /** Stops asking and gives the leases back, so that another window can take over at once. */
  dispose(): void {
    this.#watch.stop();
  }

  /** Looks at the runs that are listed, and acts on that, while no other window does so: each run ID is listed once. */
  async #alone<T>(act: () => Promise<T>): Promise<T> {
    const { store, clock } = this.#deps;
    await store.reload();
    if (store.isTemporary) return act();
    await makePrivateFolder(store.startingFolder);
    return withJournalLock(join(store.startingFolder, 'lock'), clock, async () => {
      await store.reload();
      return act();
    });
  }

  #waitForToken(): readonly Run[] {
    return this.#deps.store.all().filter((run) => isLive(run) && needsPerson(run));
  }

  #require(id: string): Run {
    const run = this.#deps.store.get(id);
    if (run === undefined) throw new AssessmentError('notFound', { subject: id });
    return run;
  }

  /** Takes off the service what a run that goes nowhere any more has there; returns the first failure. Throws `changedMeanwhile` when it goes on after all. */
  async #releaseRest(run: Run): Promise<AssessmentError | undefined> {
    const { store, clock, clientFor, deleteSourceAfterRun } = this.#deps;
    const confirmedToo = deleteSourceAfterRun();
    let ended: Run | undefined = run;
    try {
      const isGivenUp = run.state === 'unknown' || isPreparing(run);
      if (!isGivenUp && !hasRemains(run, confirmedToo, clock.now())) return undefined;
      if (isGivenUp) ended = await store.applyIfDue(run.id, { type: 'abandoned', at: clock.now() });
      if (ended !== undefined)
        return await releaseUploads(ended, confirmedToo, { ...this.#deps, client: clientFor(run) });
    } catch (error) {
      return error instanceof AssessmentError
        ? error
        : new AssessmentError('storage', { detail: String(error) }, { cause: error });
    }
    throw new AssessmentError('changedMeanwhile');
  }
}

/** True for a run that is this one of the service; one that was let go, or ended without saying how, may be watched anew: the service may tell more by now. */
function isWatchedAs(run: Run, place: Pick<RunNote, 'baseUrl' | 'organizationId' | 'runId'>): boolean {
  return (
    'runId' in run &&
    run.runId === place.runId &&
    run.baseUrl === place.baseUrl &&
    run.organizationId === place.organizationId &&
    !(isFinal(run) && !('exit' in run && run.exit !== undefined))
  );
}

import { isAbortError, knownError } from '../../errors.ts';
import { downloadArtifacts } from '../finish/downloadArtifacts.ts';
import type { Finisher } from '../finish/finishRun.ts';
import type { RunDeps } from '../runDeps.ts';
import {
  isFinal,
  isLive,
  type Run,
  type RunIn,
  toFailure,
  type Trouble,
  waitsForToken,
} from '../state/run.ts';
import { backoffMs, pollIntervalMs, type Schedule, WakingTime } from './schedule.ts';

/** Polls the runs that this window drives: at their time, on demand, and when their token has changed. */
export class Poller {
  readonly #deps: RunDeps;
  readonly #schedule: Schedule;
  readonly #finisher: Finisher;
  readonly #stopped: AbortSignal;
  readonly #waking: WakingTime;

  constructor(deps: RunDeps, schedule: Schedule, finisher: Finisher, stopped: AbortSignal) {
    this.#deps = deps;
    this.#schedule = schedule;
    this.#finisher = finisher;
    this.#stopped = stopped;
    this.#waking = new WakingTime(deps.clock);
  }

  /** Polls a run now, unless `Retry-After` has not passed; joins a poll that is under way. A failure is recorded on the run. */
  poll(id: string): Promise<void> {
    return this.#schedule.oneAtATime(id, () => this.#poll(id));
  }

  /**
   * Polls a run that waited for a token, now that there is another one. Each that is refused as well makes the next wait longer, since a token
   * command may print a different token at every poll; after a change of the source of tokens by a person, earlier refusals do not count.
   */
  async pollWithNewToken(id: string, isNewSource: boolean): Promise<void> {
    if (!this.#schedule.has(id)) return;
    // A poll under way began with the old token.
    await this.#schedule.whenIdle(id);
    const times = isNewSource ? 1 : this.#schedule.countToken(id);
    if (times === 1) await this.poll(id);
    else if (this.#schedule.nextPollAt(id) === undefined)
      this.#schedule.planPoll(id, backoffMs(times, 0, this.#deps.random()));
  }

  /** Polls every run whose time has come, and after a jump of the clocks every one with a planned poll; does not wait for them. */
  pollDue(jumped: boolean): void {
    for (const id of this.#schedule.due(jumped))
      this.poll(id).catch((error: unknown) => this.#deps.log.error(`Run ${id}: ${String(error)}`));
  }

  async #poll(id: string): Promise<void> {
    const run = this.#deps.store.get(id);
    if (run === undefined || !isLive(run)) {
      if (run === undefined || isFinal(run)) await this.#schedule.release(id);
      return;
    }
    if (!this.#schedule.mayPoll(id, run.trouble?.notBefore)) return;
    try {
      const next = await this.#describeAndDownload(run);
      this.#schedule.clearCounts(id);
      this.#waking.step(id);
      if (isLive(next)) this.#planNext(next);
      else await this.#finisher.finish(next);
    } catch (error) {
      if (!isAbortError(error)) await this.#recordFailure(id, error);
    }
  }

  /** Asks the service once about a live run; once it has exited, the window that drives it also downloads its artifacts. Throws the failure. */
  async #describeAndDownload(run: RunIn<'running' | 'cancelling' | 'collecting'>): Promise<Run> {
    const { store, clock } = this.#deps;
    const { id } = run;
    const client = this.#deps.clientFor(run);
    const signal = this.#stopped;
    let current: Run = run;
    if (run.state !== 'collecting') {
      const description = await client.describe(run.workflow, run.runId, { signal });
      current = await store.apply(id, { type: 'answered', description, at: clock.now() });
    }
    if (current.state !== 'collecting' || !this.#schedule.has(id)) return current;
    const artifacts = await downloadArtifacts(current, {
      client,
      folder: store.folderOf(id),
      signal,
      onDownloaded: (artifact) => store.apply(id, { type: 'artifactDownloaded', artifact, at: clock.now() }),
    });
    await tryToKeepSource(current, this.#deps, signal);
    return store.apply(id, { type: 'collected', artifacts, at: clock.now() });
  }

  #planNext(run: RunIn<'running' | 'cancelling' | 'collecting'>): void {
    const { clock, random } = this.#deps;
    // The clock by which it was dispatched may have been wrong.
    const ageMs = Math.max(clock.now() - run.dispatchedAt, this.#schedule.drivenForMs(run.id));
    this.#schedule.planPoll(run.id, pollIntervalMs(ageMs, random()));
  }

  async #recordFailure(id: string, error: unknown): Promise<void> {
    const { store, clock, random, log } = this.#deps;
    const known = knownError(error);
    const failure = toFailure(known);
    const retryAfterMs = known.data.retryAfterMs ?? 0;
    const times = this.#schedule.countFailure(id);
    const trouble = troubleOf(store.get(id));
    const isNew = trouble?.kind !== failure.kind || trouble.status !== failure.status;
    // Each distinct failure is a warning once: the same one may recur for days.
    log[isNew ? 'warn' : 'debug'](`Run ${id}: the poll failed (${String(times)}): ${known.message}`);
    // Before it is saved: otherwise a full disk would make every heartbeat poll again.
    this.#schedule.planPoll(id, waitsForToken(failure) ? Infinity : backoffMs(times, retryAfterMs, random()));
    const wakingMs = this.#waking.step(id);
    const at = clock.now();
    const saved = await store.apply(id, { type: 'pollFailed', failure, retryAfterMs, wakingMs, at });
    this.#schedule.setNotBefore(id, troubleOf(saved)?.notBefore);
  }
}

function troubleOf(run: Run | undefined): Trouble | undefined {
  return run !== undefined && isLive(run) ? run.trouble : undefined;
}

/** Keeps the source that a run's findings point at. It is a convenience: a failure is logged and delays nothing. */
export async function tryToKeepSource(
  run: Run,
  { keepSource, log }: Pick<RunDeps, 'keepSource' | 'log'>,
  signal: AbortSignal,
): Promise<void> {
  try {
    await keepSource?.(run, signal);
  } catch (error) {
    if (isAbortError(error)) throw error;
    log.warn(`Run ${run.id}: the source that its findings point at was not kept: ${String(error)}`);
  }
}

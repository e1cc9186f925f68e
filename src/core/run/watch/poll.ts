import type { Description } from '../../api/schema.ts';
import { isAbortError, knownError } from '../../errors.ts';
import type { HeldLeases } from '../disk/heldLeases.ts';
import { downloadArtifacts, tryToKeepSource } from '../finish/downloadArtifacts.ts';
import type { Finisher } from '../finish/finishRun.ts';
import type { RunDeps } from '../runDeps.ts';
import type { RunEvent } from '../state/advance.ts';
import { backoffMs, pollIntervalMs, tokenRetryMs } from '../state/backoff.ts';
import { toAnswered } from '../state/answered.ts';
import {
  type Artifact,
  isFinal,
  isLive,
  type LiveRun,
  type Run,
  type RunIn,
  toFailure,
  type Trouble,
  waitsForToken,
} from '../state/run.ts';
import type { WakingTime } from '../state/wakingTime.ts';
import type { Schedule } from './schedule.ts';

interface PollDeps extends RunDeps {
  readonly leases: HeldLeases;
  readonly schedule: Schedule;
  readonly finisher: Finisher;
  readonly waking: WakingTime;
  readonly stopped: AbortSignal;
}

/** Polls runs. Any window may ask about a run; only the window that holds its lease downloads its artifacts and plans the next poll. */
export class Poller {
  readonly #deps: PollDeps;

  constructor(deps: PollDeps) {
    this.#deps = deps;
  }

  /** Polls a run now, unless `Retry-After` has not passed; joins a poll under way. Rejects only when the trouble of a failed poll cannot be saved. */
  poll(id: string): Promise<void> {
    return this.#deps.schedule.oneAtATime(id, () => this.#poll(id));
  }

  pollDue(jumped: boolean): void {
    for (const id of this.#deps.schedule.due(jumped))
      this.poll(id).catch((error: unknown) => this.#deps.log.error(`Run ${id}: ${String(error)}`));
  }

  /** Polls a run of this window that waited for a token, after `tokenRetryMs`. With `isNewSource`, earlier refusals do not count. */
  async pollWithNewToken(id: string, isNewSource: boolean): Promise<void> {
    const { leases, schedule, random } = this.#deps;
    if (!leases.has(id)) return;
    // A poll under way began with the old token.
    await schedule.whenIdle(id);
    const waitMs = tokenRetryMs(isNewSource ? 1 : schedule.countToken(id), random());
    if (waitMs === 0) await this.poll(id);
    else if (schedule.nextPollAt(id) === undefined) schedule.planPoll(id, waitMs);
  }

  /** Plans the next poll of a live run, and finishes any other (`Finisher.finish`). Returns the run as its journal then has it. */
  async settle(run: Run): Promise<Run> {
    if (!isLive(run)) return this.#deps.finisher.finish(run);
    this.#planNext(run);
    return run;
  }

  /** One poll, with its steps in order. A failed step ends it: the trouble is saved, and the next poll starts from the journal. */
  async #poll(id: string): Promise<void> {
    const live = await this.#runToPoll(id);
    if (live === undefined) return;
    try {
      let run: Run = live;
      if (run.state !== 'collecting') {
        const description = await this.#ask(run);
        run = await this.#apply(id, toAnswered(run, description));
      }
      if (run.state === 'collecting' && this.#deps.leases.has(id)) {
        const artifacts = await this.#download(run);
        await tryToKeepSource(run, this.#deps, this.#deps.stopped);
        run = await this.#apply(id, { type: 'collected', artifacts });
      }
      // Without the lease, this plans nothing (`Schedule`).
      this.#noteSuccess(id);
      await this.settle(run);
    } catch (error) {
      if (!isAbortError(error)) await this.#recordTrouble(id, error);
    }
  }

  /** Returns the run if it is live and `Retry-After` has passed. Releases the lease of a run that another window has ended or removed. */
  async #runToPoll(id: string): Promise<LiveRun | undefined> {
    const { store, schedule, leases } = this.#deps;
    const run = store.get(id);
    if (run !== undefined && isLive(run))
      return schedule.mayPoll(id, run.trouble?.notBefore) ? run : undefined;
    if (run === undefined || isFinal(run)) await leases.release(id);
    return undefined;
  }

  #ask(run: LiveRun): Promise<Description> {
    const { clientFor, stopped } = this.#deps;
    return clientFor(run).describe(run.workflow, run.runId, { signal: stopped });
  }

  /**
   * Downloads the artifacts that are not here yet, and saves each one. Throws a temporary failure: the next poll downloads the rest. A permanent
   * failure is kept on its artifact, and the run ends without it.
   */
  #download(run: RunIn<'collecting'>): Promise<Artifact[]> {
    const { store, clientFor, stopped } = this.#deps;
    return downloadArtifacts(run, {
      client: clientFor(run),
      folder: store.folderOf(run.id),
      signal: stopped,
      onDownloaded: (artifact) => this.#apply(run.id, { type: 'artifactDownloaded', artifact }),
    });
  }

  #noteSuccess(id: string): void {
    this.#deps.schedule.clearCounts(id);
    // The next failure counts waking time from here.
    this.#deps.waking.step(id);
  }

  #planNext(run: LiveRun): void {
    const { clock, random, schedule } = this.#deps;
    // The wall clock at the dispatch may have been wrong.
    const ageMs = Math.max(clock.now() - run.dispatchedAt, schedule.drivenForMs(run.id));
    schedule.planPoll(run.id, pollIntervalMs(ageMs, random()));
  }

  /**
   * Plans the retry and saves the trouble. The retry comes 1 s to 15 min after `Retry-After`, later with each failure (`backoffMs`). A run that
   * waits for a token has no retry: the changed token polls it (`pollWithNewToken`).
   */
  async #recordTrouble(id: string, error: unknown): Promise<void> {
    const { store, schedule, waking, random, log } = this.#deps;
    const known = knownError(error);
    const failure = toFailure(known);
    const retryAfterMs = known.data.retryAfterMs ?? 0;
    const times = schedule.countFailure(id);
    const trouble = troubleOf(store.get(id));
    const isNew = trouble?.kind !== failure.kind || trouble.status !== failure.status;
    // One warning for each distinct failure: it may recur for days.
    log[isNew ? 'warn' : 'debug'](`Run ${id}: the poll failed (${String(times)}): ${known.message}`);
    // Planned before the save: otherwise a full disk would make every heartbeat poll.
    schedule.planPoll(id, waitsForToken(failure) ? Infinity : backoffMs(times, retryAfterMs, random()));
    const wakingMs = waking.step(id);
    const saved = await this.#apply(id, { type: 'pollFailed', failure, retryAfterMs, wakingMs });
    schedule.setNotBefore(id, troubleOf(saved)?.notBefore);
  }

  #apply(id: string, event: WithoutTime<RunEvent>): Promise<Run> {
    return this.#deps.store.apply(id, { ...event, at: this.#deps.clock.now() });
  }
}

type WithoutTime<Event> = Event extends unknown ? Omit<Event, 'at'> : never;

function troubleOf(run: Run | undefined): Trouble | undefined {
  return run !== undefined && isLive(run) ? run.trouble : undefined;
}

import { maxRetryAfterMs } from '../../api/retry.ts';
import type { AssessmentError } from '../../errors.ts';
import { type Clock, stopwatch } from '../../ports.ts';
import type { RunEvent } from './advance.ts';
import type { Next } from './next.ts';
import { isLive, type Run, type RunIn } from './run.ts';
import { lacksToken } from './trouble.ts';

const minPollMs = 15_000;
const maxPollMs = 10 * 60_000;
const maxBackoffMs = 15 * 60_000;
/** At 10%, a run could exceed the limit that a test checks: 240 polls in the first day. */
const maxJitter = 0.08;
/**
 * The shortest wait after EXITED without an outcome. Five of these waits fill the 30 minutes after
 * which no outcome is expected.
 */
const minOutcomePollMs = 6 * 60_000;
const minGapMs = 60_000;
/**
 * The waits while the token is refused or missing. A refused token is tried again, because a
 * gateway may refuse a good one.
 */
const refusedMs = { first: 15 * 60_000, later: 60 * 60_000 };

/** `clock` means that a clock jumped, for example because the machine slept. */
export type Waker = 'user' | 'clock' | 'focus' | 'token';

type Step = Next['step'];

/**
 * Decides how long a drive waits before each step. Delays are kept only in memory, by the monotonic
 * clock. The journal has only facts.
 */
export class Delays {
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #began: number;
  readonly #dueAt = new Map<Step, number>();
  /** The number of consecutive failures. */
  readonly #failures = new Map<Step, number>();
  /** The time since the last poll or download. */
  #sinceCheckMs = (): number => Infinity;
  /** Never decreases. Otherwise a clock that is set back would cause very frequent polls. */
  #intervalMs = 0;
  /**
   * True if the journal said at the last `isOver` that the token doesn't work, and no step has
   * ended since. Once the journal no longer says so, another window has polled the run, and the
   * step's delay ends.
   */
  #isRefused = false;
  #tokens = 0;
  /**
   * The end of a `Retry-After`. The monotonic clock counts too, so a wrong wall clock can't extend
   * it.
   */
  #pause = { retryAt: 0, until: 0 };

  constructor(run: Run | undefined, clock: Clock, random: () => number) {
    this.#clock = clock;
    this.#random = random;
    this.#began = clock.monotonic();
    if (run?.state === 'running' || run?.state === 'cancelling')
      this.#dueAt.set('poll', this.#began + takeOverDelay(run, clock.now()));
  }

  isOver({ step, run }: Next): boolean {
    const isRefused = isLive(run) && run.trouble !== undefined && lacksToken(run.trouble);
    if (this.#isRefused && !isRefused) this.#dueAt.delete(step);
    this.#isRefused = isRefused;
    const isOfService = isCheck(step) || step === 'removeUploads';
    if (isOfService && this.#isPaused(run)) return false;
    return this.#clock.monotonic() >= (this.#dueAt.get(step) ?? -Infinity);
  }

  /**
   * When the next request to the service is due (wall clock, ms). Undefined while there is no
   * delay or no token.
   */
  nextCheckAt(run: Run): number | undefined {
    const steps = ['poll', 'download', 'removeUploads'] as const;
    const dueAt = steps.map((step) => this.#dueAt.get(step)).find((at) => at !== undefined);
    if (dueAt === undefined || (isLive(run) && run.trouble?.kind === 'notSignedIn')) return undefined;
    const leftMs = Math.max(dueAt - this.#clock.monotonic(), retryAfterMs(run, this.#clock.now()));
    return Math.round(this.#clock.now() + leftMs);
  }

  /**
   * Ends the delays of polls and downloads. `user` ends the delays of all steps. `focus` and
   * `token` end a delay only after a failure. `clock` and `focus` leave a minute after the last
   * check, and don't end the wait for a token.
   */
  wake(waker: Waker, run: Run): void {
    const trouble = isLive(run) ? run.trouble : undefined;
    if ((waker === 'focus' || waker === 'token') && trouble === undefined) return;
    const isAutomatic = waker === 'focus' || waker === 'clock';
    if (isAutomatic && trouble !== undefined && lacksToken(trouble)) return;
    if (waker === 'token') this.#tokens += 1;
    // A token command may print a new token each time, so each new token makes the next poll wait
    // longer.
    const gaps = waker === 'token' ? Math.min(this.#tokens - 1, 15) : isAutomatic ? 1 : 0;
    const at = this.#clock.monotonic() + Math.max(0, gaps * minGapMs - this.#sinceCheckMs());
    for (const [step, dueAt] of this.#dueAt)
      if (isCheck(step) || waker === 'user') this.#dueAt.set(step, Math.min(dueAt, at));
  }

  /** Must be called after the step's event is saved. */
  succeeded({ step, run }: Next, event: RunEvent | undefined): void {
    this.#isRefused = false;
    this.#failures.delete(step);
    this.#dueAt.delete(step);
    if (!isCheck(step)) return;
    this.#tokens = 0;
    this.#sinceCheckMs = stopwatch(this.#clock);
    if (event?.type !== 'answered' || event.exit !== undefined || !('dispatchedAt' in run)) return;
    const now = this.#clock.monotonic();
    // The wall clock may have been ahead at the dispatch, but the run is at least as old as this
    // drive.
    const ageMs = Math.max(this.#clock.now() - (run.dispatchedAt ?? 0), now - this.#began);
    this.#intervalMs = Math.max(this.#intervalMs, pollInterval(ageMs, this.#random()));
    this.#dueAt.set(step, now + Math.max(this.#intervalMs, event.status === 'EXITED' ? minOutcomePollMs : 0));
  }

  failed({ step, run }: Next, { kind, data: { retryAfterMs: waitMs = 0, detail } }: AssessmentError): void {
    this.#isRefused = false;
    if (waitMs > 0) this.#pauseUntil(this.#clock.now() + waitMs);
    const failures = (this.#failures.get(step) ?? 0) + 1;
    this.#failures.set(step, failures);
    let delayMs = waitMs + backoff(failures, this.#random());
    if (isCheck(step)) this.#sinceCheckMs = stopwatch(this.#clock);
    if (isCheck(step) && lacksToken({ kind, detail })) {
      const isFirst = !isLive(run) || run.trouble === undefined || !lacksToken(run.trouble);
      delayMs = isFirst ? refusedMs.first : refusedMs.later;
    }
    this.#dueAt.set(step, this.#clock.monotonic() + delayMs);
  }

  #isPaused(run: Run): boolean {
    if (run.retryAt !== undefined && run.retryAt !== this.#pause.retryAt) this.#pauseUntil(run.retryAt);
    const { retryAt, until } = this.#pause;
    return this.#clock.monotonic() < until && this.#clock.now() < retryAt;
  }

  #pauseUntil(retryAt: number): void {
    const leftMs = retryAfterMs({ retryAt }, this.#clock.now());
    this.#pause = { retryAt, until: this.#clock.monotonic() + leftMs };
  }
}

function isCheck(step: Step): boolean {
  return step === 'poll' || step === 'download';
}

/** `jitter` is between 0 and 1. */
export function pollInterval(ageMs: number, jitter: number): number {
  return Math.max(Math.min(ageMs * 0.05, maxPollMs) * (1 - maxJitter * jitter), minPollMs);
}

/** Full jitter (0 to 1) from 1 s up to a ceiling that doubles with each failure. */
export function backoff(failures: number, jitter: number): number {
  const ceiling = Math.min(maxBackoffMs, minPollMs * 2 ** Math.min(failures, 10));
  return 1_000 + jitter * (ceiling - 1_000);
}

/** Also returns 0 if more than a day is left, because a clock must have been wrong. */
export function retryAfterMs({ retryAt }: Pick<Run, 'retryAt'>, now: number): number {
  const left = (retryAt ?? 0) - now;
  return left > 0 && left <= maxRetryAfterMs ? left : 0;
}

/** The wait (ms) before a drive's first poll: another window may just have polled the run. */
function takeOverDelay(run: RunIn<'running' | 'cancelling'>, now: number): number {
  const sinceMs = now - Math.max(run.lastAnswerAt ?? run.dispatchedAt, run.trouble?.firstSeen ?? 0);
  return Math.max(0, minPollMs - Math.abs(sinceMs));
}

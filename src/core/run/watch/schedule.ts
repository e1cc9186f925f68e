import { join } from 'node:path';
import type { Clock } from '../../ports.ts';
import { type Lease, takeLease } from '../disk/lease.ts';
import type { RunDeps } from '../runDeps.ts';

const minPollMs = 15_000;
const maxPollMs = 10 * 60_000;
const maxBackoffMs = 15 * 60_000;
/** With 10 %, the unluckiest run would be polled more than 240 times in its first day. */
const maxJitter = 0.08;
/** A longer step of waking time may be sleep, which the monotonic clock of some systems counts. */
const maxStepMs = 60 * 60 * 1000;
/** No wait that the service asks for is kept for longer: the wall clock may be wrong. */
export const maxServiceWaitMs = 24 * 60 * 60 * 1000;

/** Milliseconds until a run of this age is polled again: 5 % of its age, at most 10 min, minus up to 8 % jitter (`random` in 0..1), at least 15 s. */
export function pollIntervalMs(ageMs: number, random: number): number {
  const interval = Math.min(ageMs * 0.05, maxPollMs);
  return Math.max(interval * (1 - maxJitter * random), minPollMs);
}

/** Milliseconds until the next try after `times` failures in a row: full jitter from 1 s to 15 min, after `Retry-After`. */
export function backoffMs(times: number, retryAfterMs: number, random: number): number {
  const ceiling = Math.min(maxBackoffMs, minPollMs * 2 ** Math.min(times, 10));
  return retryAfterMs + 1_000 + random * (ceiling - 1_000);
}

/** A run that this window drives. */
interface DrivenRun {
  readonly lease: Lease;
  /** False while the disk does not take its renewal. */
  isRenewed: boolean;
  /** By the monotonic clock. */
  readonly takenAt: number;
  /** The time of the next poll, by each clock. */
  nextWall: number;
  nextMonotonic: number;
  /** When `Retry-After` has passed, by the wall clock, as the journal has it, and by the monotonic clock. */
  notBeforeWall: number | undefined;
  notBeforeMonotonic: number;
  failures: number;
  /** Tokens that have changed since the last successful poll. */
  tokens: number;
  /** The poll that is under way. */
  polling: Promise<void> | undefined;
}

/** The runs that this window drives, each under its lease, and when each is polled next. */
export class Schedule {
  readonly #deps: Pick<RunDeps, 'store' | 'log'>;
  readonly #clock: Clock;
  readonly #runs = new Map<string, DrivenRun>();

  constructor(deps: Pick<RunDeps, 'store' | 'clock' | 'log'>) {
    this.#deps = deps;
    this.#clock = deps.clock;
  }

  ids(): readonly string[] {
    return [...this.#runs.keys()];
  }

  has(id: string): boolean {
    return this.#runs.has(id);
  }

  /** Takes the lease of a run; false while another living window drives it, or this one does already. */
  async take(id: string): Promise<boolean> {
    if (this.#runs.has(id)) return false;
    const lease = await takeLease(join(this.#deps.store.folderOf(id), 'lease'), this.#clock);
    if (lease === undefined) return false;
    this.#runs.set(id, {
      lease,
      isRenewed: true,
      takenAt: this.#clock.monotonic(),
      nextWall: Infinity,
      nextMonotonic: Infinity,
      notBeforeWall: undefined,
      notBeforeMonotonic: -Infinity,
      failures: 0,
      tokens: 0,
      polling: undefined,
    });
    return true;
  }

  /** How long this window has driven a run, in milliseconds. */
  drivenForMs(id: string): number {
    const now = this.#clock.monotonic();
    return now - (this.#runs.get(id)?.takenAt ?? now);
  }

  /** Releases a run's lease; one that cannot be released lapses by itself. */
  async release(id: string): Promise<void> {
    const driven = this.#runs.get(id);
    this.#runs.delete(id);
    await driven?.lease.release().catch((error: unknown) => {
      this.#deps.log.warn(`The lease of run ${id} could not be released: ${String(error)}`);
    });
  }

  /** Releases every lease. */
  async releaseAll(): Promise<void> {
    await Promise.all(this.ids().map((id) => this.release(id)));
  }

  /** Renews a run's lease; false when it was lost, and then this window no longer drives the run. */
  async renew(id: string): Promise<boolean> {
    const driven = this.#runs.get(id);
    if (driven === undefined) return false;
    if (await driven.lease.renew()) return true;
    if (this.#runs.get(id) === driven) this.#runs.delete(id);
    return false;
  }

  /** Renews every lease; a failure with one does not stop the others. */
  async renewAll(): Promise<void> {
    for (const [id, driven] of this.#runs) {
      try {
        await this.renew(id);
        driven.isRenewed = true;
      } catch (error) {
        // A warning once: the disk may be full or read-only for days.
        const level = driven.isRenewed ? 'warn' : 'debug';
        this.#deps.log[level](`The lease of run ${id} could not be renewed: ${String(error)}`);
        driven.isRenewed = false;
      }
    }
  }

  /** When a run is polled next, in wall-clock milliseconds; undefined when no poll is planned. */
  nextPollAt(id: string): number | undefined {
    const next = this.#runs.get(id)?.nextWall;
    return next === undefined || !Number.isFinite(next) ? undefined : next;
  }

  /** Plans the next poll; Infinity plans none. */
  planPoll(id: string, delayMs: number): void {
    const driven = this.#runs.get(id);
    if (driven === undefined) return;
    driven.nextWall = this.#clock.now() + delayMs;
    driven.nextMonotonic = this.#clock.monotonic() + delayMs;
  }

  /** The runs to poll now: those whose time has come by either clock, and after a jump of the clocks every one with a planned poll. */
  due(jumped: boolean): string[] {
    const [wall, monotonic] = [this.#clock.now(), this.#clock.monotonic()];
    return [...this.#runs].flatMap(([id, driven]) => {
      const isDue = wall >= driven.nextWall || monotonic >= driven.nextMonotonic;
      return isDue || (jumped && Number.isFinite(driven.nextWall)) ? [id] : [];
    });
  }

  /** Records until when, by the wall clock, `Retry-After` lasts, which this window or another was told. From then on the monotonic clock counts, too: a wrong wall clock cannot extend the wait. */
  setNotBefore(id: string, notBefore: number | undefined): void {
    const driven = this.#runs.get(id);
    if (driven === undefined || notBefore === undefined || driven.notBeforeWall === notBefore) return;
    driven.notBeforeWall = notBefore;
    const waitMs = Math.max(0, notBefore - this.#clock.now());
    driven.notBeforeMonotonic = this.#clock.monotonic() + Math.min(waitMs, maxServiceWaitMs);
  }

  /** True when `Retry-After`, which lasts until `notBefore` by the wall clock, has passed. */
  mayPoll(id: string, notBefore: number | undefined): boolean {
    if (this.#clock.now() >= (notBefore ?? -Infinity)) return true;
    this.setNotBefore(id, notBefore);
    const driven = this.#runs.get(id);
    return driven !== undefined && this.#clock.monotonic() >= driven.notBeforeMonotonic;
  }

  /** Counts a failed poll; returns how many failed in a row. */
  countFailure(id: string): number {
    const driven = this.#runs.get(id);
    return driven === undefined ? 1 : (driven.failures += 1);
  }

  /** Counts a changed token; returns how many changed since the last successful poll. */
  countToken(id: string): number {
    const driven = this.#runs.get(id);
    return driven === undefined ? 1 : (driven.tokens += 1);
  }

  /** Resets the counts after a successful poll. */
  clearCounts(id: string): void {
    const driven = this.#runs.get(id);
    if (driven !== undefined) Object.assign(driven, { failures: 0, tokens: 0 });
  }

  /** Resolves when no poll of this run is under way, however the last one ended. */
  async whenIdle(id: string): Promise<void> {
    await Promise.allSettled([this.#runs.get(id)?.polling]);
  }

  /** Runs `poll`, or joins the one that is under way for this run. */
  oneAtATime(id: string, poll: () => Promise<void>): Promise<void> {
    const driven = this.#runs.get(id);
    if (driven === undefined) return poll();
    driven.polling ??= poll().finally(() => {
      driven.polling = undefined;
    });
    return driven.polling;
  }
}

/** Measures time while this machine is awake, from one step to the next, by the monotonic clock: a sum of steps is not misled by a wall clock that jumps. */
export class WakingTime {
  readonly #clock: Clock;
  readonly #lastSteps = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Waking milliseconds since the last step with this key in this window; 0 for the first. */
  step(key: string): number {
    const now = this.#clock.monotonic();
    const last = this.#lastSteps.get(key) ?? now;
    this.#lastSteps.set(key, now);
    return Math.min(now - last, maxStepMs);
  }
}

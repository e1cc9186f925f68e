import { maxRetryAfterMs } from '../../api/retry.ts';
import type { Clock } from '../../ports.ts';
import type { HeldLeases } from '../disk/heldLeases.ts';
import type { Lease } from '../disk/lease.ts';

interface Plan {
  /** Since when this window drives the run, by the monotonic clock. */
  readonly drivenSince: number;
  nextWall: number;
  nextMonotonic: number;
  /** When `Retry-After` has passed, by each clock. */
  notBeforeWall: number | undefined;
  notBeforeMonotonic: number;
  failures: number;
  tokens: number;
  polling: Promise<void> | undefined;
}

/** When the runs that this window drives are polled next. A plan belongs to a lease: a run without one has no plan. */
export class Schedule {
  readonly #leases: HeldLeases;
  readonly #clock: Clock;
  readonly #plans = new WeakMap<Lease, Plan>();

  constructor(leases: HeldLeases, clock: Clock) {
    this.#leases = leases;
    this.#clock = clock;
  }

  drivenForMs(id: string): number {
    const now = this.#clock.monotonic();
    return now - (this.#planOf(id)?.drivenSince ?? now);
  }

  /** In wall-clock milliseconds; undefined when no poll is planned. */
  nextPollAt(id: string): number | undefined {
    const next = this.#planOf(id)?.nextWall;
    return next === undefined || !Number.isFinite(next) ? undefined : next;
  }

  /** Infinity plans no poll. */
  planPoll(id: string, delayMs: number): void {
    const plan = this.#planOf(id);
    if (plan === undefined) return;
    plan.nextWall = this.#clock.now() + delayMs;
    plan.nextMonotonic = this.#clock.monotonic() + delayMs;
  }

  /** The runs whose time has come by either clock; after a jump of the clocks every run with a planned poll. */
  due(jumped: boolean): readonly string[] {
    const [wall, monotonic] = [this.#clock.now(), this.#clock.monotonic()];
    return this.#leases.ids().filter((id) => {
      const { nextWall = Infinity, nextMonotonic = Infinity } = this.#planOf(id) ?? {};
      return wall >= nextWall || monotonic >= nextMonotonic || (jumped && Number.isFinite(nextWall));
    });
  }

  /**
   * Records until when `Retry-After` lasts by the wall clock, also if another window received it. The monotonic clock ends the wait too: a wrong
   * wall clock cannot extend it.
   */
  setNotBefore(id: string, notBefore: number | undefined): void {
    const plan = this.#planOf(id);
    if (plan === undefined || notBefore === undefined || plan.notBeforeWall === notBefore) return;
    plan.notBeforeWall = notBefore;
    const waitMs = Math.max(0, notBefore - this.#clock.now());
    plan.notBeforeMonotonic = this.#clock.monotonic() + Math.min(waitMs, maxRetryAfterMs);
  }

  /** True when `Retry-After`, which lasts until `notBefore` by the wall clock, has passed. */
  mayPoll(id: string, notBefore: number | undefined): boolean {
    if (this.#clock.now() >= (notBefore ?? -Infinity)) return true;
    this.setNotBefore(id, notBefore);
    const plan = this.#planOf(id);
    return plan !== undefined && this.#clock.monotonic() >= plan.notBeforeMonotonic;
  }

  /** Returns how many polls have failed in a row. */
  countFailure(id: string): number {
    const plan = this.#planOf(id);
    return plan === undefined ? 1 : (plan.failures += 1);
  }

  /** Returns how many tokens have changed since the last successful poll. */
  countToken(id: string): number {
    const plan = this.#planOf(id);
    return plan === undefined ? 1 : (plan.tokens += 1);
  }

  clearCounts(id: string): void {
    Object.assign(this.#planOf(id) ?? {}, { failures: 0, tokens: 0 });
  }

  async whenIdle(id: string): Promise<void> {
    await Promise.allSettled([this.#planOf(id)?.polling]);
  }

  oneAtATime(id: string, poll: () => Promise<void>): Promise<void> {
    const plan = this.#planOf(id);
    if (plan === undefined) return poll();
    plan.polling ??= poll().finally(() => {
      plan.polling = undefined;
    });
    return plan.polling;
  }

  #planOf(id: string): Plan | undefined {
    const lease = this.#leases.get(id);
    if (lease === undefined) return undefined;
    const plan = this.#plans.get(lease) ?? {
      drivenSince: this.#clock.monotonic(),
      nextWall: Infinity,
      nextMonotonic: Infinity,
      notBeforeWall: undefined,
      notBeforeMonotonic: -Infinity,
      failures: 0,
      tokens: 0,
      polling: undefined,
    };
    this.#plans.set(lease, plan);
    return plan;
  }
}

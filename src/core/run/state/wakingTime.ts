import type { Clock } from '../../ports.ts';

/** The wall clock may jump: what it says is due is removed or given up only after so much waking time. */
export const minWakingMs = 24 * 60 * 60 * 1000;
/** A longer step may be sleep, which the monotonic clock of some systems counts. */
const maxStepMs = 60 * 60 * 1000;

/** Measures the time that this machine is awake, in steps of the monotonic clock, which does not jump. */
export class WakingTime {
  readonly #clock: Clock;
  readonly #lastSteps = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Milliseconds since the last step with this key in this window; 0 for the first. */
  step(key: string): number {
    const now = this.#clock.monotonic();
    const last = this.#lastSteps.get(key) ?? now;
    this.#lastSteps.set(key, now);
    return Math.min(now - last, maxStepMs);
  }
}

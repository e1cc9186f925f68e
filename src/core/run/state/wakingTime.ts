import type { Clock } from '../../ports.ts';

/** Waking time that passes before anything that is due by the wall clock is removed or given up: that clock may have jumped. */
export const minWakingMs = 24 * 60 * 60 * 1000;
/** A longer step of waking time may be sleep, which the monotonic clock of some systems counts. */
const maxStepMs = 60 * 60 * 1000;

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

import type { TestContext } from 'node:test';

/** Timers of one duration that a test advances. */
export interface HeldTimers {
  /** Advances the timers. */
  readonly pass: (ms: number) => void;
  readonly refreshes: () => number;
}

/** The used part of a timer. */
class HeldTimer {
  readonly #now: () => number;
  readonly #ms: number;
  readonly act: () => void;
  due: number;
  refreshes = 0;

  constructor(act: () => void, ms: number, now: () => number) {
    [this.act, this.#ms, this.#now] = [act, ms, now];
    this.due = now() + ms;
  }

  refresh(): this {
    this.refreshes += 1;
    this.due = this.#now() + this.#ms;
    return this;
  }
}

/** Replaces timers of this duration for a test; others are real. */
export function holdTimers(t: TestContext, ms: number): HeldTimers {
  const held = new Set<HeldTimer>();
  const all: HeldTimer[] = [];
  let now = 0;
  const { setTimeout: start, clearTimeout: stop } = globalThis;
  const startHeld = (act: (...args: unknown[]) => void, delay: number, ...args: unknown[]): unknown => {
    if (delay !== ms) return start(act, delay, ...args);
    const timer = new HeldTimer(
      () => act(...args),
      ms,
      () => now,
    );
    held.add(timer);
    all.push(timer);
    return timer;
  };
  const stopHeld = (timer: unknown): void => {
    if (timer instanceof HeldTimer) held.delete(timer);
    else stop(timer as NodeJS.Timeout | undefined);
  };
  t.mock.method(globalThis, 'setTimeout', startHeld as typeof start);
  t.mock.method(globalThis, 'clearTimeout', stopHeld as typeof stop);
  return {
    pass: (passed) => {
      now += passed;
      for (const timer of [...held].filter(({ due }) => due <= now)) {
        held.delete(timer);
        timer.act();
      }
    },
    refreshes: () => all.reduce((sum, timer) => sum + timer.refreshes, 0),
  };
}

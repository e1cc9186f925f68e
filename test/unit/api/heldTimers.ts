import type { TestContext } from 'node:test';

/** A test advances timers of one duration. */
export interface HeldTimers {
  readonly pass: (ms: number) => void;
  readonly refreshes: () => number;
  readonly count: () => number;
}

interface HeldTimer {
  due: number;
  readonly act: () => void;
  readonly refresh: () => HeldTimer;
}

/** Replaces timers of this duration for a test; others are real. */
export function holdTimers(t: TestContext, ms: number): HeldTimers {
  const held = new Set<unknown>();
  let [now, refreshes] = [0, 0];
  const { setTimeout: start, clearTimeout: stop } = globalThis;
  const startHeld = (act: (...args: unknown[]) => void, delay: number, ...args: unknown[]): unknown => {
    if (delay !== ms) return start(act, delay, ...args);
    const refresh = (): HeldTimer => {
      refreshes += 1;
      timer.due = now + ms;
      return timer;
    };
    const timer: HeldTimer = { due: now + ms, act: () => act(...args), refresh };
    held.add(timer);
    return timer;
  };
  const stopHeld = (timer: unknown): void => {
    if (!held.delete(timer)) stop(timer as NodeJS.Timeout | undefined);
  };
  t.mock.method(globalThis, 'setTimeout', startHeld as typeof start);
  t.mock.method(globalThis, 'clearTimeout', stopHeld as typeof stop);
  const pass = (passed: number): void => {
    now += passed;
    for (const timer of [...held] as HeldTimer[]) if (timer.due <= now && held.delete(timer)) timer.act();
  };
  return { pass, refreshes: () => refreshes, count: () => held.size };
}

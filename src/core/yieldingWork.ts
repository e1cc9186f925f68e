import { setImmediate } from 'node:timers/promises';
import type { Logger } from './ports.ts';

/** Longest work in one go: the thread is shared with every other extension. */
const sliceMs = 8;

/** Does the work on all of these, on so many of them at once. */
export async function inParallel<T>(
  all: Iterable<T>,
  atOnce: number,
  work: (one: T) => Promise<unknown>,
): Promise<void> {
  const waiting = all[Symbol.iterator]();
  const workOn = async (): Promise<void> => {
    for (let next = waiting.next(); next.done !== true; next = waiting.next()) await work(next.value);
  };
  await Promise.all(Array.from({ length: atOnce }, workOn));
}

/** Works the steps off and lets other work go on every few milliseconds; stops with the signal's reason. */
export async function inSlices<T>(steps: Iterator<unknown, T>, signal?: AbortSignal): Promise<T> {
  signal?.throwIfAborted();
  let pauseAt = performance.now() + sliceMs;
  for (let step = steps.next(); ; step = steps.next()) {
    if (step.done === true) return step.value;
    if (performance.now() < pauseAt) continue;
    await setImmediate();
    signal?.throwIfAborted();
    pauseAt = performance.now() + sliceMs;
  }
}

/** Lets work run that no one awaits; a failure is logged. */
export function inBackground(work: PromiseLike<unknown>, log: Logger): void {
  work.then(undefined, (error: unknown) =>
    log.error(error instanceof Error ? (error.stack ?? error.message) : String(error)),
  );
}

/** Does some work at the first call; later calls share its result. Work that failed is tried again at the next call. */
export function once<T>(work: () => Promise<T>): () => Promise<T> {
  let doing: Promise<T> | undefined;
  return () => {
    doing ??= work().catch((error: unknown) => {
      doing = undefined;
      throw error;
    });
    return doing;
  };
}

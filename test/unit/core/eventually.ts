import { setImmediate } from 'node:timers/promises';

/** The slowest condition takes a tenth of this on an idle machine. */
const limitMs = 60_000;

/**
 * Resolves when the condition holds, checked in each turn of the event loop; rejects after a
 * minute, naming what is awaited.
 */
export async function eventually(
  condition: () => boolean | Promise<boolean>,
  awaited: string,
): Promise<void> {
  const deadline = performance.now() + limitMs;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`Not within a minute: ${awaited}`);
    await setImmediate();
  }
}

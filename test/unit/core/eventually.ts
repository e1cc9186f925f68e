import { setImmediate } from 'node:timers/promises';

const limitMs = 20_000;

/** Resolves when the condition holds, checked in each turn of the event loop; rejects after 20 s, naming what is awaited. */
export async function eventually(
  condition: () => boolean | Promise<boolean>,
  awaited: string,
): Promise<void> {
  const deadline = performance.now() + limitMs;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`Not within 20 s: ${awaited}`);
    await setImmediate();
  }
}

import { setImmediate } from 'node:timers/promises';

const limitMs = 20_000;

/** Resolves once a condition holds, looked at in each turn of the event loop; rejects with what is awaited when it does not within 20 s. */
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

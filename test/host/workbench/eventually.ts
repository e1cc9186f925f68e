/** How long a test waits for a workbench: enough for one in Wine to restart, on a machine that does other work as well. */
export const patienceMs = 120_000;

/** Repeats `read` until its result is defined; undefined after `ms`. */
export async function readWithin<T>(ms: number, read: () => Promise<T | undefined>): Promise<T | undefined> {
  const deadline = performance.now() + ms;
  for (;;) {
    const reading = await read();
    if (reading !== undefined || performance.now() > deadline) return reading;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/**
 * Reads until the reading is acceptable and returns that reading; rejects with the last one after `timeoutMs`.
 * For what a page gives no event for.
 */
export async function eventually<T>(
  read: () => T | Promise<T>,
  accept: (reading: T) => boolean,
  timeoutMs = patienceMs,
): Promise<T> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const reading = await read();
    if (accept(reading)) return reading;
    if (performance.now() > deadline)
      throw new Error(`Not so within ${timeoutMs} ms. Last reading: ${JSON.stringify(reading, null, 2)}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

import { isDeepStrictEqual } from 'node:util';

/** In this time, even a workbench in Wine can restart on a busy machine. */
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
 * Reads until the reading is acceptable and returns that reading, else rejects with the last one.
 */
export async function eventually<T>(read: () => T | Promise<T>, accept: (reading: T) => boolean): Promise<T> {
  let last: T | undefined;
  const accepted = await readWithin(patienceMs, async () => {
    const reading = await read();
    last = reading;
    return accept(reading) ? { reading } : undefined;
  });
  if (accepted !== undefined) return accepted.reading;
  throw new Error(`Not so within ${patienceMs} ms. Last reading: ${JSON.stringify(last, null, 2)}`);
}

export const untilEqual = <T>(read: () => T | Promise<T>, expected: T): Promise<T> =>
  eventually(read, (reading) => isDeepStrictEqual(reading, expected));

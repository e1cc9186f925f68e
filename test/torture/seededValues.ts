import fc from 'fast-check';

export function valueOf<T>(arbitrary: fc.Arbitrary<T>, seed: number): T {
  // The sample is unbiased, since edge values such as very small and large numbers are unrealistic
  // here.
  const [value] = fc.sample(arbitrary, { seed, numRuns: 1, unbiased: true });
  return value as T;
}

/** This replaces `Math.random` by a seeded function, the same on every machine. */
export function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

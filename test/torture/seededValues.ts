import fc from 'fast-check';

/** The value of an arbitrary for a seed. */
export function valueOf<T>(arbitrary: fc.Arbitrary<T>, seed: number): T {
  // What is likely to break a function that is given it, small and large numbers above all, is not what happens to a run.
  const [value] = fc.sample(arbitrary, { seed, numRuns: 1, unbiased: true });
  return value as T;
}

/** A seeded `Math.random`. */
export function randomOf(seed: number): () => number {
  const numbers = valueOf(fc.infiniteStream(fc.nat()), seed);
  return () => (numbers.next().value ?? 0) / 2 ** 31;
}

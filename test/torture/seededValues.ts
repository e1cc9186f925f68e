import fc from 'fast-check';

/** What a seed makes of an arbitrary: the same each time. */
export function valueOf<T>(arbitrary: fc.Arbitrary<T>, seed: number): T {
  // What is likely to break a function that is given it, small and large numbers above all, is not what happens to a run.
  const [value] = fc.sample(arbitrary, { seed, numRuns: 1, unbiased: true });
  return value as T;
}

/** Numbers from 0 to below 1, as `Math.random` gives them, that are the same for the same seed. */
export function randomOf(seed: number): () => number {
  const numbers = valueOf(fc.infiniteStream(fc.nat()), seed);
  return () => (numbers.next().value ?? 0) / 2 ** 31;
}

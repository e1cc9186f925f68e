import fc from 'fast-check';

/** The value of an arbitrary for a seed. */
export function valueOf<T>(arbitrary: fc.Arbitrary<T>, seed: number): T {
  // Unbiased, since edge values such as very small and large numbers are unrealistic here.
  const [value] = fc.sample(arbitrary, { seed, numRuns: 1, unbiased: true });
  return value as T;
}

/** A seeded `Math.random`. */
export function randomOf(seed: number): () => number {
  const numbers = valueOf(fc.infiniteStream(fc.nat()), seed);
  return () => (numbers.next().value ?? 0) / 2 ** 31;
}

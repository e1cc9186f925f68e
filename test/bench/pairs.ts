export interface Paired {
  readonly ours: number;
  readonly peer: number;
  readonly ratio: number;
}

/** Runs ours and the peer alternately, so that other load affects both. */
export async function inPairs(
  pairs: number,
  ours: () => Promise<number>,
  peer: () => number | Promise<number>,
): Promise<Paired> {
  const [only] = await valuesInPairs(
    pairs,
    async () => [await ours()],
    async () => [await peer()],
  );
  return only!;
}

/** Measures several values in each run. */
export async function valuesInPairs(
  pairs: number,
  ours: () => Promise<readonly number[]>,
  peer: () => Promise<readonly number[]>,
): Promise<readonly Paired[]> {
  const runs: { ours: readonly number[]; peer: readonly number[] }[] = [];
  for (let pair = 0; pair < pairs; pair++) runs.push({ peer: await peer(), ours: await ours() });
  return (runs[0]?.peer ?? []).map((_, at) => {
    const medianOf = (value: (run: (typeof runs)[number]) => number | undefined): number =>
      median(runs.map((run) => value(run) ?? NaN));
    return {
      ours: medianOf((run) => run.ours[at]),
      peer: medianOf((run) => run.peer[at]),
      ratio: medianOf((run) => (run.ours[at] ?? NaN) / (run.peer[at] ?? NaN)),
    };
  });
}

/** An even count gives the mean of the middle two. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  return ((sorted[Math.ceil(middle) - 1] ?? NaN) + (sorted[Math.floor(middle)] ?? NaN)) / 2;
}

/** Two measurements in turn: their medians, and the median of the ratios. */
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
  const measured: { ours: number; peer: number }[] = [];
  for (let pair = 0; pair < pairs; pair++) measured.push({ peer: await peer(), ours: await ours() });
  return {
    ours: median(measured.map((one) => one.ours)),
    peer: median(measured.map((one) => one.peer)),
    ratio: median(measured.map((one) => one.ours / one.peer)),
  };
}

/** The middle value; for an even count the mean of the middle two. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  return ((sorted[Math.ceil(middle) - 1] ?? NaN) + (sorted[Math.floor(middle)] ?? NaN)) / 2;
}

/** Below this share of equal letters, one line is not an edited form of another. */
const minLikeness = 0.5;
/** Past this many comparisons nothing is paired. */
const maxComparisons = 10_000;

/**
 * Which of the new lines each old line became, in order, so that the likeness of all pairs together is greatest; undefined for a line
 * that became none of them. Texts are compared as they are given.
 */
export function pairLines(
  before: readonly string[],
  now: readonly string[],
): readonly (number | undefined)[] {
  const pairs = before.map((): number | undefined => undefined);
  if (before.length * now.length > maxComparisons) return pairs;
  const width = now.length + 1;
  // best[i * width + j]: the most that the lines from i on and the new lines from j on can have in common.
  const best = new Float64Array((before.length + 1) * width);
  const likenessOf = (i: number, j: number): number => {
    const likeness = lineLikeness(before[i] ?? '', now[j] ?? '');
    return likeness < minLikeness ? -1 : likeness;
  };
  const at = (i: number, j: number): number => best[i * width + j] ?? 0;
  for (let i = before.length - 1; i >= 0; i -= 1) {
    for (let j = now.length - 1; j >= 0; j -= 1) {
      best[i * width + j] = Math.max(at(i + 1, j), at(i, j + 1), likenessOf(i, j) + at(i + 1, j + 1));
    }
  }
  for (let i = 0, j = 0; i < before.length && j < now.length;) {
    if (at(i, j) === at(i + 1, j)) i += 1;
    else if (at(i, j) === at(i, j + 1)) j += 1;
    else pairs[i++] = j++;
  }
  return pairs;
}

/** The share of letters that two lines have in common at their beginnings and ends: what typing in a line leaves. */
function lineLikeness(one: string, other: string): number {
  const [shorter, longer] = one.length < other.length ? [one, other] : [other, one];
  let head = 0;
  while (head < shorter.length && one[head] === other[head]) head += 1;
  let tail = 0;
  while (tail < shorter.length - head && one.at(-1 - tail) === other.at(-1 - tail)) tail += 1;
  return longer.length === 0 ? 0 : (head + tail) / longer.length;
}

import { diffArrays } from 'diff';
import { blankLine, type LineKey, newLine } from './lineText.ts';

/** Lines of the text before, and those that stand in their place; 0-based, ends excluded. */
export interface Hunk {
  readonly from: number;
  readonly to: number;
  readonly nowFrom: number;
  readonly nowTo: number;
  /** More differs in here than was compared: what became of these lines is not known. */
  readonly isTooMuch?: boolean;
}

/** How many lines may differ between two that are surely the same, deleted and inserted ones together: the work grows with the square. */
const maxEdits = 100;

/**
 * What differs between two lists of lines, in order. Lines that both have exactly once lead (as in a patience diff), so that the work
 * stays small; between them, the shortest difference is found.
 */
export function diffLines(before: readonly LineKey[], now: readonly LineKey[]): readonly Hunk[] {
  const all = trimmed({ from: 0, to: before.length, nowFrom: 0, nowTo: now.length }, before, now);
  let [from, nowFrom] = [all.from, all.nowFrom];
  const hunks: Hunk[] = [];
  for (const [to, nowTo] of [...landmarks(all, before, now), [all.to, all.nowTo] as const]) {
    hunks.push(...hunksInside(trimmed({ from, to, nowFrom, nowTo }, before, now), before, now));
    [from, nowFrom] = [to + 1, nowTo + 1];
  }
  return hunks;
}

/** A hunk without the equal lines at its ends. */
function trimmed(hunk: Hunk, before: readonly LineKey[], now: readonly LineKey[]): Hunk {
  let { from, to, nowFrom, nowTo } = hunk;
  while (from < to && nowFrom < nowTo && before[from] === now[nowFrom])
    [from, nowFrom] = [from + 1, nowFrom + 1];
  while (from < to && nowFrom < nowTo && before[to - 1] === now[nowTo - 1]) [to, nowTo] = [to - 1, nowTo - 1];
  return { from, to, nowFrom, nowTo };
}

function hunksInside(inside: Hunk, before: readonly LineKey[], now: readonly LineKey[]): readonly Hunk[] {
  const { from, to, nowFrom, nowTo } = inside;
  if (from === to && nowFrom === nowTo) return [];
  if (from === to || nowFrom === nowTo) return [inside];
  const changes = diffArrays(before.slice(from, to), now.slice(nowFrom, nowTo), { maxEditLength: maxEdits });
  if (changes === undefined) return [{ ...inside, isTooMuch: true }];
  const hunks: Hunk[] = [];
  let hunk = { from, to: from, nowFrom, nowTo: nowFrom };
  for (const { added, removed, count } of changes) {
    if (removed) hunk.to += count;
    else if (added) hunk.nowTo += count;
    else {
      if (hunk.to > hunk.from || hunk.nowTo > hunk.nowFrom) hunks.push(hunk);
      const [next, nextNow] = [hunk.to + count, hunk.nowTo + count];
      hunk = { from: next, to: next, nowFrom: nextNow, nowTo: nextNow };
    }
  }
  if (hunk.to > hunk.from || hunk.nowTo > hunk.nowFrom) hunks.push(hunk);
  return hunks;
}

/** Lines that both sides of a hunk have exactly once, as many as keep their order: where they are before, and now. */
function landmarks(
  { from, to, nowFrom, nowTo }: Hunk,
  before: readonly LineKey[],
  now: readonly LineKey[],
): readonly (readonly [number, number])[] {
  if (from === to || nowFrom === nowTo) return [];
  const here = onlyPlaces(before, from, to);
  const there = onlyPlaces(now, nowFrom, nowTo);
  const pairs: (readonly [number, number])[] = [];
  for (let line = from; line < to; line += 1) {
    const key = before[line] ?? blankLine;
    const other = there[key] ?? 0;
    if (here[key] === line + 1 && other > 0) pairs.push([line, other - 1]);
  }
  return longestRising(pairs);
}

/** By key, the number of the line from 1 on; -1 when there are several. */
function onlyPlaces(keys: readonly LineKey[], from: number, to: number): readonly number[] {
  const places: number[] = [];
  for (let line = from; line < to; line += 1) {
    const key = keys[line] ?? blankLine;
    if (key !== blankLine && key !== newLine) places[key] = places[key] === undefined ? line + 1 : -1;
  }
  return places;
}

/** The longest part of a list, in its order, whose second numbers rise. */
function longestRising(
  pairs: readonly (readonly [number, number])[],
): readonly (readonly [number, number])[] {
  const ends: number[] = [];
  const previous = new Int32Array(pairs.length).fill(-1);
  const secondOf = (at: number | undefined): number => pairs[at ?? -1]?.[1] ?? -1;
  for (const [at, [, second]] of pairs.entries()) {
    let [low, high] = [0, ends.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (secondOf(ends[middle]) < second) low = middle + 1;
      else high = middle;
    }
    previous[at] = ends[low - 1] ?? -1;
    ends[low] = at;
  }
  const rising: (readonly [number, number])[] = [];
  for (let at = ends.at(-1) ?? -1; at >= 0; at = previous[at] ?? -1) {
    const pair = pairs[at];
    if (pair !== undefined) rising.push(pair);
  }
  return rising.reverse();
}

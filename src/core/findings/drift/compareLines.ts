import { diffArrays } from 'diff';
import { compact, maxComparedLength } from './lineText.ts';

/** The time grows with the square of the number of edits, and a user waits for the result. */
const maxGapEdits = 100;
const maxLandmarkEdits = 400;

/** Lines are 0-based; `to` and `afterTo` are exclusive. */
export interface Hunk {
  readonly from: number;
  readonly to: number;
  readonly afterFrom: number;
  readonly afterTo: number;
  /** False means that comparing would take too long: some lines may be the same. */
  readonly isCompared: boolean;
}

/** A very long line keeps its white space. */
export function comparable(line: string): string {
  return line.length > maxComparedLength ? line : compact(line);
}

export function compareLines(before: readonly string[], after: readonly string[]): readonly Hunk[] {
  const shorter = Math.min(before.length, after.length);
  let head = 0;
  while (head < shorter && before[head] === after[head]) head += 1;
  let tail = 0;
  while (tail < shorter - head && before.at(-1 - tail) === after.at(-1 - tail)) tail += 1;
  const middle = before.slice(head, before.length - tail).map(comparable);
  const afterMiddle = after.slice(head, after.length - tail).map(comparable);
  const end = [middle.length, afterMiddle.length] as const;
  const hunks: Hunk[] = [];
  let [from, afterFrom] = [0, 0];
  for (const [to, afterTo] of [...landmarksOf(middle, afterMiddle), end]) {
    const [gap, afterGap] = [middle.slice(from, to), afterMiddle.slice(afterFrom, afterTo)];
    hunks.push(...compareGap(gap, afterGap, head + from, head + afterFrom));
    [from, afterFrom] = [to + 1, afterTo + 1];
  }
  return hunks;
}

function compareGap(
  before: readonly string[],
  after: readonly string[],
  at: number,
  afterAt: number,
): readonly Hunk[] {
  if (before.length === 0 && after.length === 0) return [];
  const whole = { from: at, to: at + before.length, afterFrom: afterAt, afterTo: afterAt + after.length };
  if (before.length === 0 || after.length === 0) return [{ ...whole, isCompared: true }];
  const changes = diffArrays([...before], [...after], { maxEditLength: maxGapEdits });
  if (changes === undefined) return [{ ...whole, isCompared: false }];
  const hunks: Hunk[] = [];
  let [to, afterTo] = [at, afterAt];
  for (const { added, removed, count } of changes) {
    let [from, afterFrom] = [to, afterTo];
    if (!added) to += count;
    if (!removed) afterTo += count;
    if (!added && !removed) continue;
    // `diff` reports a replacement as two changes.
    const last = hunks.at(-1);
    if (last?.to === from && last.afterTo === afterFrom) ({ from, afterFrom } = hunks.pop() ?? last);
    hunks.push({ from, to, afterFrom, afterTo, isCompared: true });
  }
  return hunks;
}

/** Lines that occur once in each text, in their common order, split the texts into small gaps. */
function landmarksOf(
  before: readonly string[],
  after: readonly string[],
): readonly (readonly [at: number, afterAt: number])[] {
  const [beforeLines, afterLines] = [uniqueIn(before), uniqueIn(after)];
  const isLandmark = (text: string): boolean => text !== '' && beforeLines.has(text) && afterLines.has(text);
  const changes = diffArrays(before.filter(isLandmark), after.filter(isLandmark), {
    maxEditLength: maxLandmarkEdits,
  });
  return (changes ?? [])
    .flatMap(({ added, removed, value }) => (added || removed ? [] : value))
    .map((text) => [beforeLines.get(text) ?? 0, afterLines.get(text) ?? 0]);
}

function uniqueIn(texts: readonly string[]): ReadonlyMap<string, number> {
  const positions = Map.groupBy(texts.keys(), (at) => texts[at] ?? '');
  return new Map([...positions].flatMap(([text, all]) => (all.length > 1 ? [] : [[text, all[0] ?? 0]])));
}

/** Lines are 0-based. If all are blank, returns all. */
export function codeLinesIn(lines: readonly string[], first: number, last: number): readonly number[] {
  const count = Math.min(last, lines.length - 1) - first + 1;
  const all = Array.from({ length: Math.max(0, count) }, (_, at) => first + at);
  const code = all.filter((line) => /\S/.test(lines[line] ?? ''));
  return code.length === 0 ? all : code;
}

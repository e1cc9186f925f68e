import { diffArrays } from 'diff';
import { compact, maxComparedLength } from './lineText.ts';

/** A comparison with more deleted and inserted lines has no result: its time grows with their square, and a keystroke waits for it. */
const maxGapEdits = 100;
const maxLandmarkEdits = 400;

/** In place of a counterpart: the line has none. */
export const lost = -1;
/** In place of a counterpart: the line was not compared. */
export const uncompared = -2;

/** The form in which lines are compared. A very long line keeps its white space. */
export function comparable(line: string): string {
  return line.length > maxComparedLength ? line : compact(line);
}

/** For each line of `before` its counterpart in `after` (0-based), `lost` or `uncompared`. */
export function compareLines(before: readonly string[], after: readonly string[]): Int32Array {
  const counterparts = new Int32Array(before.length).fill(lost);
  const shorter = Math.min(before.length, after.length);
  let head = 0;
  for (; head < shorter && before[head] === after[head]; head += 1) counterparts[head] = head;
  let tail = 0;
  for (; tail < shorter - head && before.at(-1 - tail) === after.at(-1 - tail); tail += 1)
    counterparts[before.length - 1 - tail] = after.length - 1 - tail;

  const middle = before.slice(head, before.length - tail).map(comparable);
  const afterMiddle = after.slice(head, after.length - tail).map(comparable);
  const compareGap = (from: number, to: number, afterFrom: number, afterTo: number): void => {
    if (from === to || afterFrom === afterTo) return;
    const changes = diffArrays(middle.slice(from, to), afterMiddle.slice(afterFrom, afterTo), {
      maxEditLength: maxGapEdits,
    });
    if (changes === undefined) counterparts.fill(uncompared, head + from, head + to);
    let [line, afterLine] = [head + from, head + afterFrom];
    for (const { added, removed, count } of changes ?? []) {
      if (!added && !removed) for (let at = 0; at < count; at += 1) counterparts[line + at] = afterLine + at;
      if (!added) line += count;
      if (!removed) afterLine += count;
    }
  };
  let [from, afterFrom] = [0, 0];
  for (const landmark of landmarksOf(middle, afterMiddle)) {
    const at = middle.indexOf(landmark, from);
    const afterAt = afterMiddle.indexOf(landmark, afterFrom);
    compareGap(from, at, afterFrom, afterAt);
    counterparts[head + at] = head + afterAt;
    [from, afterFrom] = [at + 1, afterAt + 1];
  }
  compareGap(from, middle.length, afterFrom, afterMiddle.length);
  return counterparts;
}

/** Lines that occur once in each text, in their common order. They split the comparison into small gaps. */
function landmarksOf(before: readonly string[], after: readonly string[]): readonly string[] {
  const [counts, afterCounts] = [countEach(before), countEach(after)];
  const isLandmark = (text: string): boolean =>
    text !== '' && counts.get(text) === 1 && afterCounts.get(text) === 1;
  const changes = diffArrays(before.filter(isLandmark), after.filter(isLandmark), {
    maxEditLength: maxLandmarkEdits,
  });
  return (changes ?? []).flatMap(({ added, removed, value }) => (added || removed ? [] : value));
}

function countEach(texts: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1);
  return counts;
}

/** The lines of a range (0-based, ends included) that are not blank; all of them if all are blank. */
export function codeLinesIn(lines: readonly string[], first: number, last: number): readonly number[] {
  const count = Math.min(last, lines.length - 1) - first + 1;
  const all = Array.from({ length: Math.max(0, count) }, (_, at) => first + at);
  const code = all.filter((line) => {
    const text = lines[line] ?? '';
    return text.length > maxComparedLength || /\S/.test(text);
  });
  return code.length === 0 ? all : code;
}

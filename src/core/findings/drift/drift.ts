import { diffArrays } from 'diff';
import {
  type CodeLines,
  compact,
  findBlocks,
  type LineRange,
  maxComparedLength,
  rangeOf,
  readCode,
} from './lineText.ts';

/** Where a place is now, compared with the text that was scanned; `unknown` when that text is not at hand. */
export type Drift = 'same' | 'moved' | 'changed' | 'gone' | 'unknown';

/** Where lines are now: for `gone` the nearest line that is left, for `unknown` the same numbers as far as there are such lines. */
export interface DriftedRange extends LineRange {
  readonly drift: Drift;
}

/** Follows a range of lines from one text to another. */
export type LineMap = (range: LineRange) => DriftedRange;

/** A comparison ends without a result at so many deleted and inserted lines: its time grows with their square, and a keystroke waits for it. */
const [maxGapEdits, maxMoves] = [100, 400];
/** The images of a line that is not there as it was, and of one in a gap that is not compared. */
const [lost, uncompared] = [-1, -2];
/** A block of fewer letters stands in many places by chance. */
const minBlockLength = 8;
/** Below this share of equal letters, one line is not an edited form of another. */
const minLikeness = 0.5;

/**
 * Reads a text once, to follow ranges of its lines into later texts. White space, blank lines and line ends are no difference, save in lines that are very long. Code that
 * stands once in both texts has `moved`. Where texts differ too much to be compared in time, only such code is known; other lines are
 * `unknown`.
 */
export function followLines(before: readonly string[]): (now: readonly string[]) => LineMap {
  const codeBefore = lazily(() => readCode(before.map(textOf)));
  return (now) => {
    if (now === before) return (range) => ({ ...range, drift: 'same' });
    const change = {
      before,
      now,
      codeBefore,
      codeNow: lazily(() => readCode(now.map(textOf))),
      images: compare(before, now),
      replacements: new Map<number, readonly (number | undefined)[]>(),
    };
    return (range) => follow(range, change);
  };
}

/** Compares a text with an earlier one: whether lines of it were written, moved, or had lines between them deleted; undefined where that would take too long. */
export function differsFrom(
  before: readonly string[],
  now: readonly string[],
): (range: LineRange) => boolean | undefined {
  const origins = compare(now, before);
  const originOf = (line: number): number => origins[line] ?? lost;
  const code = codeIn(now, 0, now.length - 1);
  const codeBefore = countUpTo(codeIn(before, 0, before.length - 1), before.length);
  const isAfterGap = (line: number, at: number): boolean => {
    const [former, origin] = [originOf(code[at - 1] ?? line), originOf(line)];
    return former >= 0 && origin > former && (codeBefore[origin] ?? 0) > (codeBefore[former + 1] ?? 0);
  };
  // A file may have as many findings as it has lines.
  const counts = (lines: readonly number[]): Int32Array => countUpTo(lines, now.length);
  const codeUpTo = counts(code);
  const lostUpTo = counts(code.filter((line) => originOf(line) === lost));
  const unknownUpTo = counts(code.filter((line) => originOf(line) === uncompared));
  const gapsUpTo = counts(code.filter(isAfterGap));
  return ({ startLine, endLine }) => {
    const end = Math.min(endLine, now.length);
    const countOf = (upTo: Int32Array, start: number): number => (upTo[end] ?? 0) - (upTo[start] ?? 0);
    const first = code[codeUpTo[startLine - 1] ?? code.length] ?? now.length;
    if (first >= end) return undefined;
    if (countOf(lostUpTo, first) > 0 || countOf(gapsUpTo, first + 1) > 0) return true;
    return countOf(unknownUpTo, first) > 0 ? undefined : false;
  };
}

/** How many of these lines come before each line of a text. */
function countUpTo(lines: readonly number[], length: number): Int32Array {
  const upTo = new Int32Array(length + 1);
  for (const line of lines) upTo[line + 1] = 1;
  for (let at = 1; at <= length; at += 1) upTo[at] = (upTo[at] ?? 0) + (upTo[at - 1] ?? 0);
  return upTo;
}

/** Two texts, compared. Lines are 0-based in here. */
interface Change {
  readonly before: readonly string[];
  readonly now: readonly string[];
  readonly codeBefore: () => CodeLines;
  readonly codeNow: () => CodeLines;
  /** Where each line is now; negative for one that has no image. */
  readonly images: Int32Array;
  /** What lost lines have become, for each gap by its first line: compared once for all ranges. */
  readonly replacements: Map<number, readonly (number | undefined)[]>;
}

/** A line as it is compared; a long one keeps its white space. */
function textOf(line: string): string {
  return line.length > maxComparedLength ? line : compact(line);
}

/** The images of all lines. */
function compare(before: readonly string[], now: readonly string[]): Int32Array {
  const images = new Int32Array(before.length).fill(lost);
  const shorter = Math.min(before.length, now.length);
  let head = 0;
  for (; head < shorter && before[head] === now[head]; head += 1) images[head] = head;
  let tail = 0;
  for (; tail < shorter - head && before.at(-1 - tail) === now.at(-1 - tail); tail += 1)
    images[before.length - 1 - tail] = now.length - 1 - tail;
  const old = before.slice(head, before.length - tail).map(textOf);
  const fresh = now.slice(head, now.length - tail).map(textOf);
  let [line, nowLine] = [0, 0];
  const compareUntil = (end: number, nowEnd: number): void => {
    if (line === end || nowLine === nowEnd) return;
    const changes = diffArrays(old.slice(line, end), fresh.slice(nowLine, nowEnd), {
      maxEditLength: maxGapEdits,
    });
    if (changes === undefined) images.fill(uncompared, head + line, head + end);
    for (const { added, removed, count } of changes ?? []) {
      if (!added && !removed)
        for (let at = 0; at < count; at += 1) images[head + line + at] = head + nowLine + at;
      if (!added) line += count;
      if (!removed) nowLine += count;
    }
  };
  for (const text of landmarks(old, fresh)) {
    const [at, nowAt] = [old.indexOf(text, line), fresh.indexOf(text, nowLine)];
    compareUntil(at, nowAt);
    images[head + at] = head + nowAt;
    [line, nowLine] = [at + 1, nowAt + 1];
  }
  compareUntil(old.length, fresh.length);
  return images;
}

/** Lines that stand once in both texts, in their common order: with these fixed, little is left to compare between them. */
function landmarks(old: readonly string[], fresh: readonly string[]): readonly string[] {
  const [counts, freshCounts] = [countEach(old), countEach(fresh)];
  const isLandmark = (text: string): boolean =>
    text !== '' && counts.get(text) === 1 && freshCounts.get(text) === 1;
  const changes =
    diffArrays(old.filter(isLandmark), fresh.filter(isLandmark), { maxEditLength: maxMoves }) ?? [];
  return changes.flatMap(({ added, removed, value }) => (added || removed ? [] : value));
}

function countEach(texts: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1);
  return counts;
}

function follow(range: LineRange, change: Change): DriftedRange {
  const { before, now, images } = change;
  const lines = codeIn(before, range.startLine - 1, range.endLine - 1);
  const [first = 0, last = first] = [lines[0], lines.at(-1)];
  const kept = lines.map((line) => images[line] ?? -1).filter((line) => line >= 0);
  const [from = 0, to = from] = [kept[0], kept.at(-1)];
  if (kept.length === lines.length && codeIn(now, from, to).length === kept.length) {
    if (from !== first) return { startLine: from + 1, endLine: to + 1, drift: 'moved' };
    const endLine = Math.min(range.endLine + to - last, now.length);
    return { startLine: range.startLine, endLine, drift: 'same' };
  }
  const block = lines.map((line) => textOf(before[line] ?? ''));
  const moved = findMoved(block, change);
  if (moved !== undefined) return { ...moved, drift: moved.startLine === first + 1 ? 'same' : 'moved' };

  if (lines.some((line) => images[line] === uncompared)) {
    const startLine = Math.min(range.startLine, now.length);
    return { startLine, endLine: Math.min(range.endLine, now.length), drift: 'unknown' };
  }
  const keptLength = lengthOf(kept.map((line) => textOf(now[line] ?? '')));
  const isKept = kept.length > 0 && keptLength >= Math.min(lengthOf(block), minBlockLength);
  const present = [...(isKept ? kept : []), ...replacementsOf(lines, change)].sort(
    (one, other) => one - other,
  );
  const [start, end = start] = [present[0], present.at(-1)];
  if (start !== undefined && end !== undefined)
    return { startLine: start + 1, endLine: end + 1, drift: 'changed' };
  // Of two lines that changed places, a shorter one may count as the one that stayed.
  const longest = block.reduce((best, text) => (text.length > best.length ? text : best), '');
  const found = findMoved([longest], change);
  if (found !== undefined) return { ...found, drift: 'changed' };
  const line = 1 + nearestKept(first, last, change);
  return { startLine: line, endLine: line, drift: 'gone' };
}

/** Where a block is now that stands exactly once in each text. */
function findMoved(block: readonly string[], { codeBefore, codeNow }: Change): LineRange | undefined {
  if (lengthOf(block) < minBlockLength) return undefined;
  const [start, ...others] = findBlocks(codeNow(), block);
  if (start === undefined || others.length > 0) return undefined;
  return findBlocks(codeBefore(), block).length === 1 ? rangeOf(codeNow(), start, block.length) : undefined;
}

/** What stands in the place of those lines now that are lost. */
function replacementsOf(lines: readonly number[], change: Change): readonly number[] {
  const found: number[] = [];
  let gap: Gap | undefined;
  let replacements: readonly (number | undefined)[] = [];
  for (const line of lines) {
    if (change.images[line] !== lost) continue;
    if (gap === undefined || line >= gap.to) {
      gap = gapAround(line, line, change);
      replacements =
        change.replacements.get(gap.from) ??
        replacementsIn(
          change.before.slice(gap.from, gap.to).map(textOf),
          change.now.slice(gap.nowFrom, gap.nowTo).map(textOf),
        );
      change.replacements.set(gap.from, replacements);
    }
    const replacement = replacements[line - gap.from];
    if (replacement !== undefined) found.push(gap.nowFrom + replacement);
  }
  return found;
}

/** Lines between two that are kept, and those that stand between these two now. The ends are excluded. */
interface Gap {
  readonly from: number;
  readonly to: number;
  readonly nowFrom: number;
  readonly nowTo: number;
}

/** The gap around lines that are lost, from one to another. */
function gapAround(first: number, last: number, { images, now }: Change): Gap {
  let from = first;
  while (from > 0 && (images[from - 1] ?? 0) < 0) from -= 1;
  let to = last + 1;
  while (to < images.length && (images[to] ?? 0) < 0) to += 1;
  return { from, to, nowFrom: (images[from - 1] ?? -1) + 1, nowTo: images[to] ?? now.length };
}

/** Where the kept line nearest to a range is now. */
function nearestKept(first: number, last: number, change: Change): number {
  const { from, to, nowFrom, nowTo } = gapAround(first, last, change);
  const [isAbove, isBelow] = [from > 0, to < change.before.length];
  if (isAbove && (!isBelow || first - from < to - last)) return nowFrom - 1;
  return isBelow ? nowTo : Math.min(first, change.now.length - 1);
}

/** What each lost line of a gap has become: the new line that is most like it, else the first new one that is like none. */
function replacementsIn(
  before: readonly string[],
  written: readonly string[],
): readonly (number | undefined)[] {
  const alike = before.map((line) => mostAlike(line, written));
  const free = written.findIndex((text, at) => text !== '' && !alike.includes(at));
  return alike.map((at) => at ?? (free < 0 ? undefined : free));
}

function mostAlike(line: string, written: readonly string[]): number | undefined {
  const shares = written.map((text) => likeness(line, text));
  const most = shares.reduce((best, share) => Math.max(best, share), minLikeness);
  const at = shares.indexOf(most);
  return at < 0 ? undefined : at;
}

/** Whether lines may be what typing made of others; undefined for lines that are too long to be compared. */
export function isEditOf(now: readonly string[], before: readonly string[]): boolean | undefined {
  if (Math.max(lengthOf(now), lengthOf(before)) > maxComparedLength) return undefined;
  return likeness(now.map(compact).join(''), before.map(compact).join('')) >= minLikeness;
}

/** The share of letters that two lines have in common at their beginnings and ends: what typing in a line leaves. None in lines that are very long. */
function likeness(one: string, other: string): number {
  const [shorter, longer] = one.length < other.length ? [one, other] : [other, one];
  if (longer.length > maxComparedLength) return 0;
  let head = 0;
  while (head < shorter.length && one[head] === other[head]) head += 1;
  let tail = 0;
  while (tail < shorter.length - head && one.at(-1 - tail) === other.at(-1 - tail)) tail += 1;
  return longer.length === 0 ? 0 : (head + tail) / longer.length;
}

/** The lines of a range, ends included, that are not blank; all of them when there are only blank ones. */
function codeIn(lines: readonly string[], first: number, last: number): readonly number[] {
  const count = Math.min(last, lines.length - 1) - first + 1;
  const all = Array.from({ length: Math.max(0, count) }, (_, at) => first + at);
  const code = all.filter((line) => {
    const text = lines[line] ?? '';
    return text.length > maxComparedLength || /\S/.test(text);
  });
  return code.length === 0 ? all : code;
}

function lengthOf(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + text.length, 0);
}

/** Makes a value when it is first asked for. */
function lazily<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}

import { lazily } from '../../yieldingWork.ts';
import { codeLinesIn, comparable, compareLines, lost, uncompared } from './compareLines.ts';
import {
  type CodeLines,
  compact,
  findBlocks,
  type LineRange,
  maxComparedLength,
  rangeOf,
  readCode,
} from './lineText.ts';

/** What became of a place since its text was scanned; `unknown` when that text is not available. */
export type Drift = 'same' | 'moved' | 'changed' | 'gone' | 'unknown';

/** Current lines. For `gone` the nearest line that is left, for `unknown` the same numbers, as far as there are such lines. */
export interface DriftedRange extends LineRange {
  readonly drift: Drift;
}

/** Follows a range of lines from one text to another. */
export type LineMap = (range: LineRange) => DriftedRange;

/** A shorter block of code occurs in many places by chance. In characters. */
const minBlockLength = 8;
/** If two lines have a smaller share of characters in common, one is not an edit of the other. */
const minLikeness = 0.5;

/** Two texts and their comparison. Lines are 0-based in this file, except in ranges. */
interface Change {
  readonly before: readonly string[];
  readonly after: readonly string[];
  readonly codeBefore: () => CodeLines;
  readonly codeAfter: () => CodeLines;
  /** See `compareLines`. */
  readonly counterparts: Int32Array;
  /** By the first line of a gap: `replacementsIn` it, computed once for all ranges. */
  readonly replacements: Map<number, readonly (number | undefined)[]>;
}

/**
 * Indexes a text, to follow ranges of its lines into later texts. White space, blank lines and line ends do not count, except in very long lines. Code that
 * occurs once in both texts has `moved`. Where comparing would take too long, only such code is followed, and other lines are `unknown`.
 */
export function followLines(before: readonly string[]): (after: readonly string[]) => LineMap {
  const codeBefore = lazily(() => readCode(before.map(comparable)));
  return (after) => {
    if (after === before) return (range) => ({ ...range, drift: 'same' });
    const change = {
      before,
      after,
      codeBefore,
      codeAfter: lazily(() => readCode(after.map(comparable))),
      counterparts: compareLines(before, after),
      replacements: new Map<number, readonly (number | undefined)[]>(),
    };
    return (range) => follow(range, change);
  };
}

function follow(range: LineRange, change: Change): DriftedRange {
  const { before, after, counterparts } = change;
  const lines = codeLinesIn(before, range.startLine - 1, range.endLine - 1);
  const [first = 0, last = first] = [lines[0], lines.at(-1)];
  const kept = lines.map((line) => counterparts[line] ?? lost).filter((line) => line >= 0);
  const [keptFirst = 0, keptLast = keptFirst] = [kept[0], kept.at(-1)];
  const isWhole = kept.length === lines.length;
  if (isWhole && codeLinesIn(after, keptFirst, keptLast).length === kept.length) {
    if (keptFirst !== first) return { startLine: keptFirst + 1, endLine: keptLast + 1, drift: 'moved' };
    const endLine = Math.min(range.endLine + keptLast - last, after.length);
    return { startLine: range.startLine, endLine, drift: 'same' };
  }

  const block = lines.map((line) => comparable(before[line] ?? ''));
  const moved = findMoved(block, change);
  if (moved !== undefined) return { ...moved, drift: moved.startLine === first + 1 ? 'same' : 'moved' };

  if (lines.some((line) => counterparts[line] === uncompared)) {
    const startLine = Math.min(range.startLine, after.length);
    return { startLine, endLine: Math.min(range.endLine, after.length), drift: 'unknown' };
  }

  const keptLength = lengthOf(kept.map((line) => comparable(after[line] ?? '')));
  const isEnoughKept = kept.length > 0 && keptLength >= Math.min(lengthOf(block), minBlockLength);
  const left = [...(isEnoughKept ? kept : []), ...replacementsOf(lines, change)].sort((a, b) => a - b);
  const [start, end = start] = [left[0], left.at(-1)];
  if (start !== undefined && end !== undefined)
    return { startLine: start + 1, endLine: end + 1, drift: 'changed' };

  // When two lines swap places, the comparison may keep the shorter one.
  const longest = block.reduce((best, text) => (text.length > best.length ? text : best), '');
  const movedLine = findMoved([longest], change);
  if (movedLine !== undefined) return { ...movedLine, drift: 'changed' };

  const line = 1 + nearestKept(first, last, change);
  return { startLine: line, endLine: line, drift: 'gone' };
}

/** The current lines of a block that occurs exactly once in each text. */
function findMoved(block: readonly string[], { codeBefore, codeAfter }: Change): LineRange | undefined {
  if (lengthOf(block) < minBlockLength) return undefined;
  const [start, ...others] = findBlocks(codeAfter(), block);
  if (start === undefined || others.length > 0) return undefined;
  return findBlocks(codeBefore(), block).length === 1 ? rangeOf(codeAfter(), start, block.length) : undefined;
}

/** The current lines that replaced the lost ones of `lines`. */
function replacementsOf(lines: readonly number[], change: Change): readonly number[] {
  const found: number[] = [];
  let gap: Gap | undefined;
  let replacements: readonly (number | undefined)[] = [];
  for (const line of lines) {
    if (change.counterparts[line] !== lost) continue;
    if (gap === undefined || line >= gap.to) {
      gap = gapAround(line, line, change);
      replacements = change.replacements.get(gap.from) ?? replacementsIn(gap, change);
      change.replacements.set(gap.from, replacements);
    }
    const replacement = replacements[line - gap.from];
    if (replacement !== undefined) found.push(replacement);
  }
  return found;
}

/** The lines between two kept lines, before and after. `to` and `afterTo` are excluded. */
interface Gap {
  readonly from: number;
  readonly to: number;
  readonly afterFrom: number;
  readonly afterTo: number;
}

/** The gap around lost lines. */
function gapAround(first: number, last: number, { counterparts, after }: Change): Gap {
  let from = first;
  while (from > 0 && (counterparts[from - 1] ?? 0) < 0) from -= 1;
  let to = last + 1;
  while (to < counterparts.length && (counterparts[to] ?? 0) < 0) to += 1;
  return {
    from,
    to,
    afterFrom: (counterparts[from - 1] ?? -1) + 1,
    afterTo: counterparts[to] ?? after.length,
  };
}

/** The current line of the kept line nearest to a range. */
function nearestKept(first: number, last: number, change: Change): number {
  const { from, to, afterFrom, afterTo } = gapAround(first, last, change);
  const [hasAbove, hasBelow] = [from > 0, to < change.before.length];
  if (hasAbove && (!hasBelow || first - from < to - last)) return afterFrom - 1;
  return hasBelow ? afterTo : Math.min(first, change.after.length - 1);
}

/** For each line of a gap: the current line most like it, else the first non-blank one that is like no other line. */
function replacementsIn(
  { from, to, afterFrom, afterTo }: Gap,
  { before, after }: Change,
): readonly (number | undefined)[] {
  const written = after.slice(afterFrom, afterTo).map(comparable);
  const mostAlike = before.slice(from, to).map((line) => indexOfMostAlike(comparable(line), written));
  const free = written.findIndex((text, at) => text !== '' && !mostAlike.includes(at));
  return mostAlike.map((at) => {
    const index = at ?? (free < 0 ? undefined : free);
    return index === undefined ? undefined : afterFrom + index;
  });
}

function indexOfMostAlike(line: string, written: readonly string[]): number | undefined {
  const shares = written.map((text) => likeness(line, text));
  const most = shares.reduce((best, share) => Math.max(best, share), minLikeness);
  const at = shares.indexOf(most);
  return at < 0 ? undefined : at;
}

/** Whether typing may have turned the lines `before` into `after`; undefined for lines that are too long to be compared. */
export function isEditOf(after: readonly string[], before: readonly string[]): boolean | undefined {
  if (Math.max(lengthOf(after), lengthOf(before)) > maxComparedLength) return undefined;
  return likeness(after.map(compact).join(''), before.map(compact).join('')) >= minLikeness;
}

/** The share of characters that two lines have in common at their starts and ends, which typing in a line keeps. 0 for very long lines. */
function likeness(one: string, other: string): number {
  const [shorter, longer] = one.length < other.length ? [one, other] : [other, one];
  if (longer.length > maxComparedLength) return 0;
  let head = 0;
  while (head < shorter.length && one[head] === other[head]) head += 1;
  let tail = 0;
  while (tail < shorter.length - head && one.at(-1 - tail) === other.at(-1 - tail)) tail += 1;
  return longer.length === 0 ? 0 : (head + tail) / longer.length;
}

function lengthOf(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + text.length, 0);
}

import { lazily } from '../../yieldingWork.ts';
import { codeLinesIn, comparable, compareLines, type Hunk } from './compareLines.ts';
import {
  type CodeLines,
  findBlocks,
  lastUpTo,
  type LineRange,
  maxComparedLength,
  rangeOf,
  readCode,
} from './lineText.ts';

/** `unknown` means that a text or the line is unknown, or that comparing takes too long. */
export type Drift = 'same' | 'moved' | 'changed' | 'gone' | 'unknown';

/**
 * A `gone` range is near the place where the code was. An `unknown` range keeps its old line
 * numbers, limited to the length of the text.
 */
export interface DriftedRange extends LineRange {
  readonly drift: Drift;
}

/** Blocks of fewer characters also occur elsewhere by chance. */
const minBlockLength = 8;
/** Lines that share a smaller part of their characters are not edits of each other. */
const minLikeness = 0.5;

interface ChangedLines extends Hunk {
  readonly replacements: () => readonly (number | undefined)[];
}

/** Lines are 0-based in this file, except in ranges. */
interface LineChange {
  readonly before: readonly string[];
  readonly after: readonly string[];
  readonly codeBefore: () => CodeLines;
  readonly codeAfter: () => CodeLines;
  /** Returns the line in the new text, or the hunk that has the old line. */
  readonly lookUp: (line: number) => number | ChangedLines;
}

/**
 * Blank lines don't count, and white space counts only in very long lines. Code counts as moved
 * past other lines only if it occurs exactly once in each text. Where comparing would take too
 * long, only such code is found.
 */
export function followLines(
  before: readonly string[],
  after: readonly string[],
): (range: LineRange) => DriftedRange {
  const hunks = compareLines(before, after).map((hunk) => ({
    ...hunk,
    replacements: lazily(() => replacementsIn(hunk, before, after)),
  }));
  const codeBefore = lazily(() => readCode(before.map(comparable)));
  const codeAfter = lazily(() => readCode(after.map(comparable)));
  const starts = hunks.map(({ from }) => from);
  const lookUp = (line: number): number | ChangedLines => {
    const hunk = hunks[lastUpTo(line, starts)];
    if (hunk === undefined) return line;
    return line < hunk.to ? hunk : line - hunk.to + hunk.afterTo;
  };
  return (range) => follow(range, { before, after, codeBefore, codeAfter, lookUp });
}

function follow(range: LineRange, change: LineChange): DriftedRange {
  const { before, after, lookUp } = change;
  const lines = codeLinesIn(before, range.startLine - 1, range.endLine - 1);
  const [first = 0, last = first] = [lines[0], lines.at(-1)];
  const found = lines.map(lookUp);
  const kept = found.filter((each) => typeof each === 'number');
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

  if (found.some((each) => typeof each === 'object' && !each.isCompared)) {
    const startLine = Math.min(range.startLine, after.length);
    return { startLine, endLine: Math.min(range.endLine, after.length), drift: 'unknown' };
  }

  const keptLength = lengthOf(kept.map((line) => comparable(after[line] ?? '')));
  const isEnoughKept = kept.length > 0 && keptLength >= Math.min(lengthOf(block), minBlockLength);
  const left = found.flatMap((each, at) => {
    if (typeof each === 'number') return isEnoughKept ? each : [];
    return each.replacements()[(lines[at] ?? 0) - each.from] ?? [];
  });
  left.sort((one, other) => one - other);
  const [start = -1, end = start] = [left[0], left.at(-1)];
  if (start >= 0) return { startLine: start + 1, endLine: end + 1, drift: 'changed' };

  // If two lines are swapped, the comparison may keep the shorter one, so the longest is looked up.
  const longest = block.reduce((best, text) => (text.length > best.length ? text : best), '');
  const movedLine = findMoved([longest], change);
  if (movedLine !== undefined) return { ...movedLine, drift: 'changed' };

  const [above = 0] = found.map((each) => (typeof each === 'number' ? each + 1 : each.afterFrom));
  const line = Math.max(1, above);
  return { startLine: line, endLine: line, drift: 'gone' };
}

function findMoved(block: readonly string[], { codeBefore, codeAfter }: LineChange): LineRange | undefined {
  if (lengthOf(block) < minBlockLength) return undefined;
  const [start, ...others] = findBlocks(codeAfter(), block);
  if (start === undefined || others.length > 0) return undefined;
  return findBlocks(codeBefore(), block).length === 1 ? rangeOf(codeAfter(), start, block.length) : undefined;
}

/**
 * Returns the most similar new line for each old line. Old lines without a similar line get the
 * first non-blank new line that is left.
 */
function replacementsIn(
  { from, to, afterFrom, afterTo }: Hunk,
  before: readonly string[],
  after: readonly string[],
): readonly (number | undefined)[] {
  const written = after.slice(afterFrom, afterTo).map(comparable);
  const mostAlike = before.slice(from, to).map((line) => indexOfMostAlike(comparable(line), written));
  const free = written.findIndex((text, at) => text !== '' && !mostAlike.includes(at));
  return mostAlike.map((at) => {
    const index = at < 0 ? free : at;
    return index < 0 ? undefined : afterFrom + index;
  });
}

function indexOfMostAlike(line: string, written: readonly string[]): number {
  const shares = written.map((text) => likeness(line, text));
  const most = shares.reduce((best, share) => Math.max(best, share), minLikeness);
  return shares.indexOf(most);
}

/** Compares the characters at both ends, which edits usually keep. Very long lines give 0. */
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

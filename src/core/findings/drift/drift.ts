import type { LineRange } from './anchor.ts';
import { type CodeLines, codeOf, findBlock } from './findBlock.ts';
import { diffLines, type Hunk } from './lineDiff.ts';
import { blankLine, compact, type KeyedText, keyText, type LineKey, newLine } from './lineText.ts';
import { pairLines } from './pairLines.ts';

/** Where a place is now, compared with the text that was scanned; `unknown` when that text is not at hand. */
export type Drift = 'same' | 'moved' | 'changed' | 'gone' | 'unknown';

/** Where lines are now: for `gone` the nearest line that is left, for `unknown` the same numbers as far as there are such lines. */
export interface DriftedRange extends LineRange {
  readonly drift: Drift;
}

/** Follows a range of lines from one text to another. */
export type LineMap = (range: LineRange) => DriftedRange;

/** A block with fewer letters is found anywhere: it says nothing about where code went. */
const minBlockSize = 8;
/** A line with fewer letters, such as a lone brace, may belong to any block. */
const minLineSize = 4;

/**
 * Reads a text once, to follow its lines into later texts; of each of those, the answer holds for any number of ranges. White space, blank
 * lines and line ends are no difference. Code that was cut and stands as it was at one other place alone has `moved`. Where texts
 * differ too much to be compared in time, only such places are known, and `unknown` is said of all others.
 */
export function followLines(lines: readonly string[]): (now: readonly string[]) => LineMap {
  const before = lazily(() => keyText(lines));
  const code = lazily(() => codeOf(before().keys));
  return (now) => {
    if (now === lines) return (range) => ({ ...range, drift: 'same' });
    const change = compare(before(), now);
    const nowCode = lazily(() => codeOf(change.keys));
    return (range) => judge(range, change, { before: code, now: nowCode });
  };
}

/** Two texts, compared. Lines are 0-based in here. */
interface Change {
  readonly before: KeyedText;
  readonly keys: readonly LineKey[];
  /** Where each line before is now, -1 for one that is not there as it was; and the other way round. */
  readonly images: Int32Array;
  readonly origins: Int32Array;
  /** The difference that a line of the text before is in, when it is not there as it was. */
  hunkOf(line: number): Hunk | undefined;
  /** Where a line that is not there as it was has become another; undefined when nothing stands in its place. */
  heirOf(line: number): number | undefined;
}

function compare(before: KeyedText, now: readonly string[]): Change {
  const keys = before.keysOf(now);
  const hunks = diffLines(before.keys, keys);
  const images = new Int32Array(before.keys.length).fill(-1);
  const origins = new Int32Array(keys.length).fill(-1);
  let [line, shift] = [0, 0];
  const keepUntil = (end: number): void => {
    for (; line < end; line += 1) {
      images[line] = line + shift;
      origins[line + shift] = line;
    }
  };
  for (const { from, to, nowTo } of hunks) {
    keepUntil(from);
    [line, shift] = [to, nowTo - to];
  }
  keepUntil(images.length);
  const hunkOf = (lost: number): Hunk | undefined => {
    let [low, high] = [0, hunks.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((hunks[middle]?.to ?? 0) <= lost) low = middle + 1;
      else high = middle;
    }
    return hunks[low];
  };
  const heirs = new Map<Hunk, readonly (number | undefined)[]>();
  return {
    before,
    keys,
    images,
    origins,
    hunkOf,
    heirOf: (lost) => {
      const hunk = hunkOf(lost);
      if (hunk === undefined) return undefined;
      const known = heirs.get(hunk) ?? heirsIn(hunk, before.lines, now);
      heirs.set(hunk, known);
      return known[lost - hunk.from];
    },
  };
}

/** What each line of a hunk has become: the line that is like it, else what was written between its neighbours. */
function heirsIn(
  hunk: Hunk,
  before: readonly string[],
  now: readonly string[],
): readonly (number | undefined)[] {
  const written = now.slice(hunk.nowFrom, hunk.nowTo).map(compact);
  const pairs = pairLines(before.slice(hunk.from, hunk.to).map(compact), written);
  let gap: number | undefined;
  return pairs.map((pair, at) => {
    if (pair !== undefined) return hunk.nowFrom + pair;
    const previous = pairs[at - 1];
    if (at === 0 || previous !== undefined) {
      const next = pairs.slice(at).find((each) => each !== undefined) ?? written.length;
      const from = previous === undefined ? 0 : previous + 1;
      const line = written.slice(from, next).findIndex((text) => text !== '');
      gap = line < 0 ? undefined : hunk.nowFrom + from + line;
    }
    return gap;
  });
}

function judge(
  range: LineRange,
  change: Change,
  code: { readonly before: () => CodeLines; readonly now: () => CodeLines },
): DriftedRange {
  const { before, keys, images, origins } = change;
  const lines = codeLines(range, before.keys);
  const [first = 0] = lines;
  const last = lines.at(-1) ?? first;
  const left = lines.map((line) => images[line] ?? -1).filter((line) => line >= 0);
  const at = (from: number, to: number): DriftedRange =>
    from === first
      ? {
          startLine: range.startLine,
          endLine: Math.min(range.endLine + to - last, keys.length),
          drift: 'same',
        }
      : { startLine: from + 1, endLine: to + 1, drift: 'moved' };

  const [from = 0] = left;
  const to = left.at(-1) ?? from;
  if (
    left.length === lines.length &&
    codeLines({ startLine: from + 1, endLine: to + 1 }, keys).length === left.length
  )
    return at(from, to);

  const block = lines.map((line) => before.keys[line] ?? blankLine);
  const size = sizeOf(block, before);
  const isLeft =
    left.length > 0 &&
    sizeOf(
      left.map((line) => keys[line] ?? blankLine),
      before,
    ) >= Math.min(size, minBlockSize);
  if (!isLeft && size >= minBlockSize) {
    const isFree = (other: Int32Array) => (line: number, key: LineKey) =>
      other[line] === -1 || before.sizeOf(key) < minLineSize;
    const found = findBlock(block, code.now(), isFree(origins));
    if (found !== undefined && findBlock(block, code.before(), isFree(images)) !== undefined)
      return at(found.first, found.last);
  }
  const lost = lines.filter((line) => images[line] === -1);
  if (lost.some((line) => change.hunkOf(line)?.isTooMuch))
    return { ...within(range, keys.length), drift: 'unknown' };

  const heirs = lost.map((line) => change.heirOf(line));
  let [start, end] = isLeft ? [from, to] : [Infinity, -1];
  for (const heir of heirs) {
    if (heir !== undefined) [start, end] = [Math.min(start, heir), Math.max(end, heir)];
  }
  if (end >= 0) return { startLine: start + 1, endLine: end + 1, drift: 'changed' };
  const known = onlyLineOf(block, before, code.before(), code.now());
  if (known !== undefined) return { startLine: known + 1, endLine: known + 1, drift: 'changed' };
  const near = nearest(images, first, last) ?? Math.min(first, keys.length - 1);
  return { startLine: near + 1, endLine: near + 1, drift: 'gone' };
}

/**
 * Where the longest line of a block is now that both texts have once: of two that changed places, a shorter one may have been taken for
 * the one that stayed.
 */
function onlyLineOf(
  block: readonly LineKey[],
  text: KeyedText,
  before: CodeLines,
  now: CodeLines,
): number | undefined {
  const isOnly = (key: LineKey): boolean => [before, now].every(({ byKey }) => byKey.get(key)?.length === 1);
  let longest = newLine;
  for (const key of block) {
    if (text.sizeOf(key) >= Math.max(minBlockSize, text.sizeOf(longest) + 1) && isOnly(key)) longest = key;
  }
  return now.lines[now.byKey.get(longest)?.[0] ?? -1];
}

/** The lines of a range that are not blank; all of them when there are only blank ones. */
function codeLines({ startLine, endLine }: LineRange, keys: readonly LineKey[]): readonly number[] {
  const lines = Array.from(
    { length: Math.min(endLine, keys.length) - startLine + 1 },
    (_, at) => startLine - 1 + at,
  );
  const code = lines.filter((line) => keys[line] !== blankLine);
  return code.length === 0 ? lines : code;
}

function sizeOf(keys: readonly LineKey[], text: KeyedText): number {
  return keys.reduce((sum, key) => sum + text.sizeOf(key), 0);
}

/** Where the line nearest to a range is now, of those that are left. */
function nearest(images: Int32Array, first: number, last: number): number | undefined {
  let above = first;
  while (above >= 0 && images[above] === -1) above -= 1;
  let below = last;
  while (below < images.length && images[below] === -1) below += 1;
  const isAbove = above >= 0 && (below >= images.length || first - above <= below - last);
  return images[isAbove ? above : below];
}

function within({ startLine, endLine }: LineRange, count: number): LineRange {
  const start = Math.max(1, Math.min(startLine, count));
  return { startLine: start, endLine: Math.max(start, Math.min(endLine, count)) };
}

/** Makes a value when it is first asked for. */
function lazily<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}

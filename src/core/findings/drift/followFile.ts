import type { Place } from '../finding.ts';
import { type Drift, followLines } from './drift.ts';
import {
  type CodeLines,
  compact,
  compactEach,
  contains,
  findBlocks,
  isLeftOut,
  type LineRange,
  rangeOf,
  readCode,
  splitLines,
} from './lineText.ts';

/** Where a place is in a file's present text; lines are absent when unknown, columns where its line is not as it was reported. */
interface PlaceNow {
  readonly startLine?: number | undefined;
  readonly endLine?: number | undefined;
  readonly startColumn?: number | undefined;
  readonly endColumn?: number | undefined;
  readonly drift: Drift;
}

/** A text in which places can be looked up. */
export interface TextNow {
  /** True when the text is not the one that was scanned. */
  readonly isChanged: boolean;
  placeOf(reported: Place): PlaceNow;
}

/** A file whose text is followed. */
export interface FollowedFile {
  /** True when it is followed from the text that was scanned. */
  readonly isScanned: boolean;
  look(now: readonly string[]): TextNow;
}

/**
 * Follows places from the text they were reported for: the one that was scanned or, when that is not at hand, the first text that was seen
 * here. From the latter, lines are followed as well, but what happened to them before is `unknown`.
 */
export function followFile(lines: readonly string[], isScanned: boolean): FollowedFile {
  const follow = followLines(lines);
  const anchor = anchorIn(lines);
  const anchors = new WeakMap<Place, { readonly anchored: Anchored | undefined }>();
  const anchorOf = (place: Place): Anchored | undefined => {
    const known = anchors.get(place) ?? { anchored: anchor(place) };
    anchors.set(place, known);
    return known.anchored;
  };
  const look = (now: readonly string[]): TextNow => {
    const map = follow(now);
    return {
      isChanged: isScanned && now !== lines && !isEqual(now, lines),
      placeOf: (reported) => {
        const anchored = anchorOf(reported);
        if (anchored === undefined) return { drift: 'unknown' };
        const { drift, startLine, endLine } = map(anchored);
        const found = { startLine, endLine, drift: isScanned ? drift : ('unknown' as const) };
        const isAsReported =
          !anchored.isReanchored &&
          lines[anchored.startLine - 1] === now[startLine - 1] &&
          lines[anchored.endLine - 1] === now[endLine - 1];
        return isAsReported
          ? { ...found, startColumn: reported.startColumn, endColumn: reported.endColumn }
          : found;
      },
    };
  };
  return { isScanned, look };
}

function isEqual(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((line, at) => line === other[at]);
}

/** The lines of a place in a text; `isReanchored` when they come from its snippet and not from its line: then its columns mean nothing. */
export interface Anchored extends LineRange {
  readonly isReanchored: boolean;
}

/** A part of a quote with more characters is looked up as whole lines, and not in lines. */
const maxPartLength = 1_000;
/** A shorter part of a line, or one of punctuation alone, stands in lines that have nothing to do with it. */
const minPartLength = 4;

/**
 * Reads a text once, to find places that were reported for it: at their line when their snippet is there or nowhere, else at their
 * snippet; undefined when neither is known. White space is no difference.
 */
export function anchorIn(
  lines: readonly string[],
): (place: Pick<Place, 'startLine' | 'endLine' | 'snippet'>) => Anchored | undefined {
  let code: CodeLines | undefined;
  const compactAt = compactEach(lines);
  return (place) => {
    const reported = reportedLines(place, lines.length);
    const quoted = trimBlank(splitLines(place.snippet ?? ''));
    const wanted = quoted.map(compact).filter((text) => text !== '');
    const start = (reported?.startLine ?? 0) - 1;
    // Most snippets stand at their line: the whole text is searched for the others only.
    const linesThere = quoted.map((_, at) => compactAt(start + at));
    const isThere = wanted.length === 0 || findSnippet(readCode(linesThere), wanted)?.length !== 0;
    if (reported !== undefined && isThere) return { ...reported, isReanchored: false };
    code ??= readCode(lines.map((_, at) => compactAt(at)));
    const found = nearest(findSnippet(code, wanted) ?? [], place.startLine);
    // A snippet may carry lines of context around the line that is meant.
    const holdsReported =
      found !== undefined &&
      reported !== undefined &&
      found.startLine <= reported.startLine &&
      reported.startLine <= found.endLine;
    if (found !== undefined && !holdsReported) return { ...found, isReanchored: true };
    return reported && { ...reported, isReanchored: false };
  };
}

/**
 * Reads a text once, to tell whether it holds quotes. White space is no difference, nor are lines that a quote leaves out where it has a line of dots;
 * undefined for a quote that is too short to tell anything. A quote in one part is searched for at any length.
 */
export function quotedIn(lines: readonly string[]): (quote: string) => boolean | 'tooLong' | undefined {
  const code = readCode(lines.map(compact));
  return (quote) => {
    const parts: string[][] = [[]];
    for (const line of splitLines(quote)
      .map(compact)
      .filter((text) => text !== ''))
      if (isLeftOut(line)) parts.push([]);
      else parts.at(-1)?.push(line);
    const telling = parts.filter((part) => isTelling(part.join('')));
    const isSearched = (part: readonly string[]): boolean =>
      parts.length === 1 || part.join('').length <= maxPartLength;
    const found = telling.map((part) => (isSearched(part) ? findSnippet(code, part) : findWhole(code, part)));
    if (found.includes(undefined)) return 'tooLong';
    return telling.length === 0 ? undefined : found.every((each) => each?.length !== 0);
  };
}

/** Where a snippet stands as whole lines; undefined where it may still be in lines. */
function findWhole(code: CodeLines, wanted: readonly string[]): readonly number[] | undefined {
  const whole = findBlocks(code, wanted);
  return whole.length > 0 ? whole : undefined;
}

/** The lines that are reported, in a text of `lineCount` lines; undefined when the first is unknown, or past the end. */
function reportedLines(
  { startLine, endLine }: Pick<Place, 'startLine' | 'endLine'>,
  lineCount: number,
): LineRange | undefined {
  const isLine = startLine !== undefined && Number.isInteger(startLine) && startLine >= 1;
  if (!isLine || startLine > lineCount) return undefined;
  return { startLine, endLine: Math.min(Math.max(startLine, endLine ?? startLine), lineCount) };
}

/** Where a snippet stands as whole lines; else where its first line ends a line and its last begins one, or its only one is part of one. Undefined where that takes too long to find out. */
function findSnippet(code: CodeLines, wanted: readonly string[]): readonly LineRange[] | undefined {
  if (wanted.length === 0) return [];
  const starts = findWhole(code, wanted) ?? findParts(code, wanted);
  return starts?.map((start) => rangeOf(code, start, wanted.length));
}

function findParts(code: CodeLines, parts: readonly string[]): readonly number[] | undefined {
  if (!isTelling(parts.join(''))) return [];
  const [first = '', last = first] = [parts[0], parts.at(-1)];
  if (parts.length === 1) {
    const isIn = code.texts.map((text) => contains(text, first));
    if (isIn.includes(undefined)) return undefined;
    return [...isIn.keys()].filter((at) => isIn[at]);
  }
  return findBlocks(code, parts.slice(1, -1))
    .map((at) => at - 1)
    .filter((at) => code.texts[at]?.endsWith(first) && code.texts[at + parts.length - 1]?.startsWith(last));
}

function isTelling(text: string): boolean {
  return text.length >= minPartLength && /[\p{L}\p{N}]/u.test(text);
}

/** The only range, or the one nearest to a line; undefined when two are equally near. */
function nearest(ranges: readonly LineRange[], line: number | undefined): LineRange | undefined {
  if (ranges.length < 2) return ranges[0];
  if (line === undefined) return undefined;
  const distances = ranges.map(({ startLine }) => Math.abs(startLine - line));
  const least = distances.reduce((best, distance) => Math.min(best, distance));
  const at = distances.indexOf(least);
  return distances.includes(least, at + 1) ? undefined : ranges[at];
}

/** Lines without the blank ones around them. */
function trimBlank(lines: readonly string[]): readonly string[] {
  const first = lines.findIndex((line) => line.trim() !== '');
  return first < 0 ? [] : lines.slice(first, lines.findLastIndex((line) => line.trim() !== '') + 1);
}

import type { Place } from '../finding.ts';

/** Lines of a document, 1-based, both included. */
export interface LineRange {
  readonly startLine: number;
  readonly endLine: number;
}

/** Where a place stands in a document; `reanchored` when its snippet, not its line, says so: then its columns mean nothing. */
export interface Anchored extends LineRange {
  readonly reanchored: boolean;
}

const minPartLength = 4;

/** A line inside a document of `lineCount` lines; undefined stays undefined, and an empty document has no lines. */
export function clampLine(line: number | undefined, lineCount: number): number | undefined {
  if (line === undefined || !Number.isInteger(line) || line < 1 || lineCount < 1) return undefined;
  return Math.min(line, lineCount);
}

/** The lines of a place in a document of `lineCount` lines; undefined when its line is unknown. */
export function clampPlace(
  place: Pick<Place, 'startLine' | 'endLine'>,
  lineCount: number,
): LineRange | undefined {
  const startLine = clampLine(place.startLine, lineCount);
  if (startLine === undefined) return undefined;
  return { startLine, endLine: Math.max(startLine, clampLine(place.endLine, lineCount) ?? startLine) };
}

/**
 * Reads a text once, to tell where places stand that were found in it: at their line when their snippet is there or nowhere, else at
 * their snippet; undefined when neither is known.
 */
export function anchorIn(
  lines: readonly string[],
): (place: Pick<Place, 'startLine' | 'endLine' | 'snippet'>) => Anchored | undefined {
  let trimmed: readonly string[] | undefined;
  return (place) => {
    const told = clampPlace(place, lines.length);
    const wanted = trimmedLines(place.snippet ?? '');
    // Where the snippet was told to be, it need not be looked for.
    if (told !== undefined && standsAt(wanted, lines, told.startLine - 1))
      return { ...told, reanchored: false };
    trimmed ??= lines.map((line) => line.trim());
    const found = findSnippet(wanted, trimmed, place.startLine);
    // A snippet may carry lines of context around the line that is meant.
    const agree =
      found !== undefined &&
      told !== undefined &&
      found.startLine <= told.startLine &&
      told.startLine <= found.endLine;
    if (found !== undefined && !agree) return { ...found, reanchored: true };
    return told === undefined ? undefined : { ...told, reanchored: false };
  };
}

/** Whether wanted lines, without any too, stand from a line on, as whole lines or as parts that can be told from chance. */
function standsAt(wanted: readonly string[], lines: readonly string[], start: number): boolean {
  const stands = (test: LineTest): boolean =>
    wanted.every((part, at) => test(lines[start + at]?.trim() ?? '', part, at));
  return stands(isWhole) || (isTelling(wanted) && stands(isPart(wanted.length)));
}

/**
 * The lines where a snippet stands, white space at line ends aside: the only match, or the one nearest to `wantedLine`. Whole lines
 * first; else the snippet may start and end inside a line. Undefined when nothing matches, or two matches are equally near.
 */
function findSnippet(
  wanted: readonly string[],
  trimmed: readonly string[],
  wantedLine: number | undefined,
): LineRange | undefined {
  if (wanted.length === 0) return undefined;
  const starts =
    startsOf(wanted, trimmed, isWhole) ??
    (isTelling(wanted) ? startsOf(wanted, trimmed, isPart(wanted.length)) : undefined);
  const start = nearest(starts ?? [], wantedLine);
  return start === undefined ? undefined : { startLine: start + 1, endLine: start + wanted.length };
}

type LineTest = (line: string, part: string, at: number) => boolean;

const isWhole: LineTest = (line, part) => line === part;

/** A short part, or one of braces alone, is found inside lines that have nothing to do with it. */
function isTelling(parts: readonly string[]): boolean {
  const text = parts.join('');
  return text.length >= minPartLength && /[\p{L}\p{N}]/u.test(text);
}

/** The first part ends its line, the last begins its line, those between are whole lines; a single part is anywhere in its line. */
function isPart(count: number): LineTest {
  return (line, part, at) => {
    if (count === 1) return line.includes(part);
    if (at === 0) return line.endsWith(part);
    return at === count - 1 ? line.startsWith(part) : line === part;
  };
}

/** Indexes at which all parts match; undefined when there are none. */
function startsOf(
  parts: readonly string[],
  lines: readonly string[],
  test: LineTest,
): readonly number[] | undefined {
  const starts: number[] = [];
  for (let start = 0; start + parts.length <= lines.length; start += 1) {
    if (parts.every((part, at) => test(lines[start + at] ?? '', part, at))) starts.push(start);
  }
  return starts.length > 0 ? starts : undefined;
}

function nearest(starts: readonly number[], wantedLine: number | undefined): number | undefined {
  if (starts.length < 2) return starts[0];
  if (wantedLine === undefined) return undefined;
  const distanceOf = (start: number): number => Math.abs(start + 1 - wantedLine);
  const least = starts.reduce((best, start) => Math.min(best, distanceOf(start)), Infinity);
  const closest = starts.filter((start) => distanceOf(start) === least);
  return closest.length === 1 ? closest[0] : undefined;
}

/** The lines of a snippet, trimmed, without blank ones around it. */
function trimmedLines(snippet: string): readonly string[] {
  if (snippet === '') return [];
  const lines = snippet.split(/\r\n|\r|\n/).map((line) => line.trim());
  const first = lines.findIndex((line) => line !== '');
  return first < 0 ? [] : lines.slice(first, lines.findLastIndex((line) => line !== '') + 1);
}

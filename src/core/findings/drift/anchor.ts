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

/** The lines of a place in a document of `lineCount` lines; undefined when its line is unknown, or past the end. */
function linesOf(
  { startLine, endLine }: Pick<Place, 'startLine' | 'endLine'>,
  lineCount: number,
): LineRange | undefined {
  const isLine = startLine !== undefined && Number.isInteger(startLine) && startLine >= 1;
  if (!isLine || startLine > lineCount) return undefined;
  return { startLine, endLine: Math.min(Math.max(startLine, endLine ?? startLine), lineCount) };
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
    const told = linesOf(place, lines.length);
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

/** Whether wanted lines, without any too, stand from a line on. */
function standsAt(wanted: readonly string[], lines: readonly string[], start: number): boolean {
  const there = lines.slice(start, start + wanted.length).map((line) => line.trim());
  return wanted.length === 0 || startsIn(there, wanted).length > 0;
}

/**
 * The lines where a snippet stands, white space at line ends aside: the only match, or the one nearest to `wantedLine`. Undefined when
 * nothing matches, or two matches are equally near.
 */
function findSnippet(
  wanted: readonly string[],
  trimmed: readonly string[],
  wantedLine: number | undefined,
): LineRange | undefined {
  if (wanted.length === 0) return undefined;
  const start = nearest(startsIn(trimmed, wanted), wantedLine);
  return start === undefined ? undefined : { startLine: start + 1, endLine: start + wanted.length };
}

/** Indexes from which wanted lines stand, as whole lines, or else as parts that can be told from chance. */
function startsIn(lines: readonly string[], wanted: readonly string[]): readonly number[] {
  const starts = wholeIn(lines, wanted);
  return starts.length === 0 && isTelling(wanted) ? partsIn(lines, wanted) : starts;
}

/** A short part, or one of braces alone, is found inside lines that have nothing to do with it. */
function isTelling(parts: readonly string[]): boolean {
  const text = parts.join('');
  return text.length >= minPartLength && /[\p{L}\p{N}]/u.test(text);
}

/**
 * Indexes from which wanted lines stand, all but the first for none; after Knuth, Morris and Pratt, so that lines that repeat cost no
 * more than others.
 */
function wholeIn(lines: readonly string[], wanted: readonly string[]): readonly number[] {
  const text = [...wanted, undefined, ...lines];
  // Of each line, how many that end with it are the same as those that the text begins with.
  const reach = new Int32Array(text.length);
  const starts: number[] = [];
  for (let at = 1; at < text.length; at += 1) {
    let count = reach[at - 1] ?? 0;
    while (count > 0 && text[at] !== text[count]) count = reach[count - 1] ?? 0;
    if (text[at] === text[count]) count += 1;
    reach[at] = count;
    if (count === wanted.length) starts.push(at - 2 * wanted.length);
  }
  return starts;
}

/** As `wholeIn`, but the first part ends its line and the last begins its line; a single one is anywhere in its line. */
function partsIn(lines: readonly string[], parts: readonly string[]): readonly number[] {
  const [first = '', last = first] = [parts[0], parts.at(-1)];
  if (parts.length === 1) return [...lines.keys()].filter((at) => lines[at]?.includes(first));
  return wholeIn(lines, parts.slice(1, -1))
    .map((at) => at - 1)
    .filter((start) => lines[start]?.endsWith(first) && lines[start + parts.length - 1]?.startsWith(last));
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

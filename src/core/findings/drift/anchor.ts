import { lazily } from '../../yieldingWork.ts';
import type { Place } from '../finding.ts';
import {
  type CodeLines,
  compact,
  contains,
  findBlocks,
  isLeftOut,
  type LineRange,
  rangeOf,
  readCode,
  splitLines,
} from './lineText.ts';

/** A shorter part of a line, or one of punctuation, stands in unrelated lines, too. */
const minPartLength = 4;

interface QuoteIndex {
  /** A place with its own lines, if its snippet is there or nowhere, else with those of its snippet; without lines if neither is known. */
  readonly anchor: (place: Place) => Place;
  /** A line of dots in a quote stands for any lines. Undefined for a quote that is too short to be significant. */
  readonly isQuoted: (quote: string) => boolean | 'tooLong' | undefined;
}

/** Indexes the lines of a text, to look up places and quotes. White space does not count. */
export function indexQuotes(lines: readonly string[]): QuoteIndex {
  const compacted = lines.map(compact);
  const code = lazily(() => readCode(compacted));
  /** The lines of a snippet that is not at the line of its place. */
  const findElsewhere = ({ snippet = '', startLine }: Place, own?: LineRange): LineRange | undefined => {
    const quoted = splitLines(snippet.trim());
    const wanted = quoted.map(compact).filter((text) => text !== '');
    if (own !== undefined) {
      // Most snippets are at their line: the whole text is searched only for the others.
      const from = own.startLine - 1;
      const linesThere = readCode(compacted.slice(from, from + quoted.length));
      if (wanted.length === 0 || findSnippet(linesThere, wanted)?.length !== 0) return undefined;
    }
    const found = nearest(findSnippet(code(), wanted) ?? [], startLine);
    if (found === undefined || own === undefined) return found;
    // A snippet may have lines of context around the reported line.
    return found.startLine <= own.startLine && own.startLine <= found.endLine ? undefined : found;
  };
  return {
    anchor: (place) => {
      const own = reportedLines(place, lines.length);
      const elsewhere = findElsewhere(place, own);
      const { startLine, endLine } = elsewhere ?? own ?? {};
      const isOneLine = place.endLine === undefined && endLine === startLine;
      const anchored = { ...place, startLine, endLine: isOneLine ? undefined : endLine };
      return elsewhere === undefined && own !== undefined
        ? anchored
        : { ...anchored, startColumn: undefined, endColumn: undefined };
    },
    isQuoted: (quote) => {
      const parts = partsOf(quote).filter((part) => isSignificant(part.join('')));
      if (parts.length === 0) return undefined;
      const found = parts.map((part) => findSnippet(code(), part));
      return found.includes(undefined) ? 'tooLong' : found.every((ranges) => ranges?.length !== 0);
    },
  };
}

/** The lines of a quote without white space, split at lines of dots. */
function partsOf(quote: string): readonly (readonly string[])[] {
  const parts: string[][] = [[]];
  for (const line of splitLines(quote).map(compact)) {
    if (line === '') continue;
    if (isLeftOut(line)) parts.push([]);
    else parts.at(-1)?.push(line);
  }
  return parts;
}

/** Undefined when the first line is unknown, or past the end. */
function reportedLines(
  { startLine, endLine }: Pick<Place, 'startLine' | 'endLine'>,
  lineCount: number,
): LineRange | undefined {
  if (startLine === undefined || startLine > lineCount) return undefined;
  return { startLine, endLine: Math.min(endLine ?? startLine, lineCount) };
}

/** Finds a snippet as whole lines, else as parts of lines; undefined where that would take too long. */
function findSnippet(code: CodeLines, wanted: readonly string[]): readonly LineRange[] | undefined {
  if (wanted.length === 0) return [];
  const whole = findBlocks(code, wanted);
  const starts = whole.length > 0 ? whole : findParts(code, wanted);
  return starts?.map((start) => rangeOf(code, start, wanted.length));
}

/** A single line is found inside a line; of several, the first ends a line, and the last begins one. */
function findParts(code: CodeLines, wanted: readonly string[]): readonly number[] | undefined {
  if (!isSignificant(wanted.join(''))) return [];
  const [first = '', last = first] = [wanted[0], wanted.at(-1)];
  if (wanted.length === 1) {
    const isInLine = code.texts.map((text) => contains(text, first));
    if (isInLine.includes(undefined)) return undefined;
    return [...isInLine.keys()].filter((at) => isInLine[at]);
  }
  return findBlocks(code, wanted.slice(1, -1))
    .map((at) => at - 1)
    .filter((at) => code.texts[at]?.endsWith(first) && code.texts[at + wanted.length - 1]?.startsWith(last));
}

function isSignificant(text: string): boolean {
  return text.length >= minPartLength && /[\p{L}\p{N}]/u.test(text);
}

/** The range nearest to a line; undefined when two are equally near. */
function nearest(ranges: readonly LineRange[], line: number | undefined): LineRange | undefined {
  if (ranges.length < 2) return ranges[0];
  if (line === undefined) return undefined;
  const distances = ranges.map(({ startLine }) => Math.abs(startLine - line));
  const least = distances.reduce((best, distance) => Math.min(best, distance));
  const at = distances.indexOf(least);
  return distances.includes(least, at + 1) ? undefined : ranges[at];
}

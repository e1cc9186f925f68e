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

/** The lines of a place in a text. */
export interface Anchor extends LineRange {
  /** True when they come from the place's snippet, not from its line. Its columns mean nothing then. */
  readonly isReanchored: boolean;
}

/** A shorter part of a line, or one of punctuation, stands in unrelated lines, too. */
const minPartLength = 4;

interface QuoteIndex {
  /** The lines of a place: its own, if its snippet is there or nowhere, else those of its snippet; undefined if neither is known. */
  readonly anchorOf: (place: Pick<Place, 'startLine' | 'endLine' | 'snippet'>) => Anchor | undefined;
  /** A line of dots in a quote stands for any lines. Undefined for a quote that is too short to be significant. */
  readonly isQuoted: (quote: string) => boolean | 'tooLong' | undefined;
}

/** Indexes the lines of a text, to look up places and quotes. White space does not count. */
export function indexQuotes(lines: readonly string[]): QuoteIndex {
  const compacted = lines.map(compact);
  const code = lazily(() => readCode(compacted));
  return {
    anchorOf: (place) => {
      const reported = reportedLines(place, lines.length);
      const quoted = splitLines((place.snippet ?? '').trim());
      const wanted = quoted.map(compact).filter((text) => text !== '');
      if (reported !== undefined) {
        // Most snippets are at their line: the whole text is searched only for the others.
        const from = reported.startLine - 1;
        const linesThere = readCode(compacted.slice(from, from + quoted.length));
        const isThere = wanted.length === 0 || findSnippet(linesThere, wanted)?.length !== 0;
        if (isThere) return { ...reported, isReanchored: false };
      }
      const found = nearest(findSnippet(code(), wanted) ?? [], place.startLine);
      if (found === undefined) return reported && { ...reported, isReanchored: false };
      // A snippet may have lines of context around the reported line.
      const isInside =
        reported !== undefined &&
        found.startLine <= reported.startLine &&
        reported.startLine <= found.endLine;
      return isInside ? { ...reported, isReanchored: false } : { ...found, isReanchored: true };
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

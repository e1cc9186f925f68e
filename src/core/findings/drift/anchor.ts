import { lazily } from '../../yieldingWork.ts';
import type { Location } from '../finding.ts';
import {
  type CodeLines,
  compact,
  findBlocks,
  indexText,
  isElision,
  lastUpTo,
  type LineRange,
  minPartLength,
  rangeOf,
  readCode,
  splitLines,
} from './lineText.ts';

interface QuoteIndex {
  /**
   * Returns the location with its reported lines or, if the snippet is only at other lines, with
   * the lines of the single nearest match. Lines beyond the end of the text are removed.
   */
  readonly anchor: (location: Location) => Location;
  /**
   * A line of dots stands for any lines. Returns undefined for a quote that is too short or only
   * punctuation, and `tooLong` if the search takes too long.
   */
  readonly isQuoted: (quote: string) => boolean | 'tooLong' | undefined;
}

export function indexQuotes(lines: readonly string[]): QuoteIndex {
  const find = lazily(() => createFind(readCode(lines.map(compact))));
  const findElsewhere = ({ snippet = '', startLine }: Location, own?: LineRange): LineRange | undefined => {
    const quoted = splitLines(snippet.trim());
    const wanted = quoted.map(compact).filter((text) => text !== '');
    const { whole, inLines } = find()(wanted);
    const isOwn = (found: LineRange): boolean =>
      own !== undefined && found.startLine >= own.startLine && found.endLine < own.startLine + quoted.length;
    if (whole.some(isOwn) || inLines?.some(isOwn) === true) return undefined;
    const found = nearest(whole.length > 0 ? whole : (inLines ?? []), startLine);
    if (found === undefined || own === undefined) return found;
    // A snippet may have lines of context around the reported line.
    return found.startLine <= own.startLine && own.startLine <= found.endLine ? undefined : found;
  };
  return {
    anchor: (location) => {
      const own = reportedLines(location, lines.length);
      const elsewhere = findElsewhere(location, own);
      const { startLine, endLine } = elsewhere ?? own ?? {};
      const isOneLine = location.endLine === undefined && endLine === startLine;
      const anchored = { ...location, startLine, endLine: isOneLine ? undefined : endLine };
      return elsewhere === undefined && own !== undefined
        ? anchored
        : { ...anchored, startColumn: undefined, endColumn: undefined };
    },
    isQuoted: (quote) => {
      const parts = partsOf(quote).filter((part) => isSignificant(part.join('')));
      if (parts.length === 0) return undefined;
      const found = parts.map((part) => {
        const { whole, inLines } = find()(part);
        return whole.length > 0 || (inLines && inLines.length > 0);
      });
      return found.includes(undefined) ? 'tooLong' : !found.includes(false);
    },
  };
}

function partsOf(quote: string): readonly (readonly string[])[] {
  const parts: string[][] = [[]];
  for (const line of splitLines(quote).map(compact)) {
    if (line === '') continue;
    if (isElision(line)) parts.push([]);
    else parts.at(-1)?.push(line);
  }
  return parts;
}

function reportedLines(
  { startLine, endLine }: Pick<Location, 'startLine' | 'endLine'>,
  lineCount: number,
): LineRange | undefined {
  if (startLine === undefined || startLine > lineCount) return undefined;
  return { startLine, endLine: Math.min(endLine ?? startLine, lineCount) };
}

interface FoundQuote {
  readonly whole: readonly LineRange[];
  /** Quotes may begin and end inside lines. Undefined means that the search takes too long. */
  readonly inLines: readonly LineRange[] | undefined;
}

function createFind(code: CodeLines): (wanted: readonly string[]) => FoundQuote {
  const known = new Map<string, FoundQuote>();
  const positionsIn = lazily(() => indexText(code.texts.join('\n')));
  let end = 0;
  const starts = code.texts.map((text) => (end += text.length + 1) - text.length - 1);
  return (wanted) => {
    const text = wanted.join('\n');
    const before = known.get(text);
    if (before !== undefined) return before;
    const toRange = (start: number): LineRange => rangeOf(code, start, wanted.length);
    const positions = isSignificant(wanted.join('')) ? positionsIn()(text) : [];
    const inLines = positions && [...new Set(positions.map((at) => lastUpTo(at, starts)))].map(toRange);
    const whole = findBlocks(code, wanted).map(toRange);
    known.set(text, { whole, inLines });
    return { whole, inLines };
  };
}

/** Punctuation occurs in unrelated lines, too. */
function isSignificant(text: string): boolean {
  return text.length >= minPartLength && /[\p{L}\p{N}]/u.test(text);
}

function nearest(ranges: readonly LineRange[], line: number | undefined): LineRange | undefined {
  if (ranges.length < 2) return ranges[0];
  if (line === undefined) return undefined;
  const distances = ranges.map(({ startLine }) => Math.abs(startLine - line));
  const least = distances.reduce((best, distance) => Math.min(best, distance));
  const at = distances.indexOf(least);
  return distances.includes(least, at + 1) ? undefined : ranges[at];
}

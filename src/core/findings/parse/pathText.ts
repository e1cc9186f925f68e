import { MAX_PATH } from '../finding.ts';

/** Past this, a number is no line of source code that anyone scanned. */
const MAX_LINE = 10_000_000;

const maxLineText = 40;

/** Lines and columns of a place, 1-based; an unknown one is absent. */
export interface Lines {
  readonly startLine?: number | undefined;
  readonly endLine?: number | undefined;
  readonly startColumn?: number | undefined;
  readonly endColumn?: number | undefined;
}

/** Lines that obey the rules of a `Place`: no end without a start, none before it. */
export function ordered({ startLine, endLine, startColumn, endColumn }: Lines): Lines {
  if (startLine === undefined)
    return { startLine: endLine, startColumn: endLine === undefined ? undefined : startColumn };
  const last = endLine === undefined || endLine < startLine ? startLine : endLine;
  const backwards =
    last === startLine && startColumn !== undefined && endColumn !== undefined && endColumn < startColumn;
  return {
    startLine,
    endLine: endLine === undefined ? undefined : last,
    startColumn,
    endColumn: backwards ? undefined : endColumn,
  };
}

/** Whether a text is lines written as `12`, `12-20` or `L12-L20`, and not code. */
export function isLineText(text: string): boolean {
  return toLineRange(text) !== undefined;
}

/** A number counted from 1, or a short text that is one. */
export function toCount(value: unknown): number | undefined {
  const [, digits] =
    (typeof value === 'string' && value.length <= maxLineText && /^\s*L?(\d{1,9})\s*$/i.exec(value)) || [];
  const number = digits === undefined ? value : Number(digits);
  return typeof number === 'number' && Number.isInteger(number) && number >= 1 && number <= MAX_LINE
    ? number
    : undefined;
}

/** Lines from a text such as `12-14` or `L12`, or from a list whose first and last members they are; undefined for anything else. */
export function toLineRange(value: unknown): Lines | undefined {
  if (Array.isArray(value)) {
    const startLine = toCount(value[0]);
    return startLine === undefined ? undefined : { startLine, endLine: toCount(value.at(-1)) };
  }
  if (typeof value !== 'string' || value.length > maxLineText) return undefined;
  const [, first, last] = /^\s*L?(\d{1,9})(?:\s*[-–~:,]\s*L?(\d{1,9}))?\s*$/i.exec(value) ?? [];
  const startLine = toCount(first);
  return startLine === undefined ? undefined : { startLine, endLine: toCount(last) };
}

/** A path as it came, and the lines that were written behind it. */
export interface PathText {
  readonly path: string;
  readonly lines: Lines;
}

/** Splits a trailing `:12`, `:12:5`, `:12-20` or `#L12-L20` from a path. */
export function splitPath(text: string): PathText {
  // Most paths end in letters, and need no search from every `:` on.
  if (!/\d$/.test(text)) return { path: text, lines: {} };
  const match =
    /#L(?<line>\d{1,9})(?:C\d+)?(?:-L?(?<last>\d{1,9})(?:C\d+)?)?$/i.exec(text) ??
    /:(?<line>\d{1,9})(?::(?<column>\d{1,9})|-(?<last>\d{1,9}))?$/.exec(text);
  const path = text.slice(0, match?.index);
  if (!match?.groups || !/[^:\d]/.test(path)) return { path: text, lines: {} };
  const { line, column, last } = match.groups;
  return {
    path,
    lines: ordered({ startLine: toCount(line), startColumn: toCount(column), endLine: toCount(last) }),
  };
}

/** How sure a text must be of being a path: see `PlaceSource`. */
export type PathBelief = 'files' | 'places' | 'flow';

/** Whether a text of the findings file can be a path, going by its look alone. */
export function looksLikePath(text: string, belief: PathBelief): boolean {
  if (text.trim() === '' || text.length > MAX_PATH || isWebAddress(text)) return false;
  const breaks = text.trim().split(/\r\n|\r|\n/).length - 1;
  // A name may have a line break; several are prose.
  if (breaks > 0) return belief === 'files' && breaks === 1 && /[\\/]|\.\w+$/.test(text.trim());
  if (belief === 'files') return true;
  const { path, lines } = splitPath(text);
  const folders = /[\\/]/.test(path);
  const spaces = /\s/.test(path);
  if (belief === 'flow') return !spaces && (folders || lines.startLine !== undefined);
  const named = lines.startLine !== undefined || /\.[a-z]\w{0,15}$/i.test(path);
  return spaces ? folders && named : folders || named;
}

function isWebAddress(text: string): boolean {
  return text.includes('://') && /^\s*[a-z][a-z0-9+.-]*:\/\//i.test(text) && !/^\s*file:/i.test(text);
}

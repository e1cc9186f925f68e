import { MAX_PATH, type Location } from '../finding.ts';

const maxLine = 10_000_000;

const maxLineText = 40;

export type Lines = Pick<Location, 'startLine' | 'endLine' | 'startColumn' | 'endColumn'>;

/** An end line without a start line is also the start line. */
export function ordered({ endLine, startLine = endLine, startColumn, endColumn }: Lines): Lines {
  if (startLine === undefined) return {};
  const last = Math.max(startLine, endLine ?? startLine);
  const isBackwards = last === startLine && (startColumn ?? 0) > (endColumn ?? Infinity);
  return {
    startLine,
    endLine: endLine === undefined ? undefined : last,
    startColumn,
    endColumn: isBackwards ? undefined : endColumn,
  };
}

export function toCount(value: unknown): number | undefined {
  const [, digits] =
    (typeof value === 'string' && value.length <= maxLineText && /^\s*L?(\d{1,9})\s*$/i.exec(value)) || [];
  const number = digits === undefined ? value : Number(digits);
  return typeof number === 'number' && Number.isInteger(number) && number >= 1 && number <= maxLine
    ? number
    : undefined;
}

/** Reads a text such as `12`, `12-14` or `L12-L14`, or the first and last members of a list. */
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

/** Splits a trailing `:12`, `:12:5`, `:12-20` or `#L12-L20` from a path. */
export function splitPath(text: string): Lines & { readonly path: string } {
  // Most paths end with a letter, and need no search for a suffix.
  if (!/\d$/.test(text)) return { path: text };
  const match =
    /#L(?<line>\d{1,9})(?:C\d+)?(?:-L?(?<last>\d{1,9})(?:C\d+)?)?$/i.exec(text) ??
    /:(?<line>\d{1,9})(?::(?<column>\d{1,9})|-(?<last>\d{1,9}))?$/.exec(text);
  const path = text.slice(0, match?.index);
  // If only digits, dots, and colons precede the suffix, the text is an address or a time.
  if (!match?.groups || !/[^:.\d]/.test(path)) return { path: text };
  const { line, column, last } = match.groups;
  return {
    path,
    ...ordered({ startLine: toCount(line), startColumn: toCount(column), endLine: toCount(last) }),
  };
}

/**
 * Says which bare strings count as paths; a web address never does. With `files`, any other line
 * does. With `locations`, the line must look like a path. With `flow`, it needs a line number, or
 * folders and a file name. Otherwise, it is more likely to be code (`cursor.execute`) or a tool's
 * name.
 */
export type PathBelief = 'files' | 'locations' | 'flow';

export function looksLikePath(text: string, belief: PathBelief): boolean {
  const line = text.trim();
  if (line === '' || /[\r\n]/.test(line) || text.length > MAX_PATH || isWebAddress(text)) return false;
  if (belief === 'files') return true;
  const { path, startLine } = splitPath(text);
  const hasFolders = /[\\/]/.test(path);
  const hasSpaces = /\s/.test(path);
  const isFileName = startLine !== undefined || /\.[a-z]\w{0,15}$/i.test(path);
  if (belief === 'flow') return !hasSpaces && isFileName && (hasFolders || startLine !== undefined);
  return hasSpaces ? hasFolders && isFileName : hasFolders || isFileName;
}

export function isWebAddress(text: string): boolean {
  return text.includes('://') && /^\s*[a-z][a-z0-9+.-]*:\/\//i.test(text) && !/^\s*file:/i.test(text);
}

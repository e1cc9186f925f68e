import {
  END_COLUMN,
  END_LINE,
  END_POSITION,
  LINE_RANGE,
  POSITION_CHARACTER,
  POSITION_COLUMN,
  POSITION_LINE,
  START_COLUMN,
  START_LINE,
  START_POSITION,
} from './aliases.ts';
import { type JsonObject, type KeyPath, type Look, firstHit } from './readValue.ts';

/** Past this, a number is no line of source code that anyone scanned. */
const MAX_LINE = 10_000_000;

const maxLineText = 40;

const positionPaths = [...START_POSITION, ...END_POSITION];

/** All that `readLines` looks at. */
export const LINES = [
  ...LINE_RANGE,
  ...START_LINE,
  ...END_LINE,
  ...START_COLUMN,
  ...END_COLUMN,
  ...positionPaths,
];

/** Lines and columns of a place, 1-based; an unknown one is absent. */
export interface Lines {
  readonly startLine?: number | undefined;
  readonly endLine?: number | undefined;
  readonly startColumn?: number | undefined;
  readonly endColumn?: number | undefined;
}

interface Position {
  readonly line?: number | undefined;
  readonly column?: number | undefined;
}

/** The lines of a place. What is not a whole number from 1 to `MAX_LINE` is unknown; an end before the start is the start. */
export function readLines(look: Look, place: JsonObject): Lines {
  const range = firstHit(look, place, LINE_RANGE, toLineRange);
  const start = readPosition(look, place, START_POSITION);
  const end = readPosition(look, place, END_POSITION);
  return ordered({
    startLine: firstHit(look, place, START_LINE, toCount) ?? start.line ?? range?.startLine,
    endLine: firstHit(look, place, END_LINE, toCount) ?? end.line ?? range?.endLine,
    startColumn: firstHit(look, place, START_COLUMN, toCount) ?? start.column,
    endColumn: firstHit(look, place, END_COLUMN, toCount) ?? end.column,
  });
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

function toLineRange(value: unknown): Lines | undefined {
  if (Array.isArray(value)) {
    const startLine = toCount(value[0]);
    return startLine === undefined ? undefined : { startLine, endLine: toCount(value.at(-1)) };
  }
  if (typeof value !== 'string' || value.length > maxLineText) return undefined;
  const [, first, last] = /^\s*L?(\d{1,9})(?:\s*[-–~:,]\s*L?(\d{1,9}))?\s*$/i.exec(value) ?? [];
  const startLine = toCount(first);
  return startLine === undefined ? undefined : { startLine, endLine: toCount(last) };
}

function readPosition(look: Look, place: JsonObject, paths: readonly KeyPath[]): Position {
  const read = (position: unknown): Position | undefined => {
    const character = firstHit(look, position, POSITION_CHARACTER, toIndex);
    const lineOf = (value: unknown): number | undefined =>
      character === undefined ? toCount(value) : oneMore(toIndex(value));
    const line = firstHit(look, position, POSITION_LINE, lineOf);
    const column = firstHit(look, position, POSITION_COLUMN, toCount) ?? oneMore(character);
    return line === undefined ? undefined : { line, column };
  };
  return firstHit(look, place, paths, read) ?? {};
}

function toIndex(value: unknown): number | undefined {
  return value === 0 ? 0 : toCount(value);
}

function oneMore(index: number | undefined): number | undefined {
  return index === undefined ? undefined : toCount(index + 1);
}

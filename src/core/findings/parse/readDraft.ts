import { FILE, NO_SNIPPET, SNIPPET, TARGET_INDEX } from './aliases.ts';
import type { Place } from '../finding.ts';
import { isLineText, LINES, readLines } from './lines.ts';
import { looksLikePath, splitPath } from './pathText.ts';
import { clip, MAX_TEXT } from './prose.ts';
import { type JsonObject, type Look, firstHit, isObject } from './readValue.ts';

const maxSnippetLines = 1_000;

/** A line number as quotes have it, and one that a lone line of code does not start with. */
const lineNumber = /^(\d{1,7})(?: ?[|:│] ?|[\t ]|$)/;
const singleNumber = /^(\d{1,7}) ?[|│] ?/;

/** What one object says about a place; without a path it may still complete another telling of it. */
export type PlaceDraft = Omit<Place, 'path'> & { readonly path: string | undefined };

const draftPaths = [...FILE, ...LINES, ...SNIPPET, ...TARGET_INDEX];
const noDraft: PlaceDraft = { path: undefined };

/** Reads path, lines, code and target of a place from the fields of one object. */
export function readDraft(look: Look, object: JsonObject): PlaceDraft {
  if (look.present(object, draftPaths).length === 0) return noDraft;
  const written = readFile(look, object);
  const split = written === undefined ? undefined : splitPath(written.trim());
  const lines = readLines(look, object);
  const { startLine, endLine, startColumn, endColumn } =
    lines.startLine === undefined && split !== undefined ? split.lines : lines;
  return {
    path: split?.path,
    startLine,
    endLine,
    startColumn,
    endColumn,
    snippet: firstHit(look, object, SNIPPET, toSnippet),
    targetIndex: firstHit(look, object, TARGET_INDEX, toIndex),
  };
}

/** The path text of an object; its file may be an object of its own, or the first of a list. */
function readFile(look: Look, object: JsonObject, depth = 0): string | undefined {
  return firstHit(look, object, FILE, (value) => {
    const first: unknown = Array.isArray(value) ? value[0] : value;
    if (typeof first === 'string') return looksLikePath(first, 'files') ? first : undefined;
    return isObject(first) && depth === 0 ? readFile(look, first, 1) : undefined;
  });
}

/** Code as text, as `{text}` or as an array of lines; line numbers are not code. */
function toSnippet(value: unknown): string | undefined {
  if (Array.isArray(value)) {
    const lines = (value as readonly unknown[])
      .slice(0, maxSnippetLines)
      .filter((line) => typeof line === 'string');
    return lines.every(isLineText) ? undefined : clip(codeIn(lines.join('\n')));
  }
  const text = isObject(value) && Object.hasOwn(value, 'text') ? value['text'] : value;
  if (typeof text !== 'string' || text.trim() === '' || isLineText(text)) return undefined;
  return text === NO_SNIPPET ? undefined : clip(codeIn(text));
}

/** The code in a quote: without the Markdown fence around it and the line numbers in front of it. */
function codeIn(quote: string): string {
  const lines = (quote.length > MAX_TEXT ? clip(quote) : quote).split('\n');
  const first = lines.findIndex((line) => line.trim() !== '');
  const last = lines.findLastIndex((line) => line.trim() !== '');
  const isFenced =
    last > first && lines[first]?.trimStart().startsWith('```') && lines[last]?.trim() === '```';
  return withoutNumbers(isFenced === true ? lines.slice(first + 1, last) : lines).join('\n');
}

/** Lines without their numbers, where all have one that counts on. */
function withoutNumbers(lines: readonly string[]): readonly string[] {
  const mark = lines.length === 1 ? singleNumber : lineNumber;
  let next: number | undefined;
  const code: string[] = [];
  for (const line of lines) {
    const text = line.trimStart();
    const [head, digits] = mark.exec(text.startsWith('>') ? text.slice(1).trimStart() : text) ?? [];
    if (head === undefined || (next !== undefined && Number(digits) !== next)) return lines;
    next = Number(digits) + 1;
    code.push(line.slice(line.indexOf(head) + head.length));
  }
  return code;
}

function toIndex(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}

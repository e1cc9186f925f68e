import { FILE, NO_SNIPPET, SNIPPET, TARGET_INDEX } from './aliases.ts';
import type { Place } from '../finding.ts';
import { isLineText, LINES, readLines } from './lines.ts';
import { looksLikePath, splitPath } from './pathText.ts';
import { clip } from './prose.ts';
import { type JsonObject, type Look, firstHit, isObject } from './readValue.ts';

const maxSnippetLines = 1_000;

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

/** The path text of an object; its file may be an object of its own. */
function readFile(look: Look, object: JsonObject, depth = 0): string | undefined {
  return firstHit(look, object, FILE, (value) => {
    if (typeof value === 'string') return looksLikePath(value, 'files') ? value : undefined;
    return isObject(value) && depth === 0 ? readFile(look, value, 1) : undefined;
  });
}

/** Code as text, as `{text}` or as an array of lines; line numbers are not code. */
function toSnippet(value: unknown): string | undefined {
  if (Array.isArray(value)) {
    const lines = (value as readonly unknown[])
      .slice(0, maxSnippetLines)
      .filter((line) => typeof line === 'string');
    return lines.every(isLineText) ? undefined : clip(lines.join('\n'));
  }
  const text = isObject(value) && Object.hasOwn(value, 'text') ? value['text'] : value;
  if (typeof text !== 'string' || text.trim() === '' || isLineText(text)) return undefined;
  return text === NO_SNIPPET ? undefined : clip(text);
}

function toIndex(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}

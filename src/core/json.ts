import { AssessmentError } from './errors.ts';

/** Limits memory use: if memory runs out, `JSON.parse` ends the process, not only its thread. */
const maxValues = 3_000_000;

const [quote, comma, backslash, openArray, openObject] = [34, 44, 92, 91, 123];

/** Throws `malformedFindings` for invalid JSON, and `findingsTooLarge` for too many values. */
export function readJson(text: string): unknown {
  try {
    return parseJson(text.replace(/^\uFEFF/, '')).value;
  } catch (cause) {
    if (cause instanceof AssessmentError) throw cause;
    const detail = cause instanceof Error ? cause.message : 'JSON';
    throw new AssessmentError('malformedFindings', { detail }, { cause });
  }
}

/** Returns undefined for a text that isn't JSON: the error would quote it. */
export function parseIfJson(text: string): unknown {
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

export function parseJson(
  text: string,
  valuesLeft = maxValues,
): { readonly value: unknown; readonly values: number } {
  const values = countValues(text, valuesLeft);
  if (values > valuesLeft) throw new AssessmentError('findingsTooLarge');
  return { value: JSON.parse(text), values };
}

function countValues(text: string, limit: number): number {
  let count = 1;
  for (let at = 0; at < text.length && count <= limit; at += 1) {
    const letter = text.charCodeAt(at);
    if (letter === quote) {
      const end = endOfString(text, at);
      if (end < 0) break;
      at = end;
    } else if (letter === comma || letter === openArray || letter === openObject) count += 1;
  }
  return count;
}

function endOfString(text: string, start: number): number {
  for (let at = text.indexOf('"', start + 1); at >= 0; at = text.indexOf('"', at + 1)) {
    let firstBackslash = at;
    while (text.charCodeAt(firstBackslash - 1) === backslash) firstBackslash -= 1;
    if ((at - firstBackslash) % 2 === 0) return at;
  }
  return -1;
}

export type JsonObject = Readonly<Record<string, unknown>>;

/** Keys from the outside in, each in the form of `normalKey`. */
export type KeyPath = readonly string[];

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function normalKey(key: string): string {
  return key.replace(/[_\-\s]/g, '').toLowerCase();
}

/** `aliases` are key paths with dots, separated by white space. */
export function keyPaths(aliases: string): readonly KeyPath[] {
  const words = aliases.trim().split(/\s+/);
  return words.map((alias) => alias.split('.').map(normalKey));
}

/** The keys are `normalKey`s. */
export class Fields extends Map<string, unknown> {
  /** The paths of the values that were used. Undefined if no caller needs them. */
  used: KeyPath[] | undefined = undefined;
}

/** The first of several keys with the same `normalKey` counts. */
export function fieldsOf(value: unknown): Fields {
  const fields = new Fields();
  if (!isObject(value)) return fields;
  for (const key of Object.keys(value)) {
    const name = normalKey(key);
    if (!fields.has(name)) fields.set(name, value[key]);
  }
  return fields;
}

/** Only own properties count, and only the first of several keys with the same `normalKey`. */
export function valueAt(value: unknown, path: KeyPath): unknown {
  let current = value;
  for (const key of path) {
    if (!isObject(current)) return undefined;
    const spelling = Object.keys(current).find((each) => normalKey(each) === key);
    current = spelling === undefined ? undefined : current[spelling];
  }
  return current;
}

export interface Hit {
  readonly path: KeyPath;
  readonly value: unknown;
}

export function hitsAt(fields: Fields, paths: readonly KeyPath[]): readonly Hit[] {
  const hits: Hit[] = [];
  for (const path of paths) {
    const value = hitAt(fields, path);
    if (value !== undefined) hits.push({ path, value });
  }
  return hits;
}

export function firstHit<T>(
  fields: Fields,
  paths: readonly KeyPath[],
  accept: (hit: unknown) => T | undefined,
): T | undefined {
  for (const path of paths) {
    const value = hitAt(fields, path);
    const accepted = value === undefined ? undefined : accept(value);
    if (accepted === undefined) continue;
    fields.used?.push(path);
    return accepted;
  }
  return undefined;
}

/** Null counts as missing. A miss must be cheap: only about one in twenty aliases exists. */
function hitAt(fields: Fields, path: KeyPath): unknown {
  const first = fields.get(path[0] ?? '') ?? undefined;
  return first === undefined || path.length === 1 ? first : (valueAt(first, path.slice(1)) ?? undefined);
}

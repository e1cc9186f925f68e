import { AssessmentError } from './errors.ts';

/** Most values of a file, by the commas and brackets that stand between them: past memory, `JSON.parse` ends its whole process and not its thread alone. */
const maxValues = 3_000_000;

const [quote, comma, backslash, openArray, openObject] = [34, 44, 92, 91, 123];

/** The value that a text holds as JSON. Throws `malformedFindings` for any other text, and `findingsTooLarge` for too many values. */
export function readJson(text: string): unknown {
  try {
    return parseJson(text.replace(/^\uFEFF/, '')).value;
  } catch (cause) {
    if (cause instanceof AssessmentError) throw cause;
    const detail = cause instanceof Error ? cause.message : 'JSON';
    throw new AssessmentError('malformedFindings', { detail }, { cause });
  }
}

/** `JSON.parse` after a look at how many values a text has: throws `findingsTooLarge` when there are more than `valuesLeft`. */
export function parseJson(
  text: string,
  valuesLeft = maxValues,
): { readonly value: unknown; readonly values: number } {
  const values = countValues(text, valuesLeft);
  if (values > valuesLeft) throw new AssessmentError('findingsTooLarge');
  return { value: JSON.parse(text), values };
}

/** How many values a text has, whatever it is; not much further than `limit`. */
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

/** Where the quote is that ends a string; -1 when there is none. */
function endOfString(text: string, start: number): number {
  for (let at = text.indexOf('"', start + 1); at >= 0; at = text.indexOf('"', at + 1)) {
    let first = at;
    while (text.charCodeAt(first - 1) === backslash) first -= 1;
    if ((at - first) % 2 === 0) return at;
  }
  return -1;
}

/** A JSON object: neither an array nor null. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** Keys from the outside in, each in the form `normalKey` gives. */
export type KeyPath = readonly string[];

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The form in which keys are compared: lower case, without `_`, `-` and spaces. */
export function normalKey(key: string): string {
  return key.replace(/[_\-\s]/g, '').toLowerCase();
}

/** The dotted aliases of one target, with white space between them, ready for `valueAt`. */
export function keyPaths(aliases: string): readonly KeyPath[] {
  const words = aliases.trim().split(/\s+/);
  return words.map((alias) => alias.split('.').map(normalKey));
}

/** The keys of an object as they are spelled, by their normal form. Readers ask for many aliases of each object. */
const spellings = new WeakMap<JsonObject, ReadonlyMap<string, string>>();

function spellingsOf(object: JsonObject): ReadonlyMap<string, string> {
  const known = spellings.get(object);
  if (known !== undefined) return known;
  // Of equal keys the last one set counts: the first of the file.
  const pairs = Object.keys(object).map((key) => [normalKey(key), key] as const);
  const found = new Map(pairs.reverse());
  spellings.set(object, found);
  return found;
}

/** The value at a path of keys; undefined where a step is missing. Own properties only, and of equal keys the first. */
export function valueAt(value: unknown, path: KeyPath): unknown {
  let current = value;
  for (const key of path) {
    const spelling = isObject(current) ? spellingsOf(current).get(key) : undefined;
    if (spelling === undefined) return undefined;
    current = (current as JsonObject)[spelling];
  }
  return current;
}

/** Those of the paths whose first key a value has: of twenty aliases that is mostly one. */
export function present(value: unknown, paths: readonly KeyPath[]): readonly KeyPath[] {
  if (!isObject(value)) return [];
  const keys = spellingsOf(value);
  return paths.filter(([key = '']) => keys.has(key));
}

/** The first hit that `accept` can use, in the order of the aliases; undefined from `accept` means: try the next. */
export function firstHit<T>(
  value: unknown,
  paths: readonly KeyPath[],
  accept: (hit: unknown) => T | undefined,
): T | undefined {
  for (const path of present(value, paths)) {
    const hit = valueAt(value, path);
    if (hit === undefined || hit === null) continue;
    const accepted = accept(hit);
    if (accepted !== undefined) return accepted;
  }
  return undefined;
}

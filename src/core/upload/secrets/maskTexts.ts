import { finders, formsOf } from './findSecrets.ts';
import { maskToken } from './tokenRules.ts';

export interface MaskStart {
  readonly texts: unknown;
}

/** Texts are searched like a configuration file, where values without quotes count, too. */
const path = '.env';
/**
 * Texts are searched together, because each search has a fixed cost and most texts have no secret.
 */
const chunkLength = 128 * 1024;

/**
 * Masks secrets in all strings of plain data. A text loses its escapes if they hid a secret. An
 * object that occurs several times stays one object.
 */
export function maskTexts({ texts: value }: MaskStart): unknown {
  const texts = new Set<string>();
  mapStrings(value, (text) => {
    texts.add(text);
    return text;
  });
  const masked = new Map<string, string>();
  for (const chunk of chunksOf(texts)) {
    const joined = chunk.join('\n\n');
    if (mask(joined) !== joined) for (const text of chunk) masked.set(text, mask(text));
  }
  return mapStrings(value, (text) => masked.get(text) ?? text);
}

function mapStrings(
  value: unknown,
  map: (text: string) => string,
  known = new Map<unknown, unknown>(),
): unknown {
  if (typeof value === 'string') return map(value);
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return value;
  if (known.has(value)) return known.get(value);
  const each = (part: unknown): unknown => mapStrings(part, map, known);
  const mapped = Array.isArray(value)
    ? value.map(each)
    : value instanceof Map
      ? new Map([...value].map(([key, part]) => [each(key), each(part)]))
      : Object.fromEntries(Object.entries(value).map(([key, part]) => [map(key), each(part)]));
  known.set(value, mapped);
  return mapped;
}

function chunksOf(texts: Iterable<string>): readonly (readonly string[])[] {
  const chunks: string[][] = [[]];
  let length = 0;
  for (const text of texts) {
    length += text.length;
    if (length > chunkLength) {
      chunks.push([]);
      length = text.length;
    }
    chunks.at(-1)?.push(text);
  }
  return chunks;
}

function mask(text: string): string {
  const masked = maskForm(text);
  const undone = formsOf(masked)[1] ?? masked;
  const maskedUndone = maskForm(undone);
  return maskedUndone === undone ? masked : maskedUndone;
}

/**
 * Masks the longest secret first, because it may contain another one. Masks all occurrences,
 * because some rules match only those after a name.
 */
function maskForm(text: string): string {
  const secrets = new Set(finders.flatMap((find) => find(text, path).map(({ secret }) => secret)));
  return [...secrets]
    .sort((one, other) => other.length - one.length)
    .reduce((masked, secret) => masked.replaceAll(secret, () => maskToken(secret)), text);
}

import { MAX_TEXT } from './prose.ts';
import { isObject, type JsonObject } from './readValue.ts';

/** What the results of a SARIF run refer to: its rules' texts by name, its files by number. */
export interface Referred {
  readonly messageStrings: unknown;
  readonly artifacts: readonly unknown[];
}

/** Objects further inside tell of no place: a step of a code flow is nine deep. */
const maxDepth = 12;

/** A SARIF result with the texts and file names that it refers to in place of the references (SARIF 2.1.0, 3.4.5 and 3.11.5 to 3.11.7). */
export function resolveResult(result: JsonObject, referred: Referred): JsonObject {
  const resolve = (value: unknown, depth: number): unknown => {
    if (typeof value !== 'object' || value === null || depth > maxDepth) return value;
    if (Array.isArray(value)) {
      const items = value.map((item: unknown) => resolve(item, depth + 1));
      return items.some((item, at) => item !== value[at]) ? items : value;
    }
    return resolveObject(value as JsonObject, depth);
  };
  const resolveObject = (object: JsonObject, depth: number): JsonObject => {
    let resolved: Record<string, unknown> | undefined;
    for (const key of Object.keys(object)) {
      const value = object[key];
      const meant = resolve(referenceAt(key, value, referred), depth + 1);
      if (meant !== value) (resolved ??= { ...object })[key] = meant;
    }
    return resolved ?? object;
  };
  return resolveObject(result, 0);
}

function referenceAt(key: string, value: unknown, { messageStrings, artifacts }: Referred): unknown {
  if (!isObject(value)) return value;
  if (key === 'message') return toMessage(value, messageStrings);
  if (key !== 'artifactLocation' || value['uri'] !== undefined) return value;
  const { index } = value;
  const artifact = typeof index === 'number' ? artifacts[index] : undefined;
  return isObject(artifact) && isObject(artifact['location']) ? artifact['location'] : value;
}

function toMessage(message: JsonObject, messageStrings: unknown): JsonObject {
  const { id, text, markdown, arguments: given } = message;
  const isWhole = text !== undefined || markdown !== undefined;
  if (isWhole && given === undefined) return message;
  const named = isWhole ? message : ownValue(messageStrings, id);
  if (!isObject(named)) return message;
  const values: readonly unknown[] = Array.isArray(given) ? given : [];
  return Object.fromEntries(
    ['text', 'markdown'].flatMap((key) => {
      const template = named[key];
      return typeof template === 'string' ? [[key, filled(template, values)]] : [];
    }),
  );
}

/** A text with `{n}` replaced by values, and `{{` and `}}` by one brace; few letters may ask for many, so that a long text ends early. */
function filled(template: string, values: readonly unknown[]): string {
  let text = '';
  for (const part of template.split(/(\{\{|\}\}|\{\d{1,3}\})/)) {
    if (text.length > MAX_TEXT) break;
    const value = /^\{\d+\}$/.test(part) ? values[Number(part.slice(1, -1))] : undefined;
    if (typeof value === 'string') text += value;
    else text += part === '{{' || part === '}}' ? part.slice(1) : part;
  }
  return text;
}

function ownValue(object: unknown, key: unknown): unknown {
  return isObject(object) && typeof key === 'string' && Object.hasOwn(object, key) ? object[key] : undefined;
}

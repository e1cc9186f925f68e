import { isObject, type JsonObject } from '../../json.ts';
import { clip, codeBlock, codeSpan } from '../../visibleText.ts';
import { isElision } from '../drift/lineText.ts';
import { toLineRange } from './pathText.ts';

/** Limits one field, in UTF-16 units. */
export const MAX_TEXT = 65_536;

const maxDepth = 6;
const maxParts = 2_000;

/** Arrays become lists in this style. With `code`, the text becomes a code block. */
export type TextStyle = 'bullets' | 'numbers' | 'code';

/**
 * Returns the Markdown or text of `{text, markdown}`, lists for arrays, and `key: value` lines for
 * other objects. A boolean or null alone gives no text. A text longer than `MAX_TEXT` may be
 * incomplete.
 */
export function toFreeText(value: unknown, style: TextStyle = 'bullets'): string {
  if (typeof value === 'boolean') return '';
  const text = freeText(value, style, 0).trim();
  return style === 'code' && text !== '' ? codeBlock(text.split('\n')).trim() : text;
}

export function toFieldList(fields: readonly (readonly [name: string, value: unknown])[]): string {
  return gather(fields, ([name, value]) => {
    const text = freeText(value, 'bullets', 0).trim();
    const isLong = text.includes('\n');
    return text === ''
      ? ''
      : `- ${codeSpan(name)}:${isLong ? `\n${text}`.replaceAll('\n', '\n  ') : ` ${text}`}`;
  }).join('\n');
}

function freeText(value: unknown, style: TextStyle, depth: number): string {
  if (typeof value === 'string') return value.length > MAX_TEXT ? value.slice(0, MAX_TEXT + 1) : value;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (depth >= maxDepth) return '';
  if (Array.isArray(value)) return listProse(value, style, depth);
  return isObject(value) ? objectProse(value, depth) : '';
}

function listProse(items: readonly unknown[], style: TextStyle, depth: number): string {
  const parts = gather(items, (item) => freeText(item, style, depth + 1));
  if (parts.length < 2) return parts[0] ?? '';
  return parts.map((part, at) => `${style === 'numbers' ? `${String(at + 1)}.` : '-'} ${part}`).join('\n');
}

function objectProse(value: JsonObject, depth: number): string {
  const whole = messageText(value);
  if (whole !== undefined) return freeText(whole, 'bullets', depth);
  return gather(Object.entries(value), ([key, part]) => {
    const text = freeText(part, key === 'steps' ? 'numbers' : 'bullets', depth + 1);
    if (text === '' || key === 'summary' || key === 'steps') return text;
    return text.includes('\n') ? `${key}:\n${text}` : `${key}: ${text}`;
  }).join('\n');
}

export function messageText({ markdown, text }: JsonObject): string | undefined {
  return [markdown, text].find((each) => typeof each === 'string');
}

export function gather<T>(items: readonly T[], toText: (item: T) => string): readonly string[] {
  const parts: string[] = [];
  let length = 0;
  for (const item of items.slice(0, maxParts)) {
    const text = toText(item).trim();
    if (text === '') continue;
    parts.push(text);
    length += text.length;
    if (length > MAX_TEXT) break;
  }
  if (items.length > maxParts) parts.push('…');
  return parts;
}

export function withoutFence(text: string): string {
  return /^\s*```[^\n]*\n([^]*)\n[ \t]*```\s*$/.exec(text)?.[1] ?? text;
}

/** Without a login, Semgrep's CLI writes this instead of code. */
const noSnippet = 'requires login';

const numberPrefix = /^(\d{1,7})(?: ?[|:│] ?|[\t ]|$)/;
/** Only a bar is sure to mark a line number: code, too, can start with `12:` or `12 `. */
const barPrefix = /^\W*\d{1,7} ?[|│]/;

/** Removes a Markdown fence and line numbers. Returns undefined if there is no code. */
export function toSnippet(value: unknown, startLine: number | undefined): string | undefined {
  const inner = isObject(value) ? value['text'] : value;
  const text: unknown = Array.isArray(inner)
    ? inner.filter((line) => typeof line === 'string').join('\n')
    : inner;
  if (typeof text !== 'string' || text === noSnippet) return undefined;
  const lines = withoutFence(clip(text, MAX_TEXT)).split('\n');
  const isCode = (line: string): boolean => line.trim() !== '' && !toLineRange(line);
  return lines.some(isCode) ? withoutNumbers(lines, startLine).join('\n') : undefined;
}

/**
 * Removes line numbers if every line has one and they are consecutive. After a line of dots, any
 * later number may follow. A single line needs a bar after its number, or its location's line as
 * the number.
 */
function withoutNumbers(lines: readonly string[], startLine = 0): readonly string[] {
  const isAnyNumber = lines.length > 1 || barPrefix.test(lines[0] ?? '');
  let [next, mayLeap] = [isAnyNumber ? 0 : startLine, isAnyNumber];
  const code: string[] = [];
  for (const line of lines) {
    if (isElision(line) && next > 0) {
      code.push(line);
      mayLeap = true;
      continue;
    }
    const text = line.trimStart();
    const [head, digits] = numberPrefix.exec(text.startsWith('>') ? text.slice(1).trimStart() : text) ?? [];
    const number = Number(digits);
    if (head === undefined || (mayLeap ? number < next : number !== next)) return lines;
    [next, mayLeap] = [number + 1, false];
    code.push(line.slice(line.indexOf(head) + head.length));
  }
  return code;
}

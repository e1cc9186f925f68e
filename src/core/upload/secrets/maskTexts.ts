import { undrawn } from '../../visibleText.ts';
import type { Match } from './ourRules.ts';
import { type Found, searchText, urlEncoded } from './searchText.ts';

export interface MaskStart {
  /** Any plain data. */
  readonly texts: unknown;
}

/** Some kinds count only in files of such a name. In texts about files, all kinds count. */
const path = '.npmrc';
/** Texts are searched together: each search has a fixed cost, and most texts hold no credential. */
const chunkLength = 128 * 1024;
/** A line break with the mark of the next line, as in a quote or a difference. A blank line ends a secret. */
const lineBreak = String.raw`(?<!\n)\r?\n(?!\r?\n)[ \t]*`;
const lineMark = String.raw`(?:(?:[+>#*|]|-(?!-))[ \t]*)?`;
/** What may be a mark, or the next character of a secret. */
const unclearMark = /\n[ \t]*[+|-]\S/;

/** What may be inside a secret in a text: what is not drawn, its visible escape, a backslash of Markdown, and a line break. */
function between(atLines: string): RegExp {
  const escapes = [String.raw`\\u\{[0-9A-F]{4,6}\}`, String.raw`\\(?=[!-\/:-@\[-\x60\{-~])`];
  return new RegExp([undrawn.source, ...escapes, atLines].join('|'), 'gu');
}

const inside = [between(lineBreak + lineMark), urlEncoded];
const insideUnclear = [...inside, between(lineBreak)];

/** The same value with each string in it masked as the check before an upload masks it. An object that occurs several times stays one object. */
export function maskTexts({ texts: value }: MaskStart): unknown {
  const texts = new Set<string>();
  mapStrings(value, (text) => {
    texts.add(text);
    return text;
  });
  const masked = new Map<string, string>();
  for (const chunk of chunksOf(texts)) {
    if (search(chunk.join('\n\n')).every(({ matches }) => matches.length === 0)) continue;
    for (const text of chunk) masked.set(text, mask(text, search(text)));
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

function* chunksOf(texts: Iterable<string>): Generator<readonly string[]> {
  let chunk: string[] = [];
  let length = 0;
  for (const text of texts) {
    if (length + text.length > chunkLength && chunk.length > 0) {
      yield chunk;
      chunk = [];
      length = 0;
    }
    chunk.push(text);
    length += text.length;
  }
  yield chunk;
}

function search(text: string): readonly Found[] {
  return searchText(text, path, unclearMark.test(text) ? insideUnclear : inside);
}

/** A part of a text, and what is shown in its place. */
interface Span {
  readonly start: number;
  readonly end: number;
  readonly shown: string;
}

function mask(text: string, found: readonly Found[]): string {
  const spansOf = (isJoined: boolean): Span[] =>
    found
      .filter(({ form }) => form.isJoined === isJoined)
      .flatMap(({ form, matches }) => matches.flatMap((match) => occurrencesOf(match, form)));
  const sure = merged(spansOf(false));
  // After a line break, a secret of any length may go on, or a word may begin.
  const goesOn = (span: Span): boolean =>
    sure.every(
      ({ start, end }) =>
        end <= span.start ||
        span.end <= start ||
        !isWords(text.slice(span.start, start)) ||
        !isWords(text.slice(end, span.end)),
    );
  let shown = '';
  let at = 0;
  for (const span of merged([...sure, ...spansOf(true).filter(goesOn)])) {
    shown += text.slice(at, span.start) + span.shown;
    at = span.end;
  }
  return shown + text.slice(at);
}

/** True for words in lower or upper case, and signs. */
function isWords(text: string): boolean {
  return text.split(/[^A-Za-z0-9]+/).every((word) => /^(?:[A-Z]?[a-z]*|[A-Z]+)$/.test(word));
}

/** All places of a secret, since some rules report another place than that of the secret. */
function occurrencesOf(
  { secret, masked, alias = masked }: Match,
  { text, originalOf }: Found['form'],
): Span[] {
  const spans: Span[] = [];
  if (secret === '') return spans;
  for (let at = text.indexOf(secret); at >= 0; at = text.indexOf(secret, at + secret.length))
    spans.push({ start: originalOf(at), end: originalOf(at + secret.length - 1) + 1, shown: alias });
  return spans;
}

/** Spans that do not overlap, in order: one secret may hold another. The longest says what is shown. */
function merged(spans: readonly Span[]): readonly Span[] {
  const apart: Span[] = [];
  for (const span of spans.toSorted((a, b) => a.start - b.start || b.end - a.end)) {
    const last = apart.at(-1);
    if (last === undefined || last.end <= span.start) {
      apart.push(span);
      continue;
    }
    const { shown } = span.end - span.start > last.end - last.start ? span : last;
    apart[apart.length - 1] = { start: last.start, end: Math.max(last.end, span.end), shown };
  }
  return apart;
}

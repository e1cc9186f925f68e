import { isObject } from '../../json.ts';
import { clip } from '../../visibleText.ts';
import { isLeftOut } from '../drift/lineText.ts';
import { NO_SNIPPET } from './aliases.ts';
import { isLineText } from './pathText.ts';
import { MAX_TEXT } from './freeText.ts';

const maxSnippetLines = 1_000;

/** The number in front of a line, in a quote of several lines. */
const numberPrefix = /^(\d{1,7})(?: ?[|:│] ?|[\t ]|$)/;
/** The same in a quote of one line. Code can start with `12:` or `12 `, so only a bar counts. */
const singlePrefix = /^(\d{1,7}) ?[|│] ?/;
/** The same where the number is the place's own line: a colon or a tab counts, too. */
const placePrefix = /^(\d{1,7})(?: ?: ?|\t)/;

/** Reads a text, `{text}` or an array of lines; undefined where it holds line numbers, not code. */
export function toSnippet(value: unknown, startLine: number | undefined): string | undefined {
  if (Array.isArray(value)) {
    const lines = (value as readonly unknown[])
      .slice(0, maxSnippetLines)
      .filter((line) => typeof line === 'string');
    return lines.every(isLineText) ? undefined : clip(codeIn(lines.join('\n'), startLine), MAX_TEXT);
  }
  const text = isObject(value) && Object.hasOwn(value, 'text') ? value['text'] : value;
  if (typeof text !== 'string' || text.trim() === '' || isLineText(text)) return undefined;
  return text === NO_SNIPPET ? undefined : clip(codeIn(text, startLine), MAX_TEXT);
}

/** Removes a Markdown fence and line numbers. */
function codeIn(quote: string, startLine: number | undefined): string {
  const lines = (quote.length > MAX_TEXT ? clip(quote, MAX_TEXT) : quote).split('\n');
  const first = lines.findIndex((line) => line.trim() !== '');
  const last = lines.findLastIndex((line) => line.trim() !== '');
  const isFenced =
    last > first && lines[first]?.trimStart().startsWith('```') && lines[last]?.trim() === '```';
  return withoutNumbers(isFenced === true ? lines.slice(first + 1, last) : lines, startLine).join('\n');
}

/** Removes line numbers where every line has the next one. After a line of dots, it may be any later one. */
function withoutNumbers(lines: readonly string[], startLine: number | undefined): readonly string[] {
  let [next, mayLeap] = [0, true];
  const code: string[] = [];
  for (const line of lines) {
    if (isLeftOut(line) && next > 0) {
      code.push(line);
      mayLeap = true;
      continue;
    }
    const text = line.trimStart();
    const marked = text.startsWith('>') ? text.slice(1).trimStart() : text;
    const ofPlace = placePrefix.exec(marked);
    const single = Number(ofPlace?.[1]) === startLine ? ofPlace : singlePrefix.exec(marked);
    const [head, digits] = (lines.length === 1 ? single : numberPrefix.exec(marked)) ?? [];
    const number = Number(digits);
    if (head === undefined || (mayLeap ? number < next : number !== next)) return lines;
    [next, mayLeap] = [number + 1, false];
    code.push(line.slice(line.indexOf(head) + head.length));
  }
  return code;
}

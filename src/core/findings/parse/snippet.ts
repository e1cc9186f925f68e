import { isObject } from '../../json.ts';
import { clip } from '../../visibleText.ts';
import { isLeftOut } from '../drift/lineText.ts';
import { NO_SNIPPET } from './aliases.ts';
import { isLineText } from './pathText.ts';
import { MAX_TEXT } from './freeText.ts';

const maxSnippetLines = 1_000;

/** The number before a line of a quote of several lines. */
const lineNumber = /^(\d{1,7})(?: ?[|:│] ?|[\t ]|$)/;
/** The number before a quote of one line: code can start like `12:` or `12 `, so only a bar counts. */
const singleNumber = /^(\d{1,7}) ?[|│] ?/;
/** The same when it is the number of the place itself: then a colon or a tab counts, too. */
const ownNumber = /^(\d{1,7})(?: ?: ?|\t)/;

/** Code as text, as `{text}` or as an array of lines; line numbers are not code. */
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

/** The code in a quote: without the Markdown fence around it and the line numbers in front of it. */
function codeIn(quote: string, startLine: number | undefined): string {
  const lines = (quote.length > MAX_TEXT ? clip(quote, MAX_TEXT) : quote).split('\n');
  const first = lines.findIndex((line) => line.trim() !== '');
  const last = lines.findLastIndex((line) => line.trim() !== '');
  const isFenced =
    last > first && lines[first]?.trimStart().startsWith('```') && lines[last]?.trim() === '```';
  return withoutNumbers(isFenced === true ? lines.slice(first + 1, last) : lines, startLine).join('\n');
}

/** Lines without their numbers, where all have one that counts on; behind lines of dots it may be any later one. */
function withoutNumbers(lines: readonly string[], startLine: number | undefined): readonly string[] {
  let [next, isLeap] = [0, true];
  const code: string[] = [];
  for (const line of lines) {
    if (isLeftOut(line) && next > 0) {
      code.push(line);
      isLeap = true;
      continue;
    }
    const text = line.trimStart();
    const marked = text.startsWith('>') ? text.slice(1).trimStart() : text;
    const own = ownNumber.exec(marked);
    const single = Number(own?.[1]) === startLine ? own : singleNumber.exec(marked);
    const [head, digits] = (lines.length === 1 ? single : lineNumber.exec(marked)) ?? [];
    const number = Number(digits);
    if (head === undefined || (isLeap ? number < next : number !== next)) return lines;
    [next, isLeap] = [number + 1, false];
    code.push(line.slice(line.indexOf(head) + head.length));
  }
  return code;
}

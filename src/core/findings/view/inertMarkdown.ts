import { clip } from '../parse/prose.ts';
import { visibleText } from '../../visibleText.ts';

const fence = /^ {0,3}(`{3,}|~{3,})[^`]*$/;
const marker = /^(\s*(?:[-*+]|\d{1,3}[.)])\s+)(\S.*)$/;
const span = /(?<!`)`([^`\n]+)`(?!`)|\*\*([^*\n]+)\*\*/g;

/**
 * Untrusted Markdown as Markdown that keeps its paragraphs, lists, code and bold text, and in which nothing else is alive: no link,
 * no image, no HTML, no command. At most about `max` UTF-16 units of it are kept.
 */
export function inertMarkdown(source: string, max: number): string {
  const text = visibleText(source.length > max ? `${clip(source, max)} …` : source);
  const lines: string[] = [];
  let code: { readonly end: string; readonly lines: string[] } | undefined;
  for (const line of text.split('\n')) {
    const mark = fence.exec(line)?.[1];
    if (code !== undefined) {
      if (mark?.startsWith(code.end) === true && line.trim() === mark) {
        lines.push(codeBlock(code.lines));
        code = undefined;
      } else code.lines.push(line);
    } else if (mark !== undefined) code = { end: mark, lines: [] };
    else lines.push(inertLine(line));
  }
  if (code !== undefined) lines.push(codeBlock(code.lines));
  return lines.join('\n').trim();
}

/** Lines as a code block that their own text cannot end. */
export function codeBlock(lines: readonly string[], language = ''): string {
  const mark = '`'.repeat(Math.max(3, longestRun(lines.join('\n')) + 1));
  return ['', `${mark}${language}`, ...lines, mark, ''].join('\n');
}

/** Text as inline code that its own text cannot end. */
export function codeSpan(text: string): string {
  const mark = '`'.repeat(longestRun(text) + 1);
  return `${mark} ${text} ${mark}`;
}

function longestRun(text: string): number {
  return Math.max(0, ...(text.match(/`+/g) ?? []).map(({ length }) => length));
}

/** Text that Markdown shows as it is. */
export function escapeMarkdown(text: string): string {
  return text.replaceAll(/[!-/:-@[-`{-~]/g, '\\$&');
}

function inertLine(line: string): string {
  const [, bullet, rest] = marker.exec(line) ?? [];
  // Without the mark a line that follows another would join it; four spaces would make it code.
  if (bullet === undefined) return line.trim() === '' ? '' : `${inertText(line.trim())}  `;
  return `${bullet.replaceAll('\t', '    ')}${inertText(rest ?? '')}`;
}

function inertText(text: string): string {
  let at = 0;
  let inert = '';
  for (const match of text.matchAll(span)) {
    const [whole, code, bold] = match;
    inert += escapeMarkdown(text.slice(at, match.index));
    if (code !== undefined) inert += whole;
    else inert += `**${escapeMarkdown((bold ?? '').trim())}**`;
    at = match.index + whole.length;
  }
  return inert + escapeMarkdown(text.slice(at));
}

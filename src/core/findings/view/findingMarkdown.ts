import { extname } from 'node:path';
import type { BlockKind, Finding, Place, Severity } from '../finding.ts';
import type { ShownFinding, ShownPlace } from '../shownFinding.ts';
import { isUndecided, type TriageDecision } from '../triage/triage.ts';
import { clip, visibleLine, visibleText } from '../../visibleText.ts';

/** The words of a finding's document, in the reader's language. */
export interface FindingWords {
  readonly severity: string;
  readonly place: string;
  readonly feature: string;
  readonly perspective: string;
  readonly otherPlaces: string;
  readonly triage: string;
  readonly owner: string;
  readonly description: string;
  readonly severityOf: (severity: Severity) => string;
  readonly triageOf: (decision: TriageDecision) => string;
  /** What speaks for a finding, and how it stands to other runs and to the code, each with its label; undefined when there is nothing to say. */
  readonly standingOf: (
    shown: ShownFinding,
  ) => readonly (readonly [label: string, text: string | undefined, ...unknown[]])[];
  readonly blockOf: (kind: BlockKind) => string;
}

const maxOtherPlaces = 50;

const fence = /^ {0,3}(`{3,}|~{3,})[^`]*$/;
const marker = /^(\s*(?:[-*+]|\d{1,3}[.)])\s+)(\S.*)$/;
const span = /(?<!`)`([^`\n]+)`(?!`)|\*\*([^*\n]+)\*\*/g;

/** A finding as a Markdown document of its own, to be pasted where people or agents work on it; its texts stand in code blocks, which they cannot end. */
export function findingMarkdown(shown: ShownFinding, words: FindingWords): string {
  const { finding, triage } = shown;
  const [main, ...others] = finding.places;
  const { severity, severityText, cvss, description, blocks, recommendation } = finding;
  const rating = [
    words.severityOf(severity),
    severityText === undefined ? undefined : `“${escapeMarkdown(severityText)}”`,
    cvss?.score === undefined ? undefined : `CVSS ${String(cvss.score)}`,
    cvss?.vector === undefined ? undefined : codeSpan(cvss.vector),
  ];
  const fact = (label: string, text: string): string[] => (text === '' ? [] : [`- **${label}:** ${text}`]);
  const section = (heading: string, text: string): string[] =>
    text.trim() === ''
      ? []
      : ['', `### ${heading}`, codeBlock(visibleText(text).trim().split('\n'), 'markdown')];
  const note = triage.note === '' ? '' : `: ${escapeMarkdown(visibleLine(triage.note))}`;
  return [
    `## ${escapeMarkdown(finding.title === '' ? finding.id : finding.title)}`,
    '',
    ...fact(words.severity, rating.filter((part) => part !== undefined).join(' · ')),
    ...fact('CWE', finding.cwes.map(cweLink).join(', ')),
    ...fact(words.place, main === undefined ? '' : codeSpan(addressOf(main, shown))),
    ...fact(words.feature, escapeMarkdown(finding.feature ?? '')),
    ...fact(words.perspective, escapeMarkdown(finding.perspective ?? '')),
    ...fact('URL', finding.url === undefined ? '' : codeSpan(requestOf(finding))),
    ...words
      .standingOf(shown)
      .flatMap(([label, text = '']) => fact(label, escapeMarkdown(visibleLine(text)))),
    // As code, so that a tracker notifies nobody.
    ...fact(words.owner, (shown.owners ?? []).map(codeSpan).join(' ')),
    ...fact(words.triage, isUndecided(triage) ? '' : `${escapeMarkdown(words.triageOf(triage))}${note}`),
    ...(main?.snippet === undefined ? [] : [quoteOf(main)]),
    ...section(words.description, description),
    ...blocks.flatMap(({ kind, text }) => section(words.blockOf(kind), text)),
    ...section(words.blockOf('recommendation'), recommendation),
    ...(others.length === 0 ? [] : ['', `### ${words.otherPlaces}`, '']),
    ...others.slice(0, maxOtherPlaces).map((place) => {
      const label = place.label === undefined ? '' : ` – ${escapeMarkdown(visibleLine(place.label))}`;
      return `- ${codeSpan(addressOf(place, shown))}${label}`;
    }),
    '',
  ].join('\n');
}

/** The request that shows a finding of a live application, as one line of plain text; empty for another finding. */
export function requestOf({ method, url }: Pick<Finding, 'method' | 'url'>): string {
  return [method, url].filter((part) => part !== undefined).join(' ');
}

/** The file here that a finding's place is in, if any. */
export function hereOf(
  place: Place | undefined,
  { places }: Pick<ShownFinding, 'places'>,
): ShownPlace | undefined {
  return places.find(({ reported }) => reported === place);
}

/** `path:line` as it is here now, without a line where the code is gone; else as the findings file reports it. */
export function addressOf(place: Place, shown: Pick<ShownFinding, 'places'>): string {
  const here = hereOf(place, shown);
  const { path, startLine } = here ?? place;
  return startLine === undefined || here?.drift === 'gone'
    ? visibleLine(path)
    : `${visibleLine(path)}:${String(startLine)}`;
}

function cweLink(cwe: number): string {
  return `[CWE-${String(cwe)}](https://cwe.mitre.org/data/definitions/${String(cwe)}.html)`;
}

/** The code that a place quotes, as a code block in the language that the file's extension names; empty where it quotes none. */
export function quoteOf({ path, snippet = '' }: Place): string {
  const language = /^\.(\w{1,15})$/.exec(extname(path))?.[1];
  return snippet.trim() === '' ? '' : codeBlock(visibleText(snippet).split('\n'), language);
}

/**
 * Untrusted Markdown as Markdown that keeps its paragraphs, lists, code and bold text, and in which nothing else is active: no link,
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

import { extname } from 'node:path';
import { type BlockKind, cweUrl, type Finding, type Location, type Severity } from '../finding.ts';
import {
  type DetailedFinding,
  localLocationOf,
  type ShownFinding,
  type ShownLocation,
} from '../shownFinding.ts';
import { isUndecided, type TriageDecision } from '../triage/triage.ts';
import { clip, visibleLine, visibleText, codeBlock, codeSpan } from '../../visibleText.ts';

export interface FindingWords {
  readonly severity: string;
  readonly location: string;
  readonly feature: string;
  readonly perspective: string;
  readonly otherLocations: string;
  readonly triage: string;
  readonly owner: string;
  readonly description: string;
  readonly severityOf: (severity: Severity) => string;
  readonly triageOf: (decision: TriageDecision) => string;
  readonly standingOf: (
    shown: DetailedFinding,
  ) => readonly (readonly [label: string, text: string | undefined, ...unknown[]])[];
  readonly blockOf: (kind: BlockKind) => string;
}

const maxOtherLocations = 50;

const fence = /^ {0,3}(`{3,}|~{3,})[^`]*$/;
const marker = /^(\s*(?:[-*+]|\d{1,3}[.)])\s+)(\S.*)$/;
const span = /(?<!`)`([^`\n]+)`(?!`)|\*\*([^*\n]+)\*\*/g;

/** Untrusted texts are escaped, or put in code that they cannot end. */
export function findingMarkdown(shown: DetailedFinding, words: FindingWords): string {
  const { finding, triage } = shown;
  const [main, ...others] = finding.locations;
  const { severity, severityText, cvss } = finding;
  const { description, blocks, recommendation } = shown.details;
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
    ...fact('CWE', finding.cwes.map((cwe) => `[CWE-${String(cwe)}](${cweUrl(cwe)})`).join(', ')),
    ...fact(words.location, main === undefined ? '' : codeSpan(addressOf(main, shown))),
    ...fact(words.feature, escapeMarkdown(finding.feature ?? '')),
    ...fact(words.perspective, escapeMarkdown(finding.perspective ?? '')),
    ...fact('URL', finding.url === undefined ? '' : codeSpan(requestOf(finding))),
    ...words
      .standingOf(shown)
      .flatMap(([label, text = '']) => fact(label, escapeMarkdown(visibleLine(text)))),
    // Owners are in code spans, so that an issue tracker notifies nobody.
    ...fact(words.owner, shown.owners === 'unknown' ? '' : (shown.owners ?? []).map(codeSpan).join(' ')),
    ...fact(words.triage, isUndecided(triage) ? '' : `${escapeMarkdown(words.triageOf(triage))}${note}`),
    quoteOf(shown.details.locations[0]),
    ...section(words.description, description),
    ...blocks.flatMap(({ kind, text }) => section(words.blockOf(kind), text)),
    ...section(words.blockOf('recommendation'), recommendation),
    ...(others.length === 0 ? [] : ['', `### ${words.otherLocations}`, '']),
    ...others.slice(0, maxOtherLocations).map((location) => {
      const label = location.label === undefined ? '' : ` – ${escapeMarkdown(visibleLine(location.label))}`;
      return `- ${codeSpan(addressOf(location, shown))}${label}`;
    }),
    '',
  ].join('\n');
}

export function requestOf({ method, url }: Pick<Finding, 'method' | 'url'>): string {
  return [method, url].filter((part) => part !== undefined).join(' ');
}

export function addressOf(location: Location, shown: Pick<ShownFinding, 'locations'>): string {
  const local = localLocationOf(location, shown);
  const { path, startLine } = local ?? location;
  return startLine === undefined || local?.drift === 'gone'
    ? visibleLine(path)
    : `${visibleLine(path)}:${String(startLine)}`;
}

export function quoteOf({ path, snippet = '' }: Location = { path: '' }): string {
  const language = /^\.(\w{1,15})$/.exec(extname(path))?.[1];
  return snippet.trim() === '' ? '' : codeBlock(visibleText(snippet).split('\n'), language);
}

/**
 * Keeps paragraphs, lists, code, and bold text of untrusted Markdown, but no link, image, HTML, or
 * command.
 */
export function inertMarkdown(source: string, maxLength: number): string {
  const text = visibleText(source.length > maxLength ? `${clip(source, maxLength)} …` : source);
  const lines: string[] = [];
  let code: { readonly end: string; readonly lines: string[] } | undefined;
  for (const line of text.split('\n')) {
    const opening = fence.exec(line)?.[1];
    if (code !== undefined) {
      if (opening?.startsWith(code.end) === true && line.trim() === opening) {
        lines.push(codeBlock(code.lines));
        code = undefined;
      } else code.lines.push(line);
    } else if (opening !== undefined) code = { end: opening, lines: [] };
    else lines.push(inertLine(line));
  }
  if (code !== undefined) lines.push(codeBlock(code.lines));
  return lines.join('\n').trim();
}

export function escapeMarkdown(text: string): string {
  return text.replaceAll(/[!-/:-@[-`{-~]/g, '\\$&');
}

function inertLine(line: string): string {
  const [, bullet, remainder] = marker.exec(line) ?? [];
  // Two trailing spaces keep line breaks; four leading ones would make code.
  if (bullet === undefined) return line.trim() === '' ? '' : `${inertText(line.trim())}  `;
  return `${bullet.replaceAll('\t', '    ')}${inertText(remainder ?? '')}`;
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

/**
 * Each key is a text `path:line` that refers to exactly one location. A report is as old as its
 * run, so the line is the result's; the path is the reported or the current one. A location whose
 * code is gone counts only if all locations with this text are gone.
 */
export function locationLinks(
  shown: readonly Pick<ShownFinding, 'locations'>[],
): ReadonlyMap<string, ShownLocation> {
  const named = shown
    .flatMap(({ locations }) => locations)
    .filter(({ startLine }) => startLine !== undefined)
    .flatMap((location) => labelsOf(location).map((label) => ({ label, location })));
  const links = new Map<string, ShownLocation>();
  for (const [label, meanings] of Map.groupBy(named, (each) => each.label)) {
    const there = meanings.filter(({ location: { drift } }) => drift !== 'gone');
    const [location, ...others] = (there.length > 0 ? there : meanings).map((each) => each.location);
    if (location === undefined) continue;
    const isOne = others.every(
      (each) => each.file === location.file && each.startLine === location.startLine,
    );
    if (isOne) links.set(label, location);
  }
  return links;
}

function labelsOf(location: ShownLocation): string[] {
  const reported = location.reported.path.replaceAll('\\', '/').replace(/^\.\//, '');
  const line = location.reported.startLine ?? location.startLine;
  return [location.path, reported].map((path) => `${path}:${String(line)}`);
}

import { extname } from 'node:path';
import type { BlockKind, Place, Severity } from '../finding.ts';
import type { ShownFinding, ShownPlace } from '../shownFinding.ts';
import { codeBlock, codeSpan, escapeMarkdown } from './inertMarkdown.ts';
import { isUndecided, type TriageState } from '../triage/triage.ts';
import { visibleLine, visibleText } from '../../visibleText.ts';

/** The words of a finding's document, in the reader's language. */
export interface FindingWords {
  readonly severity: string;
  readonly place: string;
  readonly drift: string;
  readonly otherPlaces: string;
  readonly triage: string;
  readonly description: string;
  readonly severityOf: (severity: Severity) => string;
  readonly triageOf: (state: TriageState) => string;
  /** Undefined where nothing is to be said. */
  readonly driftOf: (place: ShownPlace) => string | undefined;
  readonly blockOf: (kind: BlockKind) => string;
}

const maxOtherPlaces = 50;

/** A finding as a Markdown document of its own, to be pasted where people or agents work on it; its texts stand in code blocks, which they cannot end. */
export function findingMarkdown(shown: ShownFinding, words: FindingWords): string {
  const { finding, triage } = shown;
  const [main, ...others] = finding.places;
  const here = hereOf(main, shown);
  const { severity, severityText, cvss, description, blocks, recommendation } = finding;
  const rating = [
    words.severityOf(severity),
    severityText === undefined ? undefined : `“${escapeMarkdown(severityText)}”`,
    cvss?.score === undefined ? undefined : `CVSS ${String(cvss.score)}`,
    cvss?.vector === undefined ? undefined : codeSpan(visibleLine(cvss.vector)),
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
    ...fact(words.drift, (here && words.driftOf(here)) ?? ''),
    ...fact(words.triage, isUndecided(triage) ? '' : `${words.triageOf(triage.state)}${note}`),
    ...(main?.snippet === undefined
      ? []
      : [codeBlock(visibleText(main.snippet).split('\n'), languageOf(main.path))]),
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

/** The place here that a finding's place is; undefined when it is none, or there is no such place. */
export function hereOf(place: Place | undefined, { places }: ShownFinding): ShownPlace | undefined {
  return places.find(({ told }) => told === place);
}

/** `path:line` as it is here now, without a line where the code is gone; else as the findings file tells it. */
export function addressOf(place: Place, shown: ShownFinding): string {
  const here = hereOf(place, shown);
  const { path, startLine } = here ?? place;
  return startLine === undefined || here?.drift === 'gone'
    ? visibleLine(path)
    : `${visibleLine(path)}:${String(startLine)}`;
}

function cweLink(cwe: number): string {
  return `[CWE-${String(cwe)}](https://cwe.mitre.org/data/definitions/${String(cwe)}.html)`;
}

/** The file's extension, where it can name a language. */
function languageOf(path: string): string {
  return /^\.(\w{1,15})$/.exec(extname(path))?.[1] ?? '';
}

import { extname } from 'node:path';
import * as vscode from 'vscode';
import { embeddedMarkdown } from '../core/findings/show/embeddedMarkdown.ts';
import type { Place } from '../core/findings/finding.ts';
import { placeLinks } from '../core/findings/place/placeLinks.ts';
import type { FindingStore } from '../core/findings/findingStore.ts';
import type { ShownFinding, ShownPlace } from '../core/findings/shownFinding.ts';
import { codeBlock, codeSpan, escapeMarkdown } from '../core/findings/show/inertMarkdown.ts';
import { clip } from '../core/findings/parse/prose.ts';
import { visibleLine, visibleText } from '../core/findings/parse/visibleText.ts';
import type { ReportContent } from '../core/report/protocol.ts';
import { titleOf } from '../core/run/run.ts';
import type { PanelDocument } from './documentPanel.ts';
import { formatTime } from './formats.ts';
import {
  blockLabel,
  driftLabel,
  severityLabel,
  shortfallLabel,
  titleOfFinding,
  triageLabel,
} from './labels.ts';
import { revealPlace } from './places.ts';

const maxPlaces = 200;

/** Everything about a finding, for the panel beside its code; read anew whenever it is looked at. */
export function toDetails(shown: ShownFinding, findings: FindingStore): PanelDocument {
  const { run, finding } = shown;
  const current = (): ShownFinding => findings.find(run.id, finding.index) ?? shown;
  return {
    id: `${run.id}:${String(finding.index)}`,
    title: clip(titleOfFinding(finding), 60),
    load: () => Promise.resolve(toContent(current())),
    openPlace: async (index) => {
      const place = current().places[index];
      if (place !== undefined) await revealPlace(place, columnOf(place));
    },
  };
}

/** The finding whose details have this id, while it is shown. */
export function findDetailed(id: string, findings: FindingStore): ShownFinding | undefined {
  const at = id.lastIndexOf(':');
  return findings.find(id.slice(0, at), Number(id.slice(at + 1)));
}

/** Where the file is seen already, else the first column: never over the details. */
function columnOf({ file }: ShownPlace): vscode.ViewColumn {
  const seen = vscode.window.visibleTextEditors.find(({ document }) => document.uri.fsPath === file);
  return seen?.viewColumn ?? vscode.ViewColumn.One;
}

function toContent(shown: ShownFinding): ReportContent {
  return {
    markdown: toMarkdown(shown),
    title: titleOfFinding(shown.finding),
    facts: factsOf(shown),
    severities: [],
    places: linksOf(shown.places.slice(0, maxPlaces)),
    language: shown.run.language === 'japanese' ? 'ja' : 'en',
  };
}

/** What the view makes links of: texts of the finding that mean one place, and the list of its places, each entry its own. */
function linksOf(places: readonly ShownPlace[]): ReportContent['places'] {
  return [
    ...places.map((_, index) => ({ index, label: placeAddress(index) })),
    ...[...placeLinks([{ places }])].map(([label, place]) => ({ index: places.indexOf(place), label })),
  ];
}

/** No text like `path:line`, which may mean two places. */
function placeAddress(index: number): string {
  return `#place-${String(index)}`;
}

function factsOf({ run, finding, places, triage, change }: ShownFinding): ReportContent['facts'] {
  const t = vscode.l10n.t;
  const { severity, severityText, cwes, cvss, shortfall } = finding;
  const rating = severityLabel(severity);
  const drift = places[0] && driftLabel(places[0].drift);
  const compared = { new: t('new since the run before'), unchanged: t('also in the run before') };
  const facts: (readonly [string, string | undefined])[] = [
    [t('Severity'), severityText === undefined ? rating : t('{0} (written as “{1}”)', rating, severityText)],
    ['CWE', cwes.map(String).join(', ')],
    ['CVSS', [cvss?.score, cvss?.vector].filter((part) => part !== undefined).join(' · ')],
    [
      t('Triage'),
      triage.at === 0 ? triageLabel(triage.state) : `${triageLabel(triage.state)}, ${formatTime(triage.at)}`,
    ],
    [t('Note'), triage.note],
    [t('Code since the scan'), drift],
    [t('Run'), `${titleOf(run)}, ${formatTime(run.createdAt)}`],
    [t('Compared'), change && compared[change]],
    ['ID', finding.id],
    [t('Shown here'), shortfall && shortfallLabel(shortfall)],
  ];
  return facts.flatMap(([label, value]) =>
    value === undefined || value === '' ? [] : [{ label, value: visibleLine(value) }],
  );
}

/** Every text of the findings file goes in so that it stays in its own part. */
function toMarkdown({ finding, places }: ShownFinding): string {
  const t = vscode.l10n.t;
  const part = (heading: string, text: string): string[] =>
    text.trim() === '' ? [] : [`## ${heading}`, text];
  const weaknesses = finding.cwes.map(
    (cwe) => `- CWE-${String(cwe)}: https://cwe.mitre.org/data/definitions/${String(cwe)}.html`,
  );
  return [
    ...part(t('Places'), placesOf(finding.places, places)),
    ...part(t('Description'), embeddedMarkdown(finding.description)),
    ...finding.blocks.flatMap(({ kind, text }) => part(blockLabel(kind), embeddedMarkdown(text))),
    ...part(blockLabel('recommendation'), embeddedMarkdown(finding.recommendation)),
    ...part(t('Weakness'), weaknesses.join('\n')),
  ].join('\n\n');
}

function placesOf(told: readonly Place[], places: readonly ShownPlace[]): string {
  const items = told.slice(0, maxPlaces).map((each) => {
    const here = places.find((place) => place.told === each);
    const text = here === undefined ? toldLabel(each) : placeLabel(here);
    const notes = [
      each.label === undefined ? undefined : clip(visibleLine(each.label), 500),
      here === undefined ? vscode.l10n.t('not in this workspace') : driftLabel(here.drift),
    ];
    const said = notes
      .filter((note) => note !== undefined && note !== '')
      .map((note) => ` – ${escapeMarkdown(note ?? '')}`);
    const snippet = each.snippet?.trim() === '' ? undefined : each.snippet;
    const code =
      snippet === undefined ? '' : codeBlock(visibleText(snippet).split('\n'), languageOf(each.path));
    const entry =
      here === undefined ? codeSpan(text) : `[${codeSpan(text)}](${placeAddress(places.indexOf(here))})`;
    return `- ${entry}${said.join('')}\n${code.replaceAll(/^(?=.)/gm, '  ')}`;
  });
  if (told.length > maxPlaces) items.push(`- … (${String(told.length - maxPlaces)})`);
  return items.join('\n');
}

function placeLabel({ path, startLine, drift }: ShownPlace): string {
  return startLine === undefined || drift === 'gone'
    ? visibleLine(path)
    : `${visibleLine(path)}:${String(startLine)}`;
}

function toldLabel({ path, startLine }: Place): string {
  return startLine === undefined ? visibleLine(path) : `${visibleLine(path)}:${String(startLine)}`;
}

/** The file's extension, where it can name a language. */
function languageOf(path: string): string {
  return /^\.(\w{1,15})$/.exec(extname(path))?.[1] ?? '';
}

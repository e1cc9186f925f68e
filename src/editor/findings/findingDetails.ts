import { extname } from 'node:path';
import * as vscode from 'vscode';
import type { Confirmation } from '../../core/findings/confirmation.ts';
import type { Place } from '../../core/findings/finding.ts';
import { type Evidence, leastOf } from '../../core/findings/place/evidence.ts';
import { placeLinks } from '../../core/findings/place/runPlaces.ts';
import type { FindingStore } from '../../core/findings/findingStore.ts';
import type { ShownFinding, ShownPlace } from '../../core/findings/shownFinding.ts';
import { codeBlock, codeSpan, escapeMarkdown, requestOf } from '../../core/findings/view/findingMarkdown.ts';
import { clip } from '../../core/findings/parse/prose.ts';
import { visibleLine, visibleText } from '../../core/visibleText.ts';
import type { ReportContent } from '../../core/report/protocol.ts';
import type { RunStore } from '../../core/run/disk/runStore.ts';
import { titleOf } from '../../core/run/state/run.ts';
import { DocumentPanels, type PanelDeps, type PanelDocument } from '../report/documentPanels.ts';
import { confirmationLabel } from '../blackbox/confirmLive.ts';
import { formatTime } from '../formats.ts';
import {
  blockLabel,
  decidedBeforeLabel,
  driftLabel,
  evidenceLabel,
  severityLabel,
  shortfallLabel,
  titleOfFinding,
  triageLabel,
  verdictLabel,
} from '../labels.ts';
import { placeNow, revealPlace } from './code/goToFinding.ts';

const maxPlaces = 200;

/** The panel that shows one finding beside its code. */
export function registerFindingDetails(
  deps: PanelDeps & { runs: RunStore; findings: FindingStore },
): DocumentPanels<ShownFinding> {
  const { runs, findings } = deps;
  return new DocumentPanels<ShownFinding>({
    ...deps,
    viewType: 'whitebox.finding',
    panels: 'oneBeside',
    load: async () => {
      await runs.reload();
      await findings.load();
    },
    find: (id) => {
      const at = id.lastIndexOf(':');
      return findings.find(id.slice(0, at), Number(id.slice(at + 1)));
    },
    toDocument: (shown) => toDetails(shown, findings),
    onDidChange: (refresh) => {
      const tried = runs.onDidChange(({ confirms }) => {
        if (confirms !== undefined) refresh();
      });
      return vscode.Disposable.from(
        tried,
        findings.onDidChange(() => refresh()),
      );
    },
  });
}

/** Everything about a finding, for the panel beside its code; read again whenever the panel becomes visible. */
export function toDetails(shown: ShownFinding, findings: FindingStore): PanelDocument {
  const { run, finding } = shown;
  const current = (): ShownFinding => findings.find(run.id, finding.index) ?? shown;
  let linked = shown;
  return {
    id: `${run.id}:${String(finding.index)}`,
    title: clip(titleOfFinding(finding), 60),
    load: async () => {
      linked = current();
      return toContent(linked, await findings.confirmationsOf(linked));
    },
    openPlace: async (index) => {
      const place = linked.places[index];
      if (place === undefined) return;
      const now = placeNow(place, linked, current());
      await revealPlace(now, columnOf(now));
    },
  };
}

/** The column that shows the file already, else the first: never over the details. */
function columnOf({ file }: ShownPlace): vscode.ViewColumn {
  const seen = vscode.window.visibleTextEditors.find(({ document }) => document.uri.fsPath === file);
  return seen?.viewColumn ?? vscode.ViewColumn.One;
}

function toContent(shown: ShownFinding, confirmations: readonly Confirmation[]): ReportContent {
  return {
    parts: partsOf(shown),
    title: titleOfFinding(shown.finding),
    facts: factsOf(shown, confirmations),
    severities: [],
    places: linksOf(shown.places.slice(0, maxPlaces)),
    language: shown.run.language === 'japanese' ? 'ja' : 'en',
  };
}

/** The texts that the view turns into links: those that name exactly one place, and each entry in the list of places. */
function linksOf(places: readonly ShownPlace[]): ReportContent['places'] {
  return [
    ...places.map((_, index) => ({ index, label: placeAddress(index) })),
    ...[...placeLinks([{ places }])].map(([label, place]) => ({ index: places.indexOf(place), label })),
  ];
}

/** The link address of an entry in the list of places; a text like `path:line` could mean two of them. */
function placeAddress(index: number): string {
  return `#place-${String(index)}`;
}

/** What is known of a finding; nothing is said of an absent value. */
type Fact = readonly [label: string, value: string | undefined, tone?: Tone];
type Tone = ReportContent['facts'][number]['tone'];

const tones: Readonly<Record<Evidence['kind'], Tone>> = {
  notAsSent: 'amber',
  elsewhere: undefined,
  unchecked: 'grey',
  asSent: undefined,
};

/** What is known at a glance: how bad it is, how sure that is, and what was decided about it. */
function factsOf(shown: ShownFinding, [tried]: readonly Confirmation[]): ReportContent['facts'] {
  const t = vscode.l10n.t;
  const { severity, severityText, cwes, cvss, feature, perspective, shortfall } = shown.finding;
  const { state, at, note } = shown.triage;
  const rating = severityLabel(severity);
  const weaknesses = cwes.length === 0 ? [] : [{ label: 'CWE', value: '', cwes: [...cwes] }];
  return [
    ...said([
      [
        t('Severity'),
        severityText === undefined ? rating : t('{0} (written as “{1}”)', rating, severityText),
      ],
    ]),
    ...weaknesses,
    ...said([
      [t('Feature'), feature],
      [t('Perspective'), perspective],
      ['URL', requestOf(shown.finding)],
      ['CVSS', [cvss?.score, cvss?.vector].filter((part) => part !== undefined).join(' · ')],
      [t('On the live application'), tried && confirmationLabel(tried)],
      ...standingOf(shown),
      [t('Triage'), at === 0 ? triageLabel(state) : `${triageLabel(state)}, ${formatTime(at)}`],
      [t('Note'), note],
      [t('Shown here'), shortfall && shortfallLabel(shortfall)],
    ]),
  ];
}

/** What speaks for a finding, and how it stands to other runs and to the code as it is now. */
export function standingOf({
  finding,
  places,
  verdict,
  decidedBefore,
  evidence,
}: ShownFinding): readonly Fact[] {
  const t = vscode.l10n.t;
  const quoted = leastOf(evidence);
  return [
    [t('Confidence'), finding.confidence],
    [t('Quoted code'), quoted && evidenceLabel(quoted), quoted && tones[quoted.kind]],
    [t('Compared'), verdict && verdictLabel(verdict)],
    [t('Earlier decision'), decidedBeforeLabel(decidedBefore), 'amber'],
    [t('Code since the scan'), places[0] && driftLabel(places[0])],
  ];
}

function said(facts: readonly Fact[]): ReportContent['facts'] {
  return facts.flatMap(([label, value, tone]) =>
    value === undefined || value === '' ? [] : [{ label, value: visibleLine(value), tone }],
  );
}

/** The texts of the findings file, each a part that is rendered by itself: what a person reads first comes first. */
function partsOf({ run, finding, places, evidence }: ShownFinding): ReportContent['parts'] {
  const t = vscode.l10n.t;
  const origin = said([
    [t('Run'), `${titleOf(run)}, ${formatTime(run.createdAt)}`],
    ['ID', finding.id],
  ]);
  const texts = [
    [t('Description'), visibleText(finding.description)],
    [t('Places'), placesOf(finding.places, places, evidence)],
    [blockLabel('recommendation'), visibleText(finding.recommendation)],
    ...finding.blocks.map(({ kind, text }) => [blockLabel(kind), visibleText(text)] as const),
    [t('Origin'), origin.map(({ label, value }) => `- ${label}: ${escapeMarkdown(value)}`).join('\n')],
  ] as const;
  return texts.flatMap(([heading, markdown]) => (markdown.trim() === '' ? [] : [{ heading, markdown }]));
}

function placesOf(
  reported: readonly Place[],
  places: readonly ShownPlace[],
  evidence: ShownFinding['evidence'] = [],
): string {
  const items = reported.slice(0, maxPlaces).map((each, at) => {
    const here = places.find((place) => place.reported === each);
    const text = here === undefined ? reportedLabel(each) : placeLabel(here);
    const notes = [
      each.label === undefined ? undefined : clip(visibleLine(each.label), 500),
      here === undefined ? vscode.l10n.t('not in this workspace') : driftLabel(here),
      evidence[at] && evidenceLabel(evidence[at]),
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
  if (reported.length > maxPlaces) items.push(`- … (${String(reported.length - maxPlaces)})`);
  return items.join('\n');
}

function placeLabel({ path, startLine, drift }: ShownPlace): string {
  return startLine === undefined || drift === 'gone'
    ? visibleLine(path)
    : `${visibleLine(path)}:${String(startLine)}`;
}

function reportedLabel({ path, startLine }: Place): string {
  return startLine === undefined ? visibleLine(path) : `${visibleLine(path)}:${String(startLine)}`;
}

/** The file's extension, where it can name a language. */
function languageOf(path: string): string {
  return /^\.(\w{1,15})$/.exec(extname(path))?.[1] ?? '';
}

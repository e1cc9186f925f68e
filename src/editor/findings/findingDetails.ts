import * as vscode from 'vscode';
import { hasFindings } from '../../core/findings/chooseRun.ts';
import type { Confirmation } from '../../core/findings/confirmation.ts';
import type { FindingStore } from '../../core/findings/findingStore.ts';
import type { Details, Finding } from '../../core/findings/finding.ts';
import { type Evidence, leastOf } from '../../core/findings/location/evidence.ts';
import {
  locationLinks,
  addressOf,
  escapeMarkdown,
  quoteOf,
  requestOf,
} from '../../core/findings/view/findingMarkdown.ts';
import {
  type DetailedFinding,
  localLocationOf,
  type ShownFinding,
  type ShownLocation,
} from '../../core/findings/shownFinding.ts';
import { codeSpan, clip, toVisibleJson, visibleLine, visibleText } from '../../core/visibleText.ts';
import { isSamePath } from '../../core/paths.ts';
import type { ReportContent } from '../../core/report/protocol.ts';
import { artifactPath, type Run } from '../../core/run/state/run.ts';
import { confirmationLabel } from '../blackbox/confirmLive.ts';
import { openDocument } from '../folders.ts';
import { formatList, formatTime } from '../formats.ts';
import {
  blockLabel,
  decidedBeforeLabel,
  driftLabel,
  locationStateLabel,
  evidenceLabel,
  severityLabel,
  shortfallLabel,
  titleOfFinding,
  decisionLabel,
  verdictLabel,
} from '../findingLabels.ts';
import { DocumentPanels, type PanelDeps, type PanelDocument } from '../report/documentPanels.ts';
import { pickRun } from '../runs/pickRun.ts';
import { currentLocationOf, revealLocation } from './code/goToFinding.ts';
import { type FindingStores, findInRun } from './findingArguments.ts';
import { titleOf } from '../runs/runLabels.ts';

const t = vscode.l10n.t;

const maxLocations = 200;

export function registerFindingDetails(deps: PanelDeps & FindingStores): DocumentPanels<ShownFinding> {
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
      const [runId = '', name = ''] = id.split(' ');
      return findings.find(runId, name);
    },
    toDocument: (shown) => toDetails(shown, findings),
    onDidChange: (refresh) => {
      const confirmations = runs.onDidChange((changed) => {
        if (changed.some(({ confirms }) => confirms !== undefined)) refresh();
      });
      const changes = findings.onDidChange(() => refresh());
      return vscode.Disposable.from(confirmations, changes);
    },
  });
}

export function toDetails(shown: ShownFinding, findings: FindingStore): PanelDocument {
  const { run, finding } = shown;
  const current = (): ShownFinding => findings.find(run.id, shown.name) ?? shown;
  let linked = shown;
  /**
   * Details are kept: edits of files change only locations, and the details of a removed run can't
   * be read again.
   */
  let read: { readonly of: Finding; readonly details: Details } | undefined;
  return {
    id: `${run.id} ${shown.name}`,
    title: clip(titleOfFinding(finding), 60),
    load: async () => {
      linked = findings.find(run.id, linked.name) ?? linked;
      const [{ details }] = read?.of === linked.finding ? [read] : await findings.withDetails([linked]);
      read = { of: linked.finding, details };
      return toContent({ ...linked, details }, await findings.confirmationsOf(linked));
    },
    openLocation: async (index) => {
      const location = linked.locations[index];
      if (location === undefined) return;
      const now = currentLocationOf(location, linked, current());
      await revealLocation(now, columnOf(now));
    },
  };
}

function columnOf({ file }: ShownLocation): vscode.ViewColumn {
  const seen = vscode.window.visibleTextEditors.find(({ document }) => isSamePath(document.uri.fsPath, file));
  return seen?.viewColumn ?? vscode.ViewColumn.One;
}

function toContent(shown: DetailedFinding, confirmations: readonly Confirmation[]): ReportContent {
  const locations = shown.locations.slice(0, maxLocations);
  const links = [
    ...locations.map((_, index) => ({ index, label: locationAddress(index) })),
    ...[...locationLinks([{ locations }])].map(([label, location]) => ({
      index: locations.indexOf(location),
      label,
    })),
  ];
  return {
    parts: partsOf(shown),
    title: titleOfFinding(shown.finding),
    facts: factsOf(shown, confirmations),
    severities: [],
    locations: links,
    language: shown.run.language === 'japanese' ? 'ja' : 'en',
  };
}

/** The address is an index, because two entries could have the same `path:line`. */
function locationAddress(index: number): string {
  return `#location-${String(index)}`;
}

type Fact = readonly [label: string, value: string | undefined, tone?: Tone];
type Tone = ReportContent['facts'][number]['tone'];

const tones: Readonly<Record<Evidence['kind'], Tone>> = {
  quoteNotFound: 'amber',
  unchecked: 'grey',
  quoteFound: undefined,
};

function factsOf(shown: DetailedFinding, [lastTest]: readonly Confirmation[]): ReportContent['facts'] {
  const { severity, severityText, cwes, cvss, feature, perspective, shortfall } = shown.finding;
  const { at, note } = shown.triage;
  const rating = severityLabel(severity);
  const rated = severityText === undefined ? rating : t('{0} (written as “{1}”)', rating, severityText);
  return [
    ...knownFacts([[t('Severity'), rated]]),
    ...(cwes.length === 0 ? [] : [{ label: 'CWE', value: '', cwes: [...cwes] }]),
    ...knownFacts([
      [t('Feature'), feature],
      [t('Perspective'), perspective],
      ['URL', requestOf(shown.finding)],
      ['CVSS', [cvss?.score, cvss?.vector].filter((part) => part !== undefined).join(' · ')],
      [t('On the live application'), lastTest && confirmationLabel(lastTest)],
      ...standingOf(shown),
      [t('Triage'), decisionLabel(shown.triage)],
      [t('Decided'), at === 0 ? undefined : formatTime(at)],
      [t('Note'), note],
      [t('Owner'), shown.owners === 'unknown' ? t('unknown') : shown.owners && formatList(shown.owners)],
      [t('Shown here'), shortfall && shortfallLabel(shortfall)],
    ]),
  ];
}

export function standingOf(shown: DetailedFinding): readonly Fact[] {
  const { details, locations, verdict, decidedBefore, evidence } = shown;
  const quoted = leastOf(evidence);
  return [
    [t('Confidence'), details.confidence],
    [t('Quoted code'), quoted && evidenceLabel(quoted), quoted && tones[quoted.kind]],
    [t('Compared with earlier runs'), verdict && verdictLabel(verdict)],
    [t('Earlier decision'), decidedBeforeLabel(decidedBefore), 'amber'],
    [t('Code since the assessment'), locations[0] && driftLabel(locations[0])],
  ];
}

function knownFacts(facts: readonly Fact[]): ReportContent['facts'] {
  return facts.flatMap(([label, value, tone]) =>
    value === undefined || value === '' ? [] : [{ label, value: visibleLine(value), tone }],
  );
}

function partsOf(shown: DetailedFinding): ReportContent['parts'] {
  const { run, finding, details } = shown;
  const origin = knownFacts([
    [t('Run'), `${titleOf(run)}, ${formatTime(run.createdAt)}`],
    ['ID', finding.id],
  ]);
  const texts = [
    [t('Description'), visibleText(details.description)],
    [t('Locations'), locationsOf(shown)],
    [blockLabel('recommendation'), visibleText(details.recommendation)],
    ...details.blocks.map(({ kind, text }) => [blockLabel(kind), visibleText(text)] as const),
    [t('Origin'), origin.map(({ label, value }) => `- ${label}: ${escapeMarkdown(value)}`).join('\n')],
  ] as const;
  return texts.flatMap(([heading, markdown]) => (markdown.trim() === '' ? [] : [{ heading, markdown }]));
}

function locationsOf(shown: DetailedFinding): string {
  const { locations, evidence, details } = shown;
  const reported = details.locations;
  const items = reported.slice(0, maxLocations).map((quoted, index) => {
    const location = shown.finding.locations[index] ?? quoted;
    const here = localLocationOf(location, shown);
    const notes = [
      location.label === undefined ? undefined : clip(visibleLine(location.label), 500),
      locationStateLabel(location, shown),
      evidence?.[index] && evidenceLabel(evidence[index]),
    ].map((note = '') => (note === '' ? '' : ` – ${escapeMarkdown(note)}`));
    const address = codeSpan(addressOf(location, shown));
    const entry = here === undefined ? address : `[${address}](${locationAddress(locations.indexOf(here))})`;
    return `- ${entry}${notes.join('')}\n${quoteOf(quoted).replaceAll(/^(?=.)/gm, '  ')}`;
  });
  if (reported.length > maxLocations) items.push(`- … (${String(reported.length - maxLocations)})`);
  return items.join('\n');
}

const scheme = 'whitebox-finding';

export function provideFindingJson({ findings, runs }: FindingStores): vscode.Disposable {
  return vscode.workspace.registerTextDocumentContentProvider(scheme, {
    provideTextDocumentContent: async ({ path }) => {
      const [, runId = '', name = ''] = path.split('/');
      const run = runs.get(runId);
      const shown = run === undefined ? undefined : await findInRun(run, name, findings);
      if (shown === undefined) return undefined;
      const item = await findings.itemOf(shown);
      const json = item && toVisibleJson(item);
      const why = t(
        'This finding can’t be shown by itself. It is too long or too deeply nested, or its findings file was replaced. To see the file, use “Open Findings File” on the run.',
      );
      return `${json ?? `// ${why}`}\n`;
    },
  });
}

export async function showFindingJson({ run, finding, name }: ShownFinding): Promise<void> {
  const fileName = `${finding.id.replaceAll(/[/\\]/g, '_')}.json`;
  const uri = vscode.Uri.from({ scheme, path: `/${run.id}/${name}/${fileName}` });
  const document = await openDocument(uri);
  await vscode.languages.setTextDocumentLanguage(document, 'json');
  await vscode.window.showTextDocument(document, { preview: true });
}

export async function openFindingsFile(run: Run, { runs }: Pick<FindingStores, 'runs'>): Promise<void> {
  const file = vscode.Uri.file(artifactPath(run, 'findings', runs.folderOf(run.id)));
  await vscode.commands.executeCommand('vscode.open', file);
}

export function pickUnreadRun({ runs, findings }: FindingStores): Promise<Run | undefined> {
  const unread = findings.shownRuns().flatMap(({ run, failure }) => (failure === undefined ? [] : [run]));
  const all = runs.all().filter(hasFindings);
  return pickRun(unread.length > 0 ? unread : all, t('Open Findings File'));
}

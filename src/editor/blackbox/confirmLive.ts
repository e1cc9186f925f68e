import * as vscode from 'vscode';
import { readFeatures } from '../../core/features/features.ts';
import {
  type Confirmation,
  confirmLimits,
  type LiveResult,
  toConfirmInput,
} from '../../core/findings/confirmation.ts';
import type { FindingStore } from '../../core/findings/findingStore.ts';
import type { ShownFinding } from '../../core/findings/shownFinding.ts';
import { requestOf } from '../../core/findings/view/findingMarkdown.ts';
import { continuationsOf } from '../../core/features/continuedRuns.ts';
import { maxLabelLength, type Run } from '../../core/run/state/run.ts';
import { clip, visibleLine } from '../../core/visibleText.ts';
import type { ApplicationInput } from '../../core/workflows/blackboxInput.ts';
import { perspectiveOf, perspectives } from '../../core/workflows/perspectives.ts';
import { findInRun } from '../findings/findingArguments.ts';
import { subjectLabel } from '../findings/triage.ts';
import { compact, formatNumber, formatTime } from '../formats.ts';
import { titleOfFinding } from '../findingLabels.ts';
import type { DocumentPanels } from '../report/documentPanels.ts';
import { pickRun } from '../runs/pickRun.ts';
import { pairStateLabel } from './featureItems.ts';
import { type BlackboxDeps, startBlackbox, inheritedFrom } from './startBlackbox.ts';
import { showInformation } from '../showMessage.ts';

const t = vscode.l10n.t;

export type ConfirmDeps = BlackboxDeps & {
  readonly findings: FindingStore;
  readonly details: Pick<DocumentPanels<ShownFinding>, 'open'>;
};

export async function confirmLive(shown: ShownFinding, deps: ConfirmDeps): Promise<void> {
  const [last] = await deps.findings.confirmationsOf(shown);
  if (last === undefined) await testNewPair(shown, deps);
  else await pickNextStep(shown, last, deps);
}

export function confirmationLabel({ run, feature, perspective, result }: Confirmation): string {
  const pair = `${visibleLine(feature)} · ${perspective}`;
  return t('{0} ({1}, {2})', resultLabel(result), pair, formatTime(run.createdAt));
}

function resultLabel(result: LiveResult): string {
  return {
    pending: t('test in progress'),
    found: t('live finding in this pair; to say whether it’s the same, choose “Confirm Live…”'),
    same: t('live finding in this pair; you marked it as the same'),
    other: t('live finding in this pair; you marked it as a different one'),
    nothing: t('nothing found in this pair'),
    notApplicable: pairStateLabel('notApplicable'),
    notTested: pairStateLabel('notTested'),
    unknown: pairStateLabel('unknown'),
  }[result];
}

async function pickNextStep(shown: ShownFinding, last: Confirmation, deps: ConfirmDeps): Promise<void> {
  const { run, found, result } = last;
  const { input } = run;
  const answer = (isSame: boolean) => () => deps.tracker.answerIsSame(run.id, isSame);
  const items = compact<{ label: string; description?: string; act: () => Promise<unknown> }>(
    ...found.map(({ finding, name }) => ({
      label: t('Show the Live Finding: {0}', titleOfFinding(finding)),
      description: requestOf(finding),
      act: async () => {
        const live = await findInRun(run, name, deps.findings);
        if (live !== undefined) deps.details.open(live);
      },
    })),
    found.length > 0 && { label: t('It’s the Same Finding'), act: answer(true) },
    found.length > 0 && { label: t('It’s a Different Finding'), act: answer(false) },
    input !== undefined &&
      result !== 'pending' && {
        label: t('Test Same Pair Again…'),
        act: () => start(shown, run, input, deps),
      },
    { label: t('Test Another Pair…'), act: () => testNewPair(shown, deps) },
  );
  const title = t('Confirm Live: {0}', subjectLabel([shown]));
  const picked = await vscode.window.showQuickPick(items, { title, placeHolder: confirmationLabel(last) });
  await picked?.act();
}

async function testNewPair(shown: ShownFinding, deps: ConfirmDeps): Promise<void> {
  // A run that was started elsewhere has no input to repeat.
  const isUsable = (run: Run): boolean =>
    continuationsOf(run).get('assessPairs') === true && run.input !== undefined && run.confirms === undefined;
  const runs = deps.runs.all().filter(isUsable);
  if (runs.length === 0) {
    const none = t('No run started on this machine has features to choose from. Start a crawl first.');
    const crawl = { title: t('Start Crawl…'), command: 'whitebox.startCrawl' };
    await showInformation(none, crawl);
    return;
  }
  const run = await pickRun(runs, t('Confirm Live: Features of Which Run?'));
  if (run === undefined) return;
  const feature = await pickFeature(run, deps);
  if (feature === undefined) return;
  const perspective = await pickPerspective(shown);
  const input = perspective && toConfirmInput(run, feature, perspective);
  if (input !== undefined) await start(shown, run, input, deps);
}

async function pickFeature(run: Run, { runs, parseWorkerFile }: ConfirmDeps): Promise<string | undefined> {
  const { features } = await readFeatures(run, runs.folderOf(run.id), parseWorkerFile);
  const items = features.map(({ name, method, url, description = '' }) => ({
    label: visibleLine(name),
    description: visibleLine(requestOf({ method, url })),
    detail: visibleLine(description),
    name,
  }));
  const picked = await vscode.window.showQuickPick(items, {
    title: t('Confirm Live: Which Feature Runs the Code?'),
    matchOnDescription: true,
    matchOnDetail: true,
  });
  return picked?.name;
}

async function pickPerspective({ finding }: ShownFinding) {
  const proposed = perspectiveOf(finding.cwes);
  const items = perspectives.map((perspective) => ({
    label: perspective,
    description: perspective === proposed ? t('suggested from the CWE') : '',
    perspective,
  }));
  items.sort((a, b) => Number(b.perspective === proposed) - Number(a.perspective === proposed));
  const title = t('Confirm Live: Which Perspective?');
  return (await vscode.window.showQuickPick(items, { title }))?.perspective;
}

async function start(
  { name, finding }: ShownFinding,
  run: Run,
  input: ApplicationInput,
  deps: ConfirmDeps,
): Promise<void> {
  const [pair] = input.pairs ?? [];
  const remarks = [
    t(
      'One pair is tested: {0} · {1}. This can spend up to {2} credits for testing and {3} for crawling.',
      clip(visibleLine(pair?.feature_name ?? ''), 200),
      pair?.perspective ?? '',
      formatNumber(confirmLimits.scan),
      formatNumber(confirmLimits.crawl),
    ),
    t(
      'Does the deployment run this code, including the change that you want to test? VS Code doesn’t tell the service which finding the run is for.',
    ),
  ];
  const about = { confirms: name, label: clip(titleOfFinding(finding), maxLabelLength) };
  const plan = { ...inheritedFrom(run), workflow: 'blackbox-assessment' as const, input, ...about, remarks };
  await startBlackbox(() => Promise.resolve(plan), deps);
}

import * as vscode from 'vscode';
import type { FindingStore } from '../../core/findings/findingStore.ts';
import { isDisplayed } from '../../core/findings/view/filter.ts';
import type { Clock } from '../../core/ports.ts';
import type { RunStore } from '../../core/run/disk/runStore.ts';
import type { RunTracker } from '../../core/run/runTracker.ts';
import { mayStopWatching, needsDecision } from '../../core/run/state/deadlines.ts';
import { elapsedMs, isFinal, isLive, isUnsent, needsToken, type Run } from '../../core/run/state/run.ts';
import type { Accounts } from '../account/accounts.ts';
import { describeFailure } from '../errors/messages.ts';
import { countFindings, formatAccount, formatDuration, formatNumber, formatTime } from '../formats.ts';
import { attentionLabel, hasArtifact, runTitle, stateLabel } from '../labels.ts';
import { readDisplaySettings } from '../settings.ts';
import { focusView } from '../../lazyView.ts';
import { toRunNode } from './pickRun.ts';
import { renderRuns } from './runsView.ts';

const t = vscode.l10n.t;

/** Shows in the status item a run that needs attention, else an unfinished run with its elapsed time, else the number of findings. */
export function showStatus(
  item: vscode.StatusBarItem,
  {
    runs,
    findings,
    tracker,
    clock,
  }: {
    runs: RunStore;
    findings: FindingStore;
    tracker: Pick<RunTracker, 'nextCheckAt'>;
    clock: Clock;
  },
): vscode.Disposable {
  let count = 0;
  const render = (): void => {
    if (findings.isComplete()) count = countDisplayed(findings);
    const active = runs.all().filter((run) => !isFinal(run));
    const { text, tooltip, label } =
      activeStatus(active, clock.now(), (run) => tracker.nextCheckAt(run.id)) ?? idleStatus(count);
    item.text = text;
    item.tooltip = new vscode.MarkdownString(tooltip);
    item.accessibilityInformation = { label };
  };
  return vscode.Disposable.from(
    renderRuns(runs, render),
    findings.onDidChange(render),
    vscode.workspace.onDidChangeConfiguration((change) => {
      if (change.affectsConfiguration('whitebox.findings')) render();
    }),
  );
}

function countDisplayed(findings: FindingStore): number {
  const display = readDisplaySettings();
  return findings.all().filter((shown) => isDisplayed(shown, display)).length;
}

interface Status {
  readonly text: string;
  readonly tooltip: string;
  readonly label: string;
}

function idleStatus(count: number): Status {
  return {
    text: count === 0 ? '$(shield)' : `$(shield) ${formatNumber(count)}`,
    tooltip:
      count === 0
        ? t('Whitebox Assessment: no run in progress')
        : t('Whitebox Assessment: findings shown: {0}', count),
    label: t('Whitebox Assessment: no run in progress, findings shown: {0}', count),
  };
}

function activeStatus(
  active: readonly Run[],
  now: number,
  nextCheckAt: (run: Run) => number | undefined,
): Status | undefined {
  const waiting =
    active.find((run) => needsDecision(run, now)) ??
    active.find((run) => isLive(run) && run.trouble !== undefined);
  const run = waiting ?? active[0];
  if (run === undefined) return undefined;
  const duration = formatDuration(elapsedMs(run, now));
  const text = isLive(run) ? `$(sync~spin) Whitebox ${duration}` : '$(sync~spin) Whitebox';
  const attention = attentionLabel(run, now);
  const state = attention === undefined ? stateLabel(run) : `${stateLabel(run)}, ${attention}`;
  return {
    text: waiting === undefined ? text : '$(warning) Whitebox',
    tooltip: active.map((each) => tooltipOf(each, now, nextCheckAt(each))).join('\n\n'),
    label: t('Whitebox Assessment: {0}, {1}, for {2}', runTitle(run), state, duration),
  };
}

function tooltipOf(run: Run, now: number, nextCheckAt: number | undefined): string {
  const lines = [`${runTitle(run)}: ${stateLabel(run)}, ${formatDuration(elapsedMs(run, now))}`];
  if (run.state === 'unknown')
    lines.push(t('The response to the start request was lost. Decide how to continue.'));
  if (isLive(run)) {
    if (run.trouble !== undefined) lines.push(describeFailure(run.trouble, run).message);
    if ('lastAnswerAt' in run && run.lastAnswerAt !== undefined)
      lines.push(t('Last response: {0}', formatTime(run.lastAnswerAt)));
    if (nextCheckAt !== undefined) lines.push(t('Next check: {0}', formatTime(nextCheckAt)));
  }
  return lines.map((line) => line.replace(/[\\`*_{}[\]()#+\-.!<>|]/g, '\\$&')).join('  \n');
}

export async function showMenu({
  accounts,
  runs,
  findings,
  clock,
}: {
  accounts: Accounts;
  runs: RunStore;
  findings: FindingStore;
  clock: Clock;
}): Promise<void> {
  const all = runs.all();
  const signedIn = await accounts.isSignedIn();
  const trusted = vscode.workspace.isTrusted;
  const waiting = all.find(needsToken);
  const [newest] = all;
  const retried = newest !== undefined && isUnsent(newest) ? toRunNode(newest) : undefined;
  const entries = [
    {
      label: `$(sign-in) ${t('Sign In…')}`,
      ...(waiting && { description: formatAccount(waiting), node: toRunNode(waiting) }),
      command: waiting === undefined ? 'whitebox.signIn' : 'whitebox.signInForRun',
      when: trusted && (!signedIn || waiting !== undefined),
    },
    {
      label: `$(warning) ${t('Resolve Unconfirmed Start…')}`,
      command: 'whitebox.resendDispatch',
      when: trusted && all.some(({ state }) => state === 'unknown'),
    },
    {
      label: `$(debug-rerun) ${newest?.workflow === 'whitebox-assessment' ? t('Retry Upload') : t('Start Again…')}`,
      command: 'whitebox.retryUpload',
      node: retried,
      when: trusted && retried !== undefined,
    },
    {
      label: `$(refresh) ${t('Check Run Status Now')}`,
      command: 'whitebox.refreshRuns',
      when: trusted && all.some(isLive),
    },
    {
      label: `$(circle-slash) ${t('Cancel Run…')}`,
      command: 'whitebox.cancelRun',
      when: trusted && all.some(({ state }) => state === 'running'),
    },
    {
      label: `$(eye-closed) ${t('Stop Watching')}`,
      command: 'whitebox.stopWatching',
      when: trusted && all.some((run) => mayStopWatching(run, clock.now())),
    },
    {
      label: `$(list-tree) ${t('Show Findings')}`,
      description: countFindings(countDisplayed(findings)),
      view: 'findings' as const,
      when: findings.all().length > 0,
    },
    {
      label: `$(markdown) ${t('Open Report')}`,
      command: 'whitebox.openReport',
      when: all.some((run) => hasArtifact(run, 'report')),
    },
    {
      label: `$(shield) ${t('Start Assessment…')}`,
      command: 'whitebox.startAssessment',
      when: signedIn && trusted,
    },
    { label: `$(history) ${t('Show Runs')}`, view: 'runs' as const, when: all.length > 0 },
    { label: `$(output) ${t('Show Log')}`, command: 'whitebox.showLog', when: true },
  ];
  const picked = await vscode.window.showQuickPick(
    entries.filter(({ when }) => when),
    { title: t('Whitebox Assessment') },
  );
  if (picked?.view !== undefined) await focusView(picked.view);
  else if (picked !== undefined) await vscode.commands.executeCommand(picked.command, picked.node);
}

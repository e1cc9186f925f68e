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

/** Keeps the status item up to date: a run that needs a decision, else the run under way with its elapsed time, else the number of findings. */
export function showStatus(
  item: vscode.StatusBarItem,
  deps: {
    runs: RunStore;
    findings: FindingStore;
    tracker: Pick<RunTracker, 'nextCheckAt'>;
    clock: Clock;
  },
): vscode.Disposable {
  let count = 0;
  const render = (): void => {
    if (deps.findings.isComplete()) count = countDisplayed(deps.findings);
    const now = deps.clock.now();
    const active = deps.runs.all().filter((run) => !isFinal(run));
    const waiting =
      active.find((run) => needsDecision(run, now)) ??
      active.find((run) => isLive(run) && run.trouble !== undefined);
    const run = waiting ?? active[0];
    const { text, tooltip, label } =
      run === undefined
        ? idleStatus(count)
        : {
            text: waiting === undefined ? activeText(run, now) : '$(warning) Whitebox',
            tooltip: active
              .map((each) => tooltipOf(each, now, deps.tracker.nextCheckAt(each.id)))
              .join('\n\n'),
            label: activeLabel(run, now),
          };
    item.text = text;
    item.tooltip = new vscode.MarkdownString(tooltip);
    item.accessibilityInformation = { label };
  };
  return vscode.Disposable.from(
    renderRuns(deps.runs, render),
    deps.findings.onDidChange(render),
    vscode.workspace.onDidChangeConfiguration((change) => {
      if (change.affectsConfiguration('whitebox.findings')) render();
    }),
  );
}

function countDisplayed(findings: FindingStore): number {
  const display = readDisplaySettings();
  return findings.all().filter((shown) => isDisplayed(shown, display)).length;
}

function idleStatus(count: number): { text: string; tooltip: string; label: string } {
  const t = vscode.l10n.t;
  return {
    text: count === 0 ? '$(shield)' : `$(shield) ${formatNumber(count)}`,
    tooltip:
      count === 0
        ? t('Whitebox Assessment: no run in progress')
        : t('Whitebox Assessment: findings shown: {0}', count),
    label: t('Whitebox Assessment: no run in progress, findings shown: {0}', count),
  };
}

function activeText(run: Run, now: number): string {
  return isLive(run)
    ? `$(sync~spin) Whitebox ${formatDuration(elapsedMs(run, now))}`
    : '$(sync~spin) Whitebox';
}

function activeLabel(run: Run, now: number): string {
  return vscode.l10n.t(
    'Whitebox Assessment: {0}, {1}, for {2}',
    runTitle(run),
    [stateLabel(run), attentionLabel(run, now)].filter((part) => part !== undefined).join(', '),
    formatDuration(elapsedMs(run, now)),
  );
}

function tooltipOf(run: Run, now: number, nextCheckAt: number | undefined): string {
  const t = vscode.l10n.t;
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

/** The quick pick behind the status item: only the commands that apply now. */
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
  const t = vscode.l10n.t;
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

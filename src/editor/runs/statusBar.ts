import * as vscode from 'vscode';
import type { FindingStore } from '../../core/findings/findingStore.ts';
import { isDisplayed } from '../../core/findings/view/filter.ts';
import type { Clock } from '../../core/ports.ts';
import type { RunStore } from '../../core/run/disk/runStore.ts';
import {
  isTroubleWarning,
  mayStopWatching,
  needsDecision,
  needsToken,
} from '../../core/run/state/trouble.ts';
import { elapsedMs, isFinal, isLive, isUnsent, type Run } from '../../core/run/state/run.ts';
import type { Accounts } from '../account/accounts.ts';
import { describeUnavailable } from '../errors/errorMessages.ts';
import { compact, countFindings, formatAccount, formatDuration, formatNumber } from '../formats.ts';
import { attentionLabel, hasArtifact, runTitle, runStateLabel } from './runLabels.ts';
import { readDisplaySettings } from '../settings.ts';
import { focusView } from '../../lazyView.ts';
import { toRunNode } from './pickRun.ts';
import { renderRuns } from './runsView.ts';
import { type StatusDeps, statusLines } from './runStatus.ts';

const t = vscode.l10n.t;

export function showStatus(
  item: vscode.StatusBarItem,
  deps: StatusDeps & {
    readonly accounts: Pick<Accounts, 'state' | 'onDidChangeState'>;
    readonly findings: FindingStore;
  },
): vscode.Disposable {
  const { accounts, runs, findings } = deps;
  const render = (): void => {
    const active = runs.all().filter((run) => !isFinal(run));
    const { text, tooltip, label } = activeStatus(active, deps) ?? idleStatus(countDisplayed(findings));
    const isSaid = active.some((run) => isLive(run) && run.trouble?.kind === 'secretStorage');
    const notes = accounts.state === 'unavailable' && !isSaid ? [describeUnavailable()] : [];
    item.text = text;
    item.tooltip = new vscode.MarkdownString([tooltip, ...notes.map(plainMarkdown)].join('\n\n'));
    item.accessibilityInformation = { label: [label, ...notes].join(', ') };
  };
  return vscode.Disposable.from(
    renderRuns(runs, render),
    accounts.onDidChangeState(render),
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

function idleStatus(count: number) {
  return {
    text: count === 0 ? '$(shield)' : `$(shield) ${formatNumber(count)}`,
    tooltip:
      count === 0
        ? t('Whitebox Assessment: no run in progress')
        : t('Whitebox Assessment: findings shown: {0}', count),
    label: t('Whitebox Assessment: no run in progress, findings shown: {0}', count),
  };
}

function activeStatus(active: readonly Run[], deps: StatusDeps) {
  const now = deps.clock.now();
  const waiting =
    active.find((run) => needsDecision(run, now)) ?? active.find((run) => isTroubleWarning(run, now));
  const run = waiting ?? active[0];
  if (run === undefined) return undefined;
  const duration = formatDuration(elapsedMs(run, now));
  const text = isLive(run) ? `$(sync~spin) Whitebox ${duration}` : '$(sync~spin) Whitebox';
  const attention = attentionLabel(run, now);
  const state = attention === undefined ? runStateLabel(run) : `${runStateLabel(run)}, ${attention}`;
  return {
    text: waiting === undefined ? text : '$(warning) Whitebox',
    tooltip: active.map((unfinished) => tooltipOf(unfinished, deps)).join('\n\n'),
    label: t('Whitebox Assessment: {0}, {1}, for {2}', runTitle(run), state, duration),
  };
}

function tooltipOf(run: Run, deps: StatusDeps): string {
  return statusLines(run, deps).map(plainMarkdown).join('  \n');
}

function plainMarkdown(line: string): string {
  return line.replace(/[\\`*_{}[\]()#+\-.!<>|]/g, '\\$&');
}

interface MenuDeps {
  readonly accounts: Pick<Accounts, 'state'>;
  readonly runs: RunStore;
  readonly findings: FindingStore;
  readonly clock: Clock;
}

export async function showMenu({ accounts, runs, findings, clock }: MenuDeps): Promise<void> {
  const all = runs.all();
  // This is the last known state, because the menu does not wait for the secret storage.
  const isSignedOut = accounts.state === 'signedOut';
  const { isTrusted } = vscode.workspace;
  const waiting = all.find(needsToken);
  const unsent = all.slice(0, 1).find(isUnsent);
  const retry = unsent?.workflow === 'whitebox-assessment' ? t('Retry Upload…') : t('Start Again…');
  const needsSignIn = waiting !== undefined || isSignedOut;
  const account = waiting && formatAccount(waiting);
  const exec = (id: string, run?: Run) => () => vscode.commands.executeCommand(id, run && toRunNode(run));
  const signIn = waiting === undefined ? exec('whitebox.signIn') : exec('whitebox.signInForRun', waiting);
  const resend = exec('whitebox.resendDispatch');
  const states = new Set(all.map(({ state }) => state));
  const canStop = all.some((run) => mayStopWatching(run, clock.now()));
  const hasReport = all.some((run) => hasArtifact(run, 'report'));
  const count = countFindings(countDisplayed(findings));
  const row = (icon: string, title: string, act: () => unknown, description = '') => ({
    label: `$(${icon}) ${title}`,
    description,
    act,
  });
  const items = compact(
    isTrusted && needsSignIn && row('sign-in', t('Sign In…'), signIn, account),
    isTrusted && states.has('unknown') && row('warning', t('Resolve Unconfirmed Start…'), resend),
    isTrusted && unsent && row('debug-rerun', retry, exec('whitebox.retryUpload', unsent)),
    isTrusted && all.some(isLive) && row('refresh', t('Check Run Status Now'), exec('whitebox.refreshRuns')),
    isTrusted && states.has('running') && row('circle-slash', t('Cancel Run…'), exec('whitebox.cancelRun')),
    isTrusted && canStop && row('eye-closed', t('Stop Watching'), exec('whitebox.stopWatching')),
    findings.all().length > 0 && row('list-tree', t('Show Findings'), () => focusView('findings'), count),
    hasReport && row('markdown', t('Open Report'), exec('whitebox.openReport')),
    isTrusted && !isSignedOut && row('shield', t('Start Assessment…'), exec('whitebox.startAssessment')),
    all.length > 0 && row('history', t('Show Runs'), () => focusView('runs')),
    row('output', t('Show Log'), exec('whitebox.showLog')),
  );
  await (await vscode.window.showQuickPick(items, { title: t('Whitebox Assessment') }))?.act();
}

import * as vscode from 'vscode';
import type { FindingStore } from '../../core/findings/findingStore.ts';
import type { Clock } from '../../core/ports.ts';
import { mayStopWatching } from '../../core/run/state/deadlines.ts';
import { isLive, isUnsent, needsToken, type Run } from '../../core/run/state/run.ts';
import type { RunStore } from '../../core/run/disk/runStore.ts';
import type { Accounts } from '../account/accounts.ts';
import { countFindings, formatAccount } from '../formats.ts';
import { hasArtifact } from '../labels.ts';
import { focusView } from '../../lazyView.ts';
import type { RunsNode } from './runsView.ts';
import { countDisplayed } from './statusBar.ts';

/** What the menu offers something for. */
interface MenuDeps {
  readonly accounts: Accounts;
  readonly runs: RunStore;
  readonly findings: FindingStore;
  readonly clock: Clock;
}

/** What makes sense now, behind a click on the status item. */
export async function showMenu({ accounts, runs, findings, clock }: MenuDeps): Promise<void> {
  const t = vscode.l10n.t;
  const all = runs.all();
  const signedIn = await accounts.isSignedIn();
  const trusted = vscode.workspace.isTrusted;
  const waiting = all.find(needsToken);
  const [newest] = all;
  const nodeOf = ({ id }: Run): RunsNode => ({ kind: 'run', id });
  const retried = newest !== undefined && isUnsent(newest) ? nodeOf(newest) : undefined;
  const entries = [
    {
      label: `$(sign-in) ${t('Sign In…')}`,
      ...(waiting && { description: formatAccount(waiting), node: nodeOf(waiting) }),
      command: waiting === undefined ? 'whitebox.signIn' : 'whitebox.signInForRun',
      when: trusted && (!signedIn || waiting !== undefined),
    },
    {
      label: `$(warning) ${t('Decide About the Unconfirmed Start…')}`,
      command: 'whitebox.resendDispatch',
      when: trusted && all.some(({ state }) => state === 'unknown'),
    },
    {
      label: `$(debug-rerun) ${t('Retry Upload')}`,
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
      when: findings.count() > 0,
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

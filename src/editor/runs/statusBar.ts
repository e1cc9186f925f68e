import * as vscode from 'vscode';
import { isDisplayed } from '../../core/findings/view/display.ts';
import type { FindingStore } from '../../core/findings/findingStore.ts';
import { needsDecision } from '../../core/run/state/deadlines.ts';
import { elapsedMs, isFinal, isLive, type Run, titleOf } from '../../core/run/state/run.ts';
import type { RunStore } from '../../core/run/disk/runStore.ts';
import { attentionLabel } from './attentionLabel.ts';
import { formatDuration, formatNumber, formatTime } from '../formats.ts';
import { stateLabel } from '../labels.ts';
import { describeFailure } from '../errors/messages.ts';
import { renderRuns } from './renderRuns.ts';
import { readDisplaySettings } from '../settings.ts';

/** Keeps the one status item true: idle, a run under way with its elapsed time, findings, or something that needs a person. */
export function showStatus(
  item: vscode.StatusBarItem,
  deps: {
    runs: RunStore;
    findings: FindingStore;
    nextCheckAt: (id: string) => number | undefined;
    now: () => number;
  },
): vscode.Disposable {
  const render = (): void => {
    const runs = deps.runs.all();
    const active = runs.filter((run) => !isFinal(run));
    const waiting =
      active.find((run) => needsDecision(run, deps.now())) ??
      active.find((run) => isLive(run) && run.trouble !== undefined);
    const newest = waiting ?? active[0];
    item.text = textOf(newest, waiting !== undefined, deps);
    item.tooltip = new vscode.MarkdownString(
      active.length === 0 ? idleTooltip(deps) : active.map((run) => tooltipOf(run, deps)).join('\n\n'),
    );
    item.accessibilityInformation = { label: labelOf(newest, deps) };
  };
  return vscode.Disposable.from(
    renderRuns(deps.runs, render),
    deps.findings.onDidChange(render),
    vscode.workspace.onDidChangeConfiguration((change) => {
      if (change.affectsConfiguration('whitebox.findings')) render();
    }),
  );
}

/** How many findings the settings let through. */
export function countDisplayed(findings: FindingStore): number {
  const display = readDisplaySettings();
  return findings.all().filter((shown) => isDisplayed(shown, display)).length;
}

function textOf(
  run: Run | undefined,
  isWarning: boolean,
  deps: { findings: FindingStore; now: () => number },
): string {
  if (run === undefined) {
    const count = countDisplayed(deps.findings);
    return count === 0 ? '$(shield)' : `$(shield) ${formatNumber(count)}`;
  }
  if (isWarning) return '$(warning) Whitebox';
  return isLive(run)
    ? `$(sync~spin) Whitebox ${formatDuration(elapsedMs(run, deps.now()))}`
    : '$(sync~spin) Whitebox';
}

function labelOf(run: Run | undefined, deps: { findings: FindingStore; now: () => number }): string {
  if (run === undefined)
    return vscode.l10n.t(
      'Whitebox Assessment: no run under way, findings shown: {0}',
      countDisplayed(deps.findings),
    );
  return vscode.l10n.t(
    'Whitebox Assessment: {0}, {1}, for {2}',
    titleOf(run),
    [stateLabel(run), attentionLabel(run, deps.now())].filter((part) => part !== undefined).join(', '),
    formatDuration(elapsedMs(run, deps.now())),
  );
}

function idleTooltip(deps: { findings: FindingStore }): string {
  const count = countDisplayed(deps.findings);
  return count === 0
    ? vscode.l10n.t('Whitebox Assessment: no run under way')
    : vscode.l10n.t('Whitebox Assessment: findings shown: {0}', count);
}

function tooltipOf(
  run: Run,
  deps: { nextCheckAt: (id: string) => number | undefined; now: () => number },
): string {
  const t = vscode.l10n.t;
  const lines = [`${titleOf(run)}: ${stateLabel(run)}, ${formatDuration(elapsedMs(run, deps.now()))}`];
  if (run.state === 'unknown') lines.push(t('The answer to the start was lost: a person has to decide.'));
  if (isLive(run)) {
    if (run.trouble !== undefined) lines.push(describeFailure(run.trouble, run).message);
    if ('lastAnswerAt' in run && run.lastAnswerAt !== undefined)
      lines.push(t('Last answer: {0}', formatTime(run.lastAnswerAt)));
    const next = deps.nextCheckAt(run.id);
    if (next !== undefined) lines.push(t('Next check: {0}', formatTime(next)));
  }
  return lines.map((line) => line.replace(/[\\`*_{}[\]()#+\-.!<>|]/g, '\\$&')).join('  \n');
}

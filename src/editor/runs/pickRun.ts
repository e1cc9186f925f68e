import * as vscode from 'vscode';
import type { FindingStore } from '../../core/findings/findingStore.ts';
import { type Run, titleOf } from '../../core/run/state/run.ts';
import type { RunStore } from '../../core/run/disk/runStore.ts';
import { formatTime } from '../formats.ts';
import { commitLabel, hasArtifact, stateLabel } from '../labels.ts';
import { showInformation } from '../showMessage.ts';

/** The only one of some runs, or the one that a person picks; undefined, said as `none` has it, when there is none. */
export async function pickRun(
  candidates: readonly Run[],
  title: string,
  none = vscode.l10n.t('There is no run for which this can be done.'),
): Promise<Run | undefined> {
  if (candidates.length === 0) void showInformation(none);
  if (candidates.length <= 1) return candidates[0];
  const items = candidates.map((run) => ({
    label: run.label ?? titleOf(run),
    description: [
      ...(run.label === undefined ? [] : [titleOf(run)]),
      formatTime(run.createdAt),
      stateLabel(run),
      ...run.targets.flatMap(({ commit }) => (commit === undefined ? [] : [commitLabel(commit)])),
    ].join(' · '),
    run,
  }));
  return (await vscode.window.showQuickPick(items, { title, matchOnDescription: true }))?.run;
}

/** The run with this artifact whose findings are shown; of several, and when none is shown at all, the one that a person picks. */
export function pickShownRun(
  { runs, findings }: { runs: RunStore; findings: FindingStore },
  artifact: 'report' | 'findings',
  title: string,
  none?: string,
): Promise<Run | undefined> {
  const hasIt = (run: Run): boolean => hasArtifact(run, artifact);
  const shown = findings.folders().map(({ run }) => run);
  if (shown.length === 0) return pickRun(runs.all().filter(hasIt), title, none);
  const without = vscode.l10n.t('The findings that are shown came without a report.');
  return pickRun(shown.filter(hasIt), title, artifact === 'report' ? without : none);
}

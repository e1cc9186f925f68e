import * as vscode from 'vscode';
import { AssessmentError } from '../../core/errors.ts';
import type { FindingStore } from '../../core/findings/findingStore.ts';
import type { RunStore } from '../../core/run/disk/runStore.ts';
import type { Run } from '../../core/run/state/run.ts';
import { formatTime } from '../formats.ts';
import { commitLabel, hasArtifact, runTitle, stateLabel } from '../labels.ts';
import { showInformation } from '../showMessage.ts';

/** A run as the argument of a command: its row in the Runs view, or what a notification's button passes. */
export interface RunNode {
  readonly kind: 'run';
  readonly id: string;
}

/** The row above the runs of the same folders; `latestId` is the latest of them that has findings. */
export interface FolderNode {
  readonly kind: 'folder';
  readonly key: string;
  readonly name: string;
  readonly latestId: string | undefined;
}

export function toRunNode({ id }: Pick<Run, 'id'>): RunNode {
  return { kind: 'run', id };
}

/** A command on a run, as a button or a row has it. */
export function onRun(run: Pick<Run, 'id'>, title: string, command: string): vscode.Command {
  return { title, command, arguments: [toRunNode(run)] };
}

/** The run that a command's argument names, if any. Throws `runGone`, so that the command never acts on a different run. */
export function runOf(node: unknown, runs: RunStore): Run | undefined {
  const id = idOf(node);
  if (id === undefined) return undefined;
  const run = runs.get(id);
  if (run === undefined) throw new AssessmentError('runGone');
  return run;
}

/** The run whose trend a row has: a run's own, or a folder's latest. */
export function runOfTrend(node: unknown, runs: RunStore): Run | undefined {
  const candidate = node as RunNode | FolderNode | undefined;
  return candidate?.kind === 'folder' ? runs.get(candidate.latestId ?? '') : runOf(node, runs);
}

/** The runs of the selected rows, else of the clicked one: a menu passes both. */
export function runsOf([clicked, selected]: readonly unknown[], runs: RunStore): readonly Run[] {
  const nodes = Array.isArray(selected) && selected.length > 0 ? (selected as unknown[]) : [clicked];
  return nodes.flatMap((node) => runs.get(idOf(node) ?? '') ?? []);
}

function idOf(node: unknown): string | undefined {
  const candidate = node as RunNode | undefined;
  return candidate?.kind === 'run' ? candidate.id : undefined;
}

/** The only candidate, or the one that a person picks; where there is none, says `none` and gives undefined. */
export async function pickRun(
  candidates: readonly Run[],
  title: string,
  none = vscode.l10n.t('No run is available for this action.'),
): Promise<Run | undefined> {
  if (candidates.length === 0) void showInformation(none);
  if (candidates.length <= 1) return candidates[0];
  const items = candidates.map((run) => ({
    label: runTitle(run),
    description: [
      ...(run.label === undefined ? [] : [run.label]),
      formatTime(run.createdAt),
      stateLabel(run),
      ...run.targets.flatMap(({ commit }) => (commit === undefined ? [] : [commitLabel(commit)])),
    ].join(' · '),
    run,
  }));
  return (await vscode.window.showQuickPick(items, { title, matchOnDescription: true }))?.run;
}

/** The run with this artifact whose findings are shown; a person picks where several are, or where none is shown. */
export function pickShownRun(
  { runs, findings }: { runs: RunStore; findings: FindingStore },
  artifact: 'report' | 'findings',
  title: string,
  none?: string,
): Promise<Run | undefined> {
  const hasIt = (run: Run): boolean => hasArtifact(run, artifact);
  const shown = findings.folders().map(({ run }) => run);
  if (shown.length === 0) return pickRun(runs.all().filter(hasIt), title, none);
  const without = vscode.l10n.t('The findings shown here came without a report.');
  return pickRun(shown.filter(hasIt), title, artifact === 'report' ? without : none);
}

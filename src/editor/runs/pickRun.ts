import * as vscode from 'vscode';
import { AssessmentError } from '../../core/errors.ts';
import type { FindingStore } from '../../core/findings/findingStore.ts';
import type { RunStore } from '../../core/run/disk/runStore.ts';
import type { Run } from '../../core/run/state/run.ts';
import { compact, formatTime } from '../formats.ts';
import { commitLabel, hasArtifact, runTitle, runStateLabel } from './runLabels.ts';
import { showInformation } from '../showMessage.ts';

export interface RunNode {
  readonly kind: 'run';
  readonly id: string;
}

/** `latestId` is the ID of the latest run of these folders that has findings and isn't imported. */
export interface FolderNode {
  readonly kind: 'folder';
  readonly key: string;
  readonly name: string;
  readonly latestId: string | undefined;
}

export function toRunNode({ id }: Pick<Run, 'id'>): RunNode {
  return { kind: 'run', id };
}

export function onRun(run: Pick<Run, 'id'>, title: string, command: string): vscode.Command {
  return { title, command, arguments: [toRunNode(run)] };
}

/** Throws `runGone` if the node's run is gone, so that no command acts on a different run. */
export function runOf(node: unknown, runs: RunStore): Run | undefined {
  const id = idOf(node);
  if (id === undefined) return undefined;
  const run = runs.get(id);
  if (run === undefined) throw new AssessmentError('runGone');
  return run;
}

export function runOfTrend(node: unknown, runs: RunStore): Run | undefined {
  const candidate = node as RunNode | FolderNode | undefined;
  return candidate?.kind === 'folder' ? runs.get(candidate.latestId ?? '') : runOf(node, runs);
}

export function runsOf([clicked, selected]: readonly unknown[], runs: RunStore): readonly Run[] {
  const nodes = Array.isArray(selected) && selected.length > 0 ? (selected as unknown[]) : [clicked];
  return nodes.flatMap((node) => runs.get(idOf(node) ?? '') ?? []);
}

function idOf(node: unknown): string | undefined {
  const candidate = node as RunNode | undefined;
  return candidate?.kind === 'run' ? candidate.id : undefined;
}

export async function pickRun(
  candidates: readonly Run[],
  title: string,
  none = vscode.l10n.t('No run is available for this action.'),
): Promise<Run | undefined> {
  if (candidates.length === 0) void showInformation(none);
  if (candidates.length <= 1) return candidates[0];
  const items = candidates.map((run) => ({
    label: runTitle(run),
    description: compact(
      run.label,
      formatTime(run.createdAt),
      runStateLabel(run),
      ...run.targets.map(({ commit }) => commit && commitLabel(commit)),
    ).join(' · '),
    run,
  }));
  return (await vscode.window.showQuickPick(items, { title, matchOnDescription: true }))?.run;
}

export function pickShownRun(
  { runs, findings }: { runs: RunStore; findings: FindingStore },
  artifact: 'report' | 'findings',
  title: string,
  none?: string,
): Promise<Run | undefined> {
  const shown = findings.shownRuns().map(({ run }) => run);
  const candidates = (shown.length > 0 ? shown : runs.all()).filter((run) => hasArtifact(run, artifact));
  const noReport = vscode.l10n.t('The findings that are shown have no report on this machine.');
  return pickRun(candidates, title, shown.length > 0 && artifact === 'report' ? noReport : none);
}

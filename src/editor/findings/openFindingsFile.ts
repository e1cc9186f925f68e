import { join } from 'node:path';
import * as vscode from 'vscode';
import type { FindingStore } from '../../core/findings/findingStore.ts';
import type { Run } from '../../core/run/state/run.ts';
import type { RunStore } from '../../core/run/disk/runStore.ts';
import { hasArtifact } from '../labels.ts';
import { pickRun } from '../runs/pickRun.ts';

/** Opens the findings file of a run as it came. */
export async function openFindingsFile(run: Run, runs: RunStore): Promise<void> {
  const file = vscode.Uri.file(join(runs.folderOf(run.id), 'findings.json'));
  await vscode.commands.executeCommand('vscode.open', file);
}

/** The run whose findings cannot be read, of those that are shown; else the one with findings that a person picks. */
export function pickUnreadRun({
  runs,
  findings,
}: {
  runs: RunStore;
  findings: FindingStore;
}): Promise<Run | undefined> {
  const unread = findings.folders().flatMap(({ run, failure }) => (failure === undefined ? [] : [run]));
  const all = runs.all().filter((run) => hasArtifact(run, 'findings'));
  return pickRun(unread.length > 0 ? unread : all, vscode.l10n.t('Open Findings File'));
}

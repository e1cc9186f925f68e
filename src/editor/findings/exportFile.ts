import { dirname, join } from 'node:path';
import * as vscode from 'vscode';
import { AssessmentError } from '../../core/errors.ts';
import type { FindingStore } from '../../core/findings/findingStore.ts';
import type { ExportRequest } from '../../core/findings/importExport/exportRun.ts';
import type { ExportTool } from '../../core/findings/importExport/sarif/sarif.ts';
import { makeExport } from '../../core/findings/result/readResult.ts';
import type { ShownRun } from '../../core/findings/shownFinding.ts';
import { isSamePath } from '../../core/paths.ts';
import type { Run, Target } from '../../core/run/state/run.ts';
import { maxTransferMs } from '../../core/yieldingWork.ts';
import { answerAbout } from '../folders.ts';
import { showInformation } from '../showMessage.ts';
import type { FindingStores } from './findingArguments.ts';
import type { Filtering } from './tree/filtering.ts';
import { titleOf } from '../runs/runLabels.ts';

export type ExportFormat = 'sarif' | 'csv' | 'bundle';

export interface ExportDeps extends FindingStores {
  readonly tool: ExportTool;
  readonly filtering: Filtering;
  readonly parseWorkerFile: string;
  readonly secretWorkerFile: string;
}

export function pickExportFile(
  run: Run,
  ending: string,
  { title, filter }: { readonly title: string; readonly filter: string },
  folder?: string,
): Thenable<vscode.Uri | undefined> {
  return vscode.window.showSaveDialog({
    title,
    defaultUri: defaultUri(run, ending, folder),
    filters: { [filter]: [ending.slice(ending.lastIndexOf('.') + 1)] },
  });
}

/** The verdicts are the run's own, even while the Findings view compares it with another run. */
export async function readToExport(run: Run, findings: FindingStore, signal: AbortSignal): Promise<ShownRun> {
  const read = await findings.read(run, signal);
  if (read.failure !== undefined) throw new AssessmentError(read.failure.kind, read.failure);
  return read;
}

/** Proposes a file outside the assessed folder, because the next run would upload a file in it. */
function defaultUri(run: Run, ending: string, only: string | undefined): vscode.Uri {
  const isOpen = ({ folder }: Target): boolean =>
    vscode.workspace.getWorkspaceFolder(vscode.Uri.file(folder)) !== undefined;
  const targets = run.targets.filter(({ folder }) => only === undefined || isSamePath(folder, only));
  const { folder } = targets.find(isOpen) ?? targets[0] ?? { folder: '' };
  const title = titleOf({ targets }).replaceAll(/[\\/:*?"<>|\p{Cc}\p{Cf}\s]+/gu, '-');
  const day = new Date(run.createdAt).toISOString().slice(0, 10);
  return vscode.Uri.file(join(dirname(folder), `${title}-findings-${day}.${ending}`));
}

export async function saveExport(
  to: vscode.Uri,
  exported: Pick<ExportRequest, 'source' | 'form'>,
  { runs, parseWorkerFile, secretWorkerFile, tool }: ExportDeps,
  signal: AbortSignal,
): Promise<number | undefined> {
  const from = { runs, workerFile: parseWorkerFile };
  const request = { ...exported, tool, secretWorkerFile };
  const { content, gzippedBytes } = await makeExport(request, from, signal);
  signal.throwIfAborted();
  await answerAbout(to, vscode.workspace.fs.writeFile(to, content), { signal, maxMs: maxTransferMs });
  return gzippedBytes;
}

export async function offerToOpen(message: string, saved: vscode.Uri, format: ExportFormat): Promise<void> {
  const open = { title: vscode.l10n.t('Open'), command: 'vscode.open', arguments: [saved] };
  const reveal = { ...open, title: vscode.l10n.t('Reveal in File Manager'), command: 'revealFileInOS' };
  const isLocal = vscode.env.uiKind === vscode.UIKind.Desktop && vscode.env.remoteName === undefined;
  await showInformation(message, ...(format === 'bundle' ? [] : [open]), ...(isLocal ? [reveal] : []));
}

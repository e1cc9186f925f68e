import { readFile } from 'node:fs/promises';
import { dirname, join, posix } from 'node:path';
import * as vscode from 'vscode';
import { AssessmentError } from '../../core/errors.ts';
import { type BundleFile, toBundle, zipBundle } from '../../core/findings/importExport/bundle.ts';
import { toCsv } from '../../core/findings/importExport/csv.ts';
import type { FindingStore } from '../../core/findings/findingStore.ts';
import { type ExportTool, toSarif } from '../../core/findings/importExport/sarif/sarif.ts';
import type { ShownRun } from '../../core/findings/shownFinding.ts';
import { readIfThere } from '../../core/files.ts';
import { type Run, type Target, titleOf } from '../../core/run/state/run.ts';
import type { RunStore } from '../../core/run/disk/runStore.ts';
import { countShown } from '../formats.ts';
import { hasArtifact } from '../labels.ts';
import { pickShownRun } from '../runs/pickRun.ts';
import { withProgress } from '../progress.ts';
import { askInDialog, showInformation } from '../showMessage.ts';
import type { FindingStores } from './findingArguments.ts';

/** What a run's findings can be saved as. */
export type ExportFormat = 'sarif' | 'csv' | 'bundle';

/** What exports are made from. */
export interface ExportDeps extends FindingStores {
  readonly tool: ExportTool;
}

/** The extension of a format, the title of its dialog, what the dialog calls its files, and what writes one. */
function formatOf(format: ExportFormat) {
  const t = vscode.l10n.t;
  return {
    sarif: {
      ending: 'sarif',
      title: t('Export Findings as SARIF'),
      filter: 'SARIF',
      write: (source: ShownRun, { tool }: ExportDeps) =>
        Buffer.from(`${JSON.stringify(toSarif(source, tool), undefined, 1)}\n`),
    },
    csv: {
      ending: 'csv',
      title: t('Export Findings as CSV'),
      filter: 'CSV',
      write: (source: ShownRun) => Buffer.from(toCsv(source)),
    },
    bundle: {
      ending: 'zip',
      title: t('Export Offline Bundle'),
      filter: t('Bundle'),
      write: async (source: ShownRun, { runs, tool }: ExportDeps) =>
        zipBundle(toBundle(source, await readArtifacts(source.run, runs), tool)),
    },
  }[format];
}

/** Asks for a file and saves all findings of a run in it: of the run that is given, else of the one that is shown, else of the one that a person picks. */
export async function exportFindings(
  format: ExportFormat,
  chosen: Run | undefined,
  deps: ExportDeps,
): Promise<void> {
  const t = vscode.l10n.t;
  const which = t('Export Findings of Which Run?');
  const none = t('There are no findings to export yet.');
  const run = chosen ?? (await pickShownRun(deps, 'findings', which, none));
  if (run === undefined) return;
  if (format === 'bundle' && !(await agreesToContents(run))) return;
  const { ending, title, filter, write } = formatOf(format);
  const to = await vscode.window.showSaveDialog({
    title,
    defaultUri: defaultUri(run, ending),
    filters: { [filter]: [ending] },
  });
  if (to === undefined) return;
  const count = await withProgress(t('Exporting findings…'), async (_report, signal) => {
    const source = await readSource(run, deps.findings);
    signal.throwIfAborted();
    const content = await write(source, deps);
    signal.throwIfAborted();
    await vscode.workspace.fs.writeFile(to, content);
    return countShown(source.shown.length, source.cut);
  });
  await offerToOpen(t('{0} saved to {1}.', count, posix.basename(to.path)), to, format);
}

/** A run's findings, compared with the runs that they are compared with in the views. */
async function readSource(run: Run, findings: FindingStore): Promise<ShownRun> {
  const read = await findings.read(run);
  if (read.failure !== undefined) throw new AssessmentError(read.failure.kind, read.failure);
  const compared = findings.comparison();
  return compared?.run.id === run.id ? { ...read, absent: compared.absent } : read;
}

/** Findings and report as downloaded, and the lists of what was sent. */
async function readArtifacts(run: Run, runs: RunStore): Promise<readonly BundleFile[]> {
  const folder = runs.folderOf(run.id);
  const files = [{ path: 'findings.json', content: await readFile(join(folder, 'findings.json')) }];
  if (hasArtifact(run, 'report'))
    files.push({ path: 'report.md', content: await readFile(join(folder, 'report.md')) });
  for (const index of run.targets.keys()) {
    const path = `manifest-${String(index)}.json`;
    const text = await readIfThere(join(folder, path));
    if (text !== undefined) files.push({ path, content: Buffer.from(text) });
  }
  return files;
}

async function agreesToContents(run: Run): Promise<boolean> {
  const t = vscode.l10n.t;
  const yes = t('Save Bundle…');
  const detail = t(
    'Contains: the findings with the code they quote, the report, your triage decisions with notes, the list of assessed files, the commit, and the run ID. Doesn’t contain: source files, tokens, or the address of the service.',
  );
  const question = t('Save the results of {0} as one file that you can share?', titleOf(run));
  return (await askInDialog({ question, detail, icon: 'info' }, yes)) === yes;
}

/** Beside the folder that was assessed: a file in the folder would be uploaded the next time. */
function defaultUri(run: Run, ending: string): vscode.Uri {
  const isOpen = ({ folder }: Target): boolean =>
    vscode.workspace.getWorkspaceFolder(vscode.Uri.file(folder)) !== undefined;
  const { folder } = run.targets.find(isOpen) ?? run.targets[0] ?? { folder: '' };
  const title = titleOf(run).replaceAll(/[\\/:*?"<>|\p{Cc}\p{Cf}\s]+/gu, '-');
  const day = new Date(run.createdAt).toISOString().slice(0, 10);
  return vscode.Uri.file(join(dirname(folder), `${title}-findings-${day}.${ending}`));
}

async function offerToOpen(message: string, saved: vscode.Uri, format: ExportFormat): Promise<void> {
  const open = { title: vscode.l10n.t('Open'), command: 'vscode.open' };
  const reveal = { title: vscode.l10n.t('Reveal in File Manager'), command: 'revealFileInOS' };
  const isHere = vscode.env.uiKind === vscode.UIKind.Desktop && vscode.env.remoteName === undefined;
  const actions = [...(format === 'bundle' ? [] : [open]), ...(isHere ? [reveal] : [])];
  const choice = await showInformation(message, ...actions);
  if (choice !== undefined) await vscode.commands.executeCommand(choice.command, saved);
}

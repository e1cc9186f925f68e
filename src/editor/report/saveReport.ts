import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { writeFileAtomic } from '../../core/files.ts';
import { toSavedHtml } from '../../core/report/savedHtml.ts';
import { artifactPath, type Run } from '../../core/run/state/run.ts';
import type { RunStore } from '../../core/run/disk/runStore.ts';
import { maxTransferMs } from '../../core/yieldingWork.ts';
import { answerAbout } from '../folders.ts';
import { withProgress } from '../progress.ts';
import { showInformation, showWarning } from '../showMessage.ts';
import type { DocumentPanels } from './documentPanels.ts';
import { titleOf } from '../runs/runLabels.ts';

const t = vscode.l10n.t;

export interface SaveReportDeps {
  readonly runs: RunStore;
  readonly reports: DocumentPanels<Run>;
  readonly savedStyle: string;
}

export async function saveReport(run: Run, deps: SaveReportDeps): Promise<void> {
  const picked = await vscode.window.showQuickPick(
    [
      {
        label: t('Markdown'),
        detail: t('As received from the service'),
        save: () =>
          saveAs(run, 'md', () => readFile(artifactPath(run, 'report', deps.runs.folderOf(run.id)))),
      },
      {
        label: t('HTML'),
        detail: t('A single, self-contained file that looks like the report in VS Code'),
        save: () => saveHtml(run, deps),
      },
      {
        label: t('Open in Browser to Print'),
        detail: t('Or save it as PDF from the browser'),
        save: () => printInBrowser(run, deps),
      },
    ],
    { title: t('Save Report'), placeHolder: titleOf(run) },
  );
  await picked?.save();
}

async function saveHtml(run: Run, deps: SaveReportDeps): Promise<void> {
  await saveAs(run, 'html', async () => Buffer.from(await toHtml(run, deps)));
}

async function printInBrowser(run: Run, deps: SaveReportDeps): Promise<void> {
  const isLocal = vscode.env.remoteName === undefined && vscode.env.uiKind === vscode.UIKind.Desktop;
  if (isLocal) {
    // This file is removed with the run. Only the user can read it.
    const file = join(deps.runs.folderOf(run.id), 'report.html');
    await writeFileAtomic(file, await toHtml(run, deps));
    if (await vscode.env.openExternal(vscode.Uri.file(file))) return;
  }
  const save = t('Save as HTML…');
  const choice = await showWarning(
    t(
      'VS Code can’t open the report in a browser from this window. Save the report as HTML on the machine that has the browser, and open the file there.',
    ),
    save,
  );
  if (choice === save) await saveHtml(run, deps);
}

async function saveAs(run: Run, ending: string, read: () => Promise<Uint8Array>): Promise<void> {
  const name = `${titleOf(run).replace(/[\\/:*?"<>|\p{Cc}]/gu, '-')}-report.${ending}`;
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri;
  const to = await vscode.window.showSaveDialog({
    // The suggested file is next to the workspace folder, because a report isn't part of the
    // source.
    ...(folder && { defaultUri: vscode.Uri.joinPath(folder, '..', name) }),
    filters: { [ending === 'md' ? 'Markdown' : 'HTML']: [ending] },
    title: t('Save Report'),
  });
  if (to === undefined) return;
  await answerAbout(to, vscode.workspace.fs.writeFile(to, await read()), { maxMs: maxTransferMs });
  const open = { title: t('Open'), command: 'vscode.open', arguments: [to] };
  const saved = t('The report was saved to {0}.', to.scheme === 'file' ? to.fsPath : to.toString(true));
  await showInformation(saved, open);
}

async function toHtml(run: Run, { reports, savedStyle }: SaveReportDeps): Promise<string> {
  const body = await withProgress(t('Preparing the report…'), (_report, signal) =>
    reports.open(run).render(signal),
  );
  const html = toSavedHtml({
    title: t('Report: {0}', titleOf(run)),
    language: vscode.env.language,
    body,
    style: await readFile(savedStyle, 'utf8'),
  });
  if (html === undefined)
    throw new Error('The report view wrote HTML that is more than text and harmless elements.');
  return html;
}

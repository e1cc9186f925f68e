import { createHash } from 'node:crypto';
import { join } from 'node:path';
import * as vscode from 'vscode';
import type { TriageStore } from '../core/findings/triageStore.ts';
import { readTriageStorage } from './settings.ts';

/** The file that holds the decisions about a folder's findings: in the extension's storage, where every window sees it, or shared in the folder. */
export function triageBookOf(folder: string, storageFolder: string): string {
  if (readTriageStorage(vscode.Uri.file(folder)) === 'shared') {
    return join(folder, '.vscode', 'whitebox-triage.json');
  }
  const name = createHash('sha256').update(folder).digest('hex').slice(0, 32);
  return join(storageFolder, `${name}.json`);
}

/** Reads decisions again when another window, git or a person wrote them, or the setting keeps them elsewhere. */
export function watchTriage(triage: TriageStore, storageFolder: string): vscode.Disposable {
  const reload = (): void => void triage.reload();
  const storage = new vscode.RelativePattern(vscode.Uri.file(storageFolder), '*.json');
  const watchers = [storage, '**/.vscode/whitebox-triage.json'].map((pattern) =>
    vscode.workspace.createFileSystemWatcher(pattern),
  );
  return vscode.Disposable.from(
    ...watchers,
    ...watchers.flatMap((watcher) => [
      watcher.onDidChange(reload),
      watcher.onDidCreate(reload),
      watcher.onDidDelete(reload),
    ]),
    vscode.workspace.onDidChangeConfiguration((change) => {
      if (change.affectsConfiguration('whitebox.triage')) reload();
    }),
    // Where a watcher is blind (excluded files, a network's disk), coming back to the window has to do.
    vscode.window.onDidChangeWindowState(({ focused }) => {
      if (focused) reload();
    }),
  );
}

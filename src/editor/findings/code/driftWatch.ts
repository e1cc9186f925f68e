import * as vscode from 'vscode';
import type { FindingStore } from '../../../core/findings/findingStore.ts';

/** Changes on the disk come in crowds, as when another branch is checked out. */
const gatherMs = 100;

/** Tells the findings what becomes of the files they point at, in the editor and on the disk. */
export function watchDrift(findings: FindingStore): vscode.Disposable {
  const push = (document: vscode.TextDocument): void => {
    const file = document.uri.fsPath;
    if (document.uri.scheme !== 'file' || !findings.isPointedAt(file)) return;
    void findings.textChanged(file, document.getText());
  };
  const pushUnsaved = (): void => {
    for (const document of vscode.workspace.textDocuments) {
      if (document.isDirty) push(document);
    }
  };
  const disk = watchDisk(findings);
  const subscription = findings.onDidChange(({ kind }) => {
    if (kind === 'all') pushUnsaved();
  });
  pushUnsaved();
  return vscode.Disposable.from(
    disk,
    { dispose: () => subscription.dispose() },
    vscode.workspace.onDidChangeTextDocument(({ document, contentChanges }) => {
      if (contentChanges.length > 0) push(document);
    }),
    vscode.workspace.onDidCloseTextDocument(({ uri }) => {
      if (uri.scheme === 'file') void findings.textChanged(uri.fsPath, undefined);
    }),
  );
}

function watchDisk(findings: FindingStore): vscode.Disposable {
  const changed = new Set<string>();
  const moved = new Set<string>();
  let isReloadDue = false;
  let timer: NodeJS.Timeout | undefined;
  const settle = (): void => {
    timer = undefined;
    const files = [...changed, ...findings.filesBelow(moved)];
    changed.clear();
    moved.clear();
    if (isReloadDue) void findings.reload();
    else if (files.length > 0) void findings.fileChanged(...files);
    isReloadDue = false;
  };
  const note = ({ fsPath }: vscode.Uri): void => {
    if (!findings.mayPointAt(fsPath)) return;
    changed.add(fsPath);
    timer ??= setTimeout(settle, gatherMs);
  };
  const noteComingAndGoing = (uri: vscode.Uri): void => {
    note(uri);
    if (findings.isPointedAt(uri.fsPath) || findings.count() === 0) return;
    // Of a folder that comes or goes VS Code tells by itself alone, without what is in it.
    moved.add(uri.fsPath);
    isReloadDue ||= findings.isAwaited(uri.fsPath);
    timer ??= setTimeout(settle, gatherMs);
  };
  const watcher = vscode.workspace.createFileSystemWatcher('**/*');
  return vscode.Disposable.from(
    watcher,
    watcher.onDidChange(note),
    watcher.onDidCreate(noteComingAndGoing),
    watcher.onDidDelete(noteComingAndGoing),
    { dispose: () => clearTimeout(timer) },
  );
}

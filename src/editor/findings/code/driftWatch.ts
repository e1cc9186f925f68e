import * as vscode from 'vscode';
import type { FindingStore } from '../../../core/findings/findingStore.ts';

/** Changes on the disk come in bursts, as when another branch is checked out. */
const gatherMs = 100;

/** The text of a file: in the encoding of its open document, else in the one that settings and content suggest. */
export async function decodeFile(content: Uint8Array, file: string): Promise<string> {
  const uri = vscode.Uri.file(file);
  const open = vscode.workspace.textDocuments.find((document) => document.uri.toString() === uri.toString());
  return open === undefined
    ? vscode.workspace.decode(content, { uri })
    : vscode.workspace.decode(content, { encoding: open.encoding });
}

/** Reports to the store what becomes of the files that findings point at, in the editor and on the disk. */
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
  const subscription = findings.onDidChange(({ kind }) => {
    if (kind === 'all') pushUnsaved();
  });
  pushUnsaved();
  return vscode.Disposable.from(
    watchDisk(findings),
    subscription,
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
  const createdOrDeleted = new Set<string>();
  let mustReload = false;
  let timer: NodeJS.Timeout | undefined;
  const report = (): void => {
    timer = undefined;
    const files = [...changed, ...findings.filesBelow(createdOrDeleted)];
    changed.clear();
    createdOrDeleted.clear();
    if (mustReload) void findings.reload();
    else if (files.length > 0) void findings.fileChanged(...files);
    mustReload = false;
  };
  const onChange = ({ fsPath }: vscode.Uri): void => {
    if (!findings.mayPointAt(fsPath)) return;
    changed.add(fsPath);
    timer ??= setTimeout(report, gatherMs);
  };
  const onCreateOrDelete = (uri: vscode.Uri): void => {
    onChange(uri);
    if (findings.isPointedAt(uri.fsPath) || findings.count() === 0) return;
    // Of a folder that is created or deleted VS Code reports the folder alone, not the files in it.
    createdOrDeleted.add(uri.fsPath);
    mustReload ||= findings.isAwaited(uri.fsPath);
    timer ??= setTimeout(report, gatherMs);
  };
  const watcher = vscode.workspace.createFileSystemWatcher('**/*');
  return vscode.Disposable.from(
    watcher,
    watcher.onDidChange(onChange),
    watcher.onDidCreate(onCreateOrDelete),
    watcher.onDidDelete(onCreateOrDelete),
    { dispose: () => clearTimeout(timer) },
  );
}

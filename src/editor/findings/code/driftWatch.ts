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

/** The text of a file that is edited and not saved. */
export function unsavedText(file: string): string | undefined {
  const isEdited = ({ uri, isDirty }: vscode.TextDocument): boolean =>
    isDirty && uri.scheme === 'file' && uri.fsPath === file;
  return vscode.workspace.textDocuments.find(isEdited)?.getText();
}

/** Has findings placed again when files change, in the editor and on the disk. */
export function watchDrift({ findings }: { readonly findings: FindingStore }): vscode.Disposable {
  const rePlace = ({ uri }: vscode.TextDocument): void => {
    if (uri.scheme === 'file') void findings.rePlace(new Set([uri.fsPath]));
  };
  return vscode.Disposable.from(
    watchDisk(findings),
    // An event without changes says that the document is edited from now on, or is saved.
    vscode.workspace.onDidChangeTextDocument(({ document }) => rePlace(document)),
    vscode.workspace.onDidCloseTextDocument(rePlace),
    // Documents with unsaved changes come back after a restart.
    vscode.workspace.onDidOpenTextDocument((document) => {
      if (document.isDirty) rePlace(document);
    }),
  );
}

function watchDisk(findings: FindingStore): vscode.Disposable {
  const changed = new Set<string>();
  const createdOrDeleted = new Set<string>();
  let timer: NodeJS.Timeout | undefined;
  const report = (): void => {
    timer = undefined;
    void findings.rePlace(new Set(changed), new Set(createdOrDeleted));
    changed.clear();
    createdOrDeleted.clear();
  };
  const gatherIn =
    (paths: Set<string>) =>
    ({ fsPath }: vscode.Uri): void => {
      paths.add(fsPath);
      timer ??= setTimeout(report, gatherMs);
    };
  const watcher = vscode.workspace.createFileSystemWatcher('**/*');
  return vscode.Disposable.from(
    watcher,
    watcher.onDidChange(gatherIn(changed)),
    watcher.onDidCreate(gatherIn(createdOrDeleted)),
    watcher.onDidDelete(gatherIn(createdOrDeleted)),
    { dispose: () => clearTimeout(timer) },
  );
}

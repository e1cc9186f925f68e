import { join } from 'node:path';
import * as vscode from 'vscode';
import type { FindingStore } from '../../../core/findings/findingStore.ts';
import { readText, readTextBelow, toText } from '../../../core/findings/place/sentFiles.ts';
import { isSamePath } from '../../../core/paths.ts';
import type { Logger } from '../../../core/ports.ts';
import { inBackground } from '../../../core/yieldingWork.ts';

/** Changes on disk come in bursts, for example when a branch is checked out. */
const gatherMs = 100;

/** Decodes with the encoding of the open document, else with the one that settings and content suggest. */
export async function decodeFile(content: Uint8Array, file: string): Promise<string> {
  const uri = vscode.Uri.file(file);
  const open = vscode.workspace.textDocuments.find((document) => isOfFile(document, file));
  return open === undefined
    ? vscode.workspace.decode(content, { uri })
    : vscode.workspace.decode(content, { encoding: open.encoding });
}

/** The text of a file with unsaved changes. */
export function unsavedText(file: string): string | undefined {
  const isEdited = (document: vscode.TextDocument): boolean => document.isDirty && isOfFile(document, file);
  return vscode.workspace.textDocuments.find(isEdited)?.getText();
}

function isOfFile({ uri }: vscode.TextDocument, file: string): boolean {
  return uri.scheme === 'file' && isSamePath(uri.fsPath, file);
}

/** A file's current text with unsaved edits; undefined if it is missing or not text. */
export async function textNow(file: string): Promise<string | undefined> {
  const content = unsavedText(file) ?? (await readText(file));
  return typeof content === 'object' ? toText(content, file, decodeFile) : content;
}

/** `textNow` of a file as an upload reads it: what a link leads to is not read, also if it is open in an editor. */
export async function textBelow(folder: string, path: string): Promise<string | undefined> {
  const content = await readTextBelow(folder, path);
  const file = join(folder, ...path.split('/'));
  return content && (unsavedText(file) ?? toText(content, file, decodeFile));
}

interface Deps {
  readonly findings: FindingStore;
  /** Compares files again. */
  readonly branch: { reread(changed: ReadonlySet<string>): void };
  readonly log: Logger;
}

/** Places findings again when files change in the editor or on disk. Watches files while a run with findings is shown. */
export function watchDrift(deps: Deps): vscode.Disposable {
  const { findings } = deps;
  let watches: vscode.Disposable | undefined;
  const follow = (): void => {
    if (findings.shownRuns().length > 0) watches ??= watchFiles(deps);
    else {
      watches?.dispose();
      watches = undefined;
    }
  };
  follow();
  return vscode.Disposable.from(findings.onDidChange(follow), {
    dispose: () => {
      watches?.dispose();
    },
  });
}

function watchFiles(deps: Deps): vscode.Disposable {
  const { findings, branch, log } = deps;
  const rePlace = ({ uri }: vscode.TextDocument): void => {
    if (uri.scheme !== 'file') return;
    inBackground(findings.rePlace(new Set([uri.fsPath])), log);
    branch.reread(new Set([uri.fsPath]));
  };
  return vscode.Disposable.from(
    watchDisk(deps),
    // An event without changes means that the document became dirty or was saved.
    vscode.workspace.onDidChangeTextDocument(({ document }) => rePlace(document)),
    vscode.workspace.onDidCloseTextDocument(rePlace),
    // Documents with unsaved changes come back after a restart.
    vscode.workspace.onDidOpenTextDocument((document) => {
      if (document.isDirty) rePlace(document);
    }),
  );
}

function watchDisk({ findings, branch, log }: Deps): vscode.Disposable {
  const changed = new Set<string>();
  const createdOrDeleted = new Set<string>();
  let timer: NodeJS.Timeout | undefined;
  const report = (): void => {
    timer = undefined;
    inBackground(findings.rePlace(new Set(changed), new Set(createdOrDeleted)), log);
    branch.reread(new Set([...changed, ...createdOrDeleted]));
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

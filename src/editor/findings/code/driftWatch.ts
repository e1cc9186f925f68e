import { basename, dirname, join } from 'node:path';
import * as vscode from 'vscode';
import type { FindingStore } from '../../../core/findings/findingStore.ts';
import type { EditorTexts } from '../../../core/findings/place/currentPlaces.ts';
import {
  createDecode,
  type Encodings,
  maxTextBytes,
  readTextBelow,
} from '../../../core/findings/place/sentFiles.ts';
import { isSamePath, pathKey } from '../../../core/paths.ts';
import type { Clock, Logger } from '../../../core/ports.ts';
import { inBackground } from '../../../core/yieldingWork.ts';

/** Changes on disk come in bursts, for example when a branch is checked out. */
const gatherMs = 100;
/** While a person types, VS Code moves the squiggles itself. */
const restMs = 300;

/** The encodings of open documents, and those of the settings. */
export function encodings(): Encodings {
  const { textDocuments, workspaceFolders = [] } = vscode.workspace;
  const encodingIn = ({ uri }: vscode.WorkspaceFolder): string =>
    vscode.workspace.getConfiguration('files', uri).get('encoding', 'utf8');
  return {
    documents: new Map(
      textDocuments.filter(isFile).map(({ uri, encoding }) => [pathKey(uri.fsPath), encoding] as const),
    ),
    folders: new Map(workspaceFolders.map((folder) => [folder.uri.fsPath, encodingIn(folder)] as const)),
  };
}

/** The text of a file (absolute path) as the editor shows it. */
export function toText(content: Buffer, file: string): string {
  return createDecode(encodings())(content, file).text;
}

/** What editors have of files: unsaved texts, and the texts at their opening. */
export class DocumentTexts implements vscode.Disposable {
  readonly #opened = new Map<string, string>();
  readonly #subscriptions: vscode.Disposable;

  constructor() {
    const note = (document: vscode.TextDocument): void => {
      if (!isFile(document) || document.isDirty) return;
      const text = document.getText();
      // A longer text is not compared.
      if (text.length <= maxTextBytes) this.#opened.set(pathKey(document.uri.fsPath), text);
    };
    vscode.workspace.textDocuments.forEach(note);
    this.#subscriptions = vscode.Disposable.from(
      vscode.workspace.onDidOpenTextDocument(note),
      vscode.workspace.onDidCloseTextDocument(({ uri }) => this.#opened.delete(pathKey(uri.fsPath))),
    );
  }

  /** Of the wanted files (absolute paths). */
  of(isWanted: (file: string) => boolean): EditorTexts {
    const documents = vscode.workspace.textDocuments.filter(
      (document) => isFile(document) && isWanted(document.uri.fsPath),
    );
    const edited = documents
      .filter(({ isDirty }) => isDirty)
      .map((document) => [pathKey(document.uri.fsPath), document.getText()] as const)
      .filter(([, text]) => text.length <= maxTextBytes);
    const keys = new Set(documents.map(({ uri }) => pathKey(uri.fsPath)));
    const opened = [...this.#opened].filter(([key]) => keys.has(key));
    return { edited: new Map(edited), opened: new Map(opened), encodings: encodings() };
  }

  dispose(): void {
    this.#subscriptions.dispose();
  }
}

function isFile({ uri }: vscode.TextDocument): boolean {
  return uri.scheme === 'file';
}

export function unsavedText(file: string): string | undefined {
  const isEdited = (document: vscode.TextDocument): boolean => document.isDirty && isOfFile(document, file);
  return vscode.workspace.textDocuments.find(isEdited)?.getText();
}

function isOfFile(document: vscode.TextDocument, file: string): boolean {
  return isFile(document) && isSamePath(document.uri.fsPath, file);
}

/** A file's current text with unsaved edits; undefined if it is missing or not text. */
export async function textNow(file: string): Promise<string | undefined> {
  const content = unsavedText(file) ?? (await readTextBelow(dirname(file), basename(file)));
  return typeof content === 'object' ? toText(content, file) : content;
}

/** `textNow` of a file as an upload reads it: what a link leads to is not read, also if it is open in an editor. */
export async function textBelow(folder: string, path: string): Promise<string | undefined> {
  const content = await readTextBelow(folder, path);
  const file = join(folder, ...path.split('/'));
  return content && (unsavedText(file) ?? toText(content, file));
}

interface Deps {
  readonly findings: Pick<FindingStore, 'shownRuns' | 'onDidChange' | 'rePlace'>;
  readonly branch: { reread(changed: ReadonlySet<string>): void };
  readonly clock: Clock;
  readonly log: Logger;
}

/** Places findings again when files change in the editor or on disk. Watches files while a run with findings is shown. */
export function watchDrift(deps: Deps): vscode.Disposable {
  const { findings } = deps;
  let watches: vscode.Disposable | undefined;
  const follow = (): void => {
    if (findings.shownRuns().length > 0) {
      if (watches !== undefined) return;
      watches = vscode.Disposable.from(watchDisk(deps), watchDocuments(deps));
      // They may have been edited since the findings were read.
      inBackground(findings.rePlace(openFiles()), deps.log);
    } else {
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

function openFiles(): ReadonlySet<string> {
  const files = vscode.workspace.textDocuments.filter(({ uri }) => uri.scheme === 'file');
  return new Set(files.map(({ uri }) => uri.fsPath));
}

/** Gathers edited files until nobody has typed for a while. */
function watchDocuments({ findings, branch, clock, log }: Deps): vscode.Disposable {
  const edited = new Set<string>();
  let editedAt = 0;
  let isWaiting = false;
  let isDisposed = false;
  /** What is edited while files are followed waits for its turn. */
  const rePlaceAfterRest = async (): Promise<void> => {
    try {
      while (edited.size > 0) {
        for (let leftMs = restMs; leftMs > 0; leftMs = editedAt + restMs - clock.monotonic())
          await clock.sleep(leftMs);
        if (isDisposed) return;
        const files = new Set(edited);
        edited.clear();
        branch.reread(files);
        await findings.rePlace(files);
      }
    } finally {
      isWaiting = false;
    }
  };
  const gather = ({ uri }: vscode.TextDocument): void => {
    if (uri.scheme !== 'file') return;
    edited.add(uri.fsPath);
    editedAt = clock.monotonic();
    if (!isWaiting) inBackground(rePlaceAfterRest(), log);
    isWaiting = true;
  };
  return vscode.Disposable.from(
    // An event without changes means that the document became dirty or was saved.
    vscode.workspace.onDidChangeTextDocument(({ document }) => gather(document)),
    vscode.workspace.onDidCloseTextDocument(gather),
    // Documents with unsaved changes come back after a restart.
    vscode.workspace.onDidOpenTextDocument((document) => {
      if (document.isDirty) gather(document);
    }),
    { dispose: () => (isDisposed = true) },
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

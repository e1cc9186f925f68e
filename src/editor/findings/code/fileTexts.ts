import { join } from 'node:path';
import * as vscode from 'vscode';
import { AssessmentError } from '../../../core/errors.ts';
import type { EditorTexts } from '../../../core/findings/place/currentPlaces.ts';
import {
  asSentIn,
  createDecode,
  type Encodings,
  maxTextBytes,
  readKept,
  readTextBelow,
  readUnchanged,
  type SentFile,
} from '../../../core/findings/place/sentFiles.ts';
import { isSamePath, pathKey } from '../../../core/paths.ts';
import type { RunStore } from '../../../core/run/disk/runStore.ts';
import type { Run, Target } from '../../../core/run/state/run.ts';
import { isUsableName } from '../../../core/upload/sourceFile.ts';
import type { FolderCalls } from '../../../core/yieldingWork.ts';
import { answerOfGit, type GitRepository, repositoryOf } from '../../folders.ts';
import { commitLabel } from '../../runs/runLabels.ts';

/*
 * The texts of files for everything in the editor: as they are now, as they were uploaded, and as they
 * are in a commit. None is longer than `maxTextBytes`, and no folder is waited for longer than two seconds.
 */

const t = vscode.l10n.t;

export interface TextSources {
  readonly runs: RunStore;
  readonly calls: Pick<FolderCalls, 'ask'>;
}

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

/**
 * A file's present text, with unsaved edits. Undefined where there is no text that an upload would
 * read: what a link leads to is not read, also if it is open in an editor. Throws `noAnswer`, and the
 * system's errors.
 */
export async function textNow(
  { folder, path }: { readonly folder: string; readonly path: string },
  { calls }: Pick<TextSources, 'calls'>,
): Promise<string | undefined> {
  const content = await calls.ask(folder, () => readTextBelow(folder, path));
  const file = join(folder, ...path.split('/'));
  const text = content && (unsavedText(file) ?? toText(content, file));
  return text !== undefined && text.length <= maxTextBytes ? text : undefined;
}

/** A file as it was uploaded, or why it is not available, as the end of a sentence. */
export type UploadedText = { readonly text: string } | { readonly why: string };

export async function textAsUploaded(
  run: Run,
  sent: SentFile,
  { runs, calls }: TextSources,
): Promise<UploadedText> {
  const target = run.targets[sent.target];
  if (target === undefined || !isUsableName(sent.path)) return { why: t('it wasn’t uploaded') };
  const file = join(target.folder, ...sent.path.split('/'));
  const kept = await readKept(runs.folderOf(run.id), sent);
  const here = kept ?? (await calls.ask(sent.folder, () => readUnchanged(sent)));
  if (here !== undefined) return { text: toText(here, file) };
  if (sent.bytes > maxTextBytes) return { why: t('it is too large') };
  const committed = await readCommitted(target, file);
  if ('why' in committed) return committed;
  const content = asSentIn(committed.content, sent);
  return content === undefined ? { why: committed.otherwise } : { text: toText(content, file) };
}

/** The file in the assessed commit, from VS Code's git extension. `otherwise` is why it may differ from the uploaded file. */
async function readCommitted(
  { folder, commit }: Target,
  file: string,
): Promise<{ content: Buffer; otherwise: string } | { why: string }> {
  // Only a hash: other Git names for commits can contain anything.
  if (commit === undefined || !/^[0-9a-f]{40,64}$/.test(commit.id))
    return { why: t('its content wasn’t saved, and no known commit contains it') };
  if (!vscode.workspace.isTrusted)
    return { why: t('its content wasn’t saved, and Git isn’t used in Restricted Mode') };
  const repository = await repositoryOf(vscode.Uri.file(folder));
  const label = commitLabel({ ...commit, dirty: false });
  if (repository === undefined)
    return {
      why: t('its content wasn’t saved, and VS Code has no Git repository open for commit {0}', label),
    };
  try {
    const content = await contentAt(repository, commit.id, file);
    return content
      ? {
          content,
          otherwise: t('its content wasn’t saved, and commit {0} contains a different version', label),
        }
      : { why: t('its content wasn’t saved, and the local commit {0} doesn’t contain this file', label) };
  } catch (error) {
    if (!isSilence(error)) throw error;
    return { why: t('its content wasn’t saved, and VS Code’s Git extension didn’t respond in time') };
  }
}

/**
 * A file (absolute path) in a commit: null if the commit does not have it, undefined if Git cannot read
 * it, or if it is larger than `maxBytes`. Throws `noAnswer`.
 */
export async function contentAt(
  repository: GitRepository,
  commit: string,
  file: string,
  maxBytes = maxTextBytes,
): Promise<Buffer | null | undefined> {
  try {
    const { size } = await answerOfGit(repository.getObjectDetails(commit, file));
    return size <= maxBytes ? await answerOfGit(repository.buffer(commit, file)) : undefined;
  } catch (error) {
    if (isSilence(error)) throw error;
    const isMissing = (error as { gitErrorCode?: unknown } | undefined)?.gitErrorCode === 'UnknownPath';
    return isMissing ? null : undefined;
  }
}

export function isSilence(error: unknown): boolean {
  return error instanceof AssessmentError && error.kind === 'noAnswer';
}

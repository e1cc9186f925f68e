import { join } from 'node:path';
import * as vscode from 'vscode';
import { AssessmentError } from '../../../core/errors.ts';
import type { EditorTexts } from '../../../core/findings/location/currentLocations.ts';
import {
  asUploadedIn,
  createDecode,
  type Encodings,
  maxTextBytes,
  readKept,
  readTextBelow,
  readUnchanged,
  type UploadedFile,
} from '../../../core/findings/location/uploadedFiles.ts';
import { isSamePath, isUsableName, pathKey } from '../../../core/paths.ts';
import type { RunStore } from '../../../core/run/disk/runStore.ts';
import type { Run, Target } from '../../../core/run/state/run.ts';
import type { FolderCalls } from '../../../core/yieldingWork.ts';
import { answerOfGit, type GitRepository, repositoryOf } from '../../folders.ts';
import { commitLabel } from '../../runs/runLabels.ts';

const t = vscode.l10n.t;

export interface TextSources {
  readonly runs: RunStore;
  readonly calls: Pick<FolderCalls, 'ask'>;
}

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

export function toText(content: Buffer, file: string): string {
  return createDecode(encodings())(content, file).text;
}

export function editorTexts(isWanted: (file: string) => boolean): EditorTexts {
  const edited = new Map<string, string>();
  for (const document of vscode.workspace.textDocuments) {
    if (!isFile(document) || !document.isDirty || !isWanted(document.uri.fsPath)) continue;
    const text = document.getText();
    if (text.length <= maxTextBytes) edited.set(pathKey(document.uri.fsPath), text);
  }
  return { edited, encodings: encodings() };
}

function isFile({ uri }: vscode.TextDocument): boolean {
  return uri.scheme === 'file';
}

export function unsavedText(file: string): string | undefined {
  return editorTexts((each) => isSamePath(each, file)).edited.get(pathKey(file));
}

/**
 * Returns undefined for a file behind a symbolic link, even if it is open in an editor, because an
 * upload doesn't contain such a file.
 */
export async function textNow(
  { folder, path }: { readonly folder: string; readonly path: string },
  { calls }: Pick<TextSources, 'calls'>,
): Promise<string | undefined> {
  const content = await calls.ask(folder, () => readTextBelow(folder, path));
  const file = join(folder, path);
  return content && (unsavedText(file) ?? toText(content, file));
}

/** `why` is the end of a sentence. */
export type UploadedText = { readonly text: string } | { readonly why: string };

export async function textAsUploaded(
  run: Run,
  uploaded: UploadedFile,
  { runs, calls }: TextSources,
): Promise<UploadedText> {
  const target = run.targets[uploaded.target];
  if (target === undefined || !isUsableName(uploaded.path)) return { why: t('it wasn’t uploaded') };
  const file = join(target.folder, uploaded.path);
  const kept = await readKept(runs.folderOf(run.id), uploaded);
  const here = kept ?? (await calls.ask(uploaded.folder, () => readUnchanged(uploaded)));
  if (here !== undefined) return { text: toText(here, file) };
  if (uploaded.bytes > maxTextBytes) return { why: t('it is too large') };
  const committed = await readCommitted(target, file);
  if ('why' in committed) return committed;
  const content = asUploadedIn(committed.content, uploaded);
  return content === undefined ? { why: committed.otherwise } : { text: toText(content, file) };
}

async function readCommitted(
  { folder, commit }: Target,
  file: string,
): Promise<{ content: Buffer; otherwise: string } | { why: string }> {
  // Only hashes are used: other Git names for commits can contain anything.
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
 * Returns null if the commit doesn't have the file, and undefined if Git can't read it or it is
 * larger than `maxBytes`. Throws `noAnswer`.
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

import * as vscode from 'vscode';
import { AssessmentError } from '../core/errors.ts';
import { pathInside } from '../core/files.ts';
import type { Run } from '../core/run/state/run.ts';

/** A folder that may be assessed. */
export interface Folder {
  readonly uri: vscode.Uri;
  readonly name: string;
}

/** The folders that are given, or those of the workspace that a person picks; undefined when they stop. Throws `noFolder`, `notAFolder`. */
export async function pickFolders(
  given: readonly Folder[] | undefined,
  title: string,
): Promise<readonly Folder[] | undefined> {
  const folders = given ?? (await pickWorkspaceFolders(title));
  for (const { uri } of folders ?? []) {
    if (uri.scheme !== 'file') throw new AssessmentError('notAFolder', { subject: uri.toString() });
  }
  return folders;
}

/** The folder that a menu was opened on. */
export function folderAt(uri: vscode.Uri): Folder {
  return { uri, name: uri.path.slice(uri.path.lastIndexOf('/') + 1) };
}

/** The folders of a run that is tried again; throws `folderNotOpen` for one that is not open here, since what a person left out of it would be sent. */
export function openFoldersOf({ targets }: Run): readonly Folder[] {
  return targets.map(({ folder, name }) => {
    const uri = vscode.Uri.file(folder);
    if (vscode.workspace.getWorkspaceFolder(uri) === undefined)
      throw new AssessmentError('folderNotOpen', { subject: folder });
    return { uri, name };
  });
}

/** True for a file below a folder, or the folder itself. */
export function isInside(file: vscode.Uri, folder: vscode.Uri): boolean {
  return file.scheme === folder.scheme && pathInside(folder.fsPath, file.fsPath) !== undefined;
}

/** True for a folder (an absolute path) that is open in this window, or inside one that is. */
export function isOpenHere(folder: string): boolean {
  const open = vscode.workspace.workspaceFolders ?? [];
  return open.some(({ uri }) => isInside(vscode.Uri.file(folder), uri));
}

/** One assessed folder is the common case; several become one run with one archive each. */
async function pickWorkspaceFolders(title: string): Promise<readonly Folder[] | undefined> {
  const folders = vscode.workspace.workspaceFolders ?? [];
  if (folders.length === 0) throw new AssessmentError('noFolder');
  if (folders.length === 1) return folders;
  const picked = await vscode.window.showQuickPick(
    folders.map((folder) => ({ label: folder.name, description: folder.uri.fsPath, folder, picked: true })),
    {
      canPickMany: true,
      ignoreFocusOut: true,
      title,
      placeHolder: vscode.l10n.t('Choose the folders to assess; each becomes an archive of its own'),
    },
  );
  return picked === undefined || picked.length === 0 ? undefined : picked.map(({ folder }) => folder);
}

import { lstatSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { AssessmentError } from '../../core/errors.ts';

/** Opens the `.whiteboxignore` of a folder, made with an explaining header where there is none. */
export async function editIgnoreFile(): Promise<void> {
  const folders = vscode.workspace.workspaceFolders ?? [];
  if (folders.length === 0) throw new AssessmentError('noFolder');
  const folder = folders.length === 1 ? folders[0] : await vscode.window.showWorkspaceFolderPick();
  if (folder === undefined) return;
  const file = ignoreFileOf(folder);
  await ensureIgnoreFile(file);
  await vscode.window.showTextDocument(vscode.Uri.file(file));
}

/** The path of a workspace folder's own `.whiteboxignore`. */
export function ignoreFileOf(folder: vscode.WorkspaceFolder): string {
  return join(folder.uri.fsPath, '.whiteboxignore');
}

/** Makes an ignore file where there is none; throws `sourceUnreadable` for one that is no regular file. */
export async function ensureIgnoreFile(file: string): Promise<void> {
  const there = lstatSync(file, { throwIfNoEntry: false });
  // Written to through a link, it would seem to count, which it does not.
  if (there?.isFile() === false) throw new AssessmentError('sourceUnreadable', { subject: file });
  if (there !== undefined) return;
  const lines = [
    vscode.l10n.t('Files that are not uploaded for an assessment, besides those that .gitignore names.'),
    vscode.l10n.t('Same syntax as .gitignore; can stand in any folder. It can only leave out more.'),
  ];
  await writeFile(file, lines.map((line) => `# ${line}\n`).join(''), { flag: 'wx' });
}

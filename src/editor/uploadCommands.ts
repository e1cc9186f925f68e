import { randomBytes } from 'node:crypto';
import { lstatSync } from 'node:fs';
import { appendFile, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { AssessmentError } from '../core/errors.ts';
import { replaceFile } from '../core/files.ts';
import { pathInside } from '../core/pathInside.ts';
import type { Logger } from '../core/ports.ts';
import { type Archive, writeArchive } from '../core/upload/archive.ts';
import type { ArchiveType } from '../core/api/schema.ts';
import { toIgnoreLine } from '../core/upload/choices.ts';
import { pickFolders } from './folders.ts';
import { countFiles, formatBytes } from './formats.ts';
import { type PreparationDeps, prepare, type Prepared, settle } from './preparation.ts';
import { withProgress } from './progress.ts';
import { readAssessmentSettings } from './settings.ts';
import { showInformation } from './showMessage.ts';
import { otherThanShown, type UploadPreview } from './uploadPreview.ts';
import type { PreviewNode } from './uploadPreviewTree.ts';

/** Shows in the Upload Preview what would be sent of the folders a person picks; starts nothing. */
export async function previewUpload(preview: UploadPreview): Promise<void> {
  const folders = await pickFolders(undefined, vscode.l10n.t('Preview Files to Upload'));
  if (folders !== undefined) await preview.open(folders);
}

/** Writes exactly the bytes that would be sent of a folder to a file that a person names. */
export async function saveArchive(
  deps: PreparationDeps & { workerFile: string; preview: UploadPreview },
): Promise<void> {
  const t = vscode.l10n.t;
  const folders = await pickFolders(undefined, t('Save Upload Archive to Disk'));
  for (const folder of folders ?? []) {
    const prepared = await withProgress(t('Whitebox Assessment'), (onStep, signal) =>
      prepare([folder], deps, { signal, onStep }),
    );
    const [only] = (await settle(prepared, deps)) ?? [];
    if (only === undefined) return;
    const { archiveType, maxArchiveBytes } = readAssessmentSettings(folder.uri);
    const ending = archiveType === 'zip' ? 'zip' : 'tar.gz';
    const to = await vscode.window.showSaveDialog({
      defaultUri: vscode.Uri.joinPath(folder.uri, '..', `${folder.name}.${ending}`),
      title: t('Save Upload Archive to Disk'),
    });
    if (to === undefined) return;
    if (to.scheme !== 'file') throw new AssessmentError('notAFolder', { subject: to.toString() });
    const archive = await packWithProgress(only, archiveType, maxArchiveBytes, to.fsPath, deps.workerFile);
    const other = otherThanShown([only], deps.preview.shown());
    const size = `${countFiles(archive.entries.length)}, ${formatBytes(archive.bytes)}`;
    void showInformation(
      [t('Saved {0}: {1}, SHA-256 {2}', to.fsPath, size, archive.sha256), ...other].join('. '),
    );
  }
}

/** Packs behind a cancellable progress notification; a file that is there already is replaced only by a whole archive. */
function packWithProgress(
  { selection }: Prepared,
  format: ArchiveType,
  maxBytes: number,
  to: string,
  workerFile: string,
): Thenable<Archive> {
  return withProgress(vscode.l10n.t('Whitebox Assessment'), async (report, signal) => {
    const part = `${to}.${randomBytes(6).toString('hex')}.part`;
    const { root, files } = selection;
    const onBytes = (done: number, total: number): void =>
      report(vscode.l10n.t('packaging {0} of {1}', formatBytes(done), formatBytes(total)));
    const archive = await writeArchive({
      root,
      files,
      format,
      to: part,
      maxBytes,
      workerFile,
      signal,
      onBytes,
    });
    try {
      await replaceFile(part, to);
    } catch (error) {
      await rm(part, { force: true });
      throw error;
    }
    return archive;
  });
}

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

/** Leaves a file or folder out of every later upload by a line in `.whiteboxignore`, and offers to take that back. */
export async function excludeFromUpload(
  target: unknown,
  onUndone: () => Promise<void>,
  log: Logger,
): Promise<void> {
  const uri = uriOf(target);
  const folder = uri === undefined ? undefined : vscode.workspace.getWorkspaceFolder(uri);
  if (uri === undefined || folder === undefined) return;
  const isFolder = ((await vscode.workspace.fs.stat(uri)).type & vscode.FileType.Directory) !== 0;
  const relative = pathInside(folder.uri.fsPath, uri.fsPath);
  if (relative === undefined || relative === '') return;
  const file = ignoreFileOf(folder);
  await ensureIgnoreFile(file);
  const before = await readFile(file, 'utf8');
  const rule = toIgnoreLine(isFolder ? `${relative}/` : relative);
  const added = `${before === '' || before.endsWith('\n') ? '' : '\n'}${rule}\n`;
  if (!before.split(/\r?\n/).includes(rule)) await appendFile(file, added);
  const undo = vscode.l10n.t('Undo');
  const message = vscode.l10n.t(
    '{0} is left out of uploads from now on, by a line in .whiteboxignore.',
    relative,
  );
  const takeBack = async (): Promise<void> => {
    if ((await showInformation(message, undo)) !== undo) return;
    // Only while nobody else has changed the file since.
    if ((await readFile(file, 'utf8')) !== before + added) return;
    await writeFile(file, before);
    await onUndone();
  };
  takeBack().catch((error: unknown) => log.error(`The line could not be taken back: ${String(error)}`));
}

function uriOf(target: unknown): vscode.Uri | undefined {
  if (target instanceof vscode.Uri) return target;
  const node = target as PreviewNode | undefined;
  if (node?.kind === 'file') return vscode.Uri.joinPath(node.of.folder.uri, node.file.path);
  return node?.kind === 'folder'
    ? vscode.Uri.joinPath(node.of.folder.uri, node.sum.path.slice(0, -1))
    : undefined;
}

function ignoreFileOf(folder: vscode.WorkspaceFolder): string {
  return join(folder.uri.fsPath, '.whiteboxignore');
}

async function ensureIgnoreFile(file: string): Promise<void> {
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

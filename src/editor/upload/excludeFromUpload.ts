import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { systemCode } from '../../core/errors.ts';
import { pathInside } from '../../core/paths.ts';
import { toIgnoreLine, withExcluded, withLines } from '../../core/upload/choose/choices.ts';
import { readOwnFile, toOwnFile } from '../../core/upload/ignore/readIgnoreFile.ts';
import { visibleName } from '../../core/visibleText.ts';
import { openFile } from '../errors/errorActions.ts';
import { answerAbout, type Folder, openDocument, pickFolder } from '../folders.ts';
import { formatNumber } from '../formats.ts';
import { showInformation } from '../showMessage.ts';
import type { UploadChoices } from './checkAndPack.ts';
import type { UploadPreview } from './uploadPreview.ts';
import type { PreviewNode } from './uploadPreviewTree.ts';

const t = vscode.l10n.t;

interface ExcludeDeps {
  readonly choices: UploadChoices;
  readonly preview: Pick<UploadPreview, 'reopen'>;
}

/** Excludes files and folders from later uploads, by lines in `.whiteboxignore` and by replacing earlier choices. */
export async function excludeFromUpload(
  targets: readonly unknown[],
  { choices, preview }: ExcludeDeps,
): Promise<void> {
  const excluded = await pathsByFolder(targets);
  for (const [folder, paths] of excluded) await exclude(folder, paths, choices);
  const [first] = excluded;
  if (first === undefined) return;
  const [folder, [path = '']] = first;
  const count = [...excluded.values()].flat().length;
  await preview.reopen();
  const message =
    count === 1
      ? t(
          '{0} was added to .whiteboxignore and is excluded from future uploads.',
          visibleName(path.replace(/\/$/, '')),
        )
      : t(
          '{0} files and folders were added to .whiteboxignore and are excluded from future uploads.',
          formatNumber(count),
        );
  void showInformation(message, openFile(ignoreFileOf(folder)));
}

async function exclude(
  folder: vscode.WorkspaceFolder,
  paths: readonly string[],
  choices: UploadChoices,
): Promise<void> {
  const file = ignoreFileOf(folder);
  await ensureIgnoreFile(file);
  const own = readOwnFile(file);
  const text = own?.content.toString() ?? '';
  const extended = withLines(text, paths.map(toIgnoreLine));
  if (extended !== text) await writeFile(file, toOwnFile(extended, own?.encoding));
  // A choice by path overrides every ignore file, and a deeper ignore file could include the path again.
  await choices.change(folder, (current) => withExcluded(current, paths));
}

async function pathsByFolder(
  targets: readonly unknown[],
): Promise<ReadonlyMap<vscode.WorkspaceFolder, readonly string[]>> {
  const found = new Map<vscode.WorkspaceFolder, string[]>();
  for (const target of targets) {
    const uri = uriOf(target);
    const folder = uri === undefined ? undefined : vscode.workspace.getWorkspaceFolder(uri);
    if (uri === undefined || folder === undefined) continue;
    const path = pathInside(folder.uri.fsPath, uri.fsPath);
    if (path === undefined || path === '') continue;
    const { type } = await answerAbout(uri, vscode.workspace.fs.stat(uri));
    const isFolder = (type & vscode.FileType.Directory) !== 0;
    found.set(folder, [...(found.get(folder) ?? []), isFolder ? `${path}/` : path]);
  }
  return found;
}

function uriOf(target: unknown): vscode.Uri | undefined {
  if (target instanceof vscode.Uri) return target;
  const about = (target as PreviewNode | undefined)?.about;
  if (about === undefined || about.reason !== undefined) return undefined;
  return vscode.Uri.joinPath(about.folder.uri, about.path.replace(/\/$/, ''));
}

export async function editIgnoreFile(): Promise<void> {
  const folder = await pickFolder(t('Edit .whiteboxignore'));
  if (folder === undefined) return;
  const file = ignoreFileOf(folder);
  await ensureIgnoreFile(file);
  await vscode.window.showTextDocument(await openDocument(vscode.Uri.file(file)));
}

function ignoreFileOf({ uri }: Folder): string {
  return join(uri.fsPath, '.whiteboxignore');
}

async function ensureIgnoreFile(file: string): Promise<void> {
  const lines = [
    t('Files that aren’t uploaded for an assessment, in addition to those in .gitignore.'),
    t('Same syntax as .gitignore. Can be in any folder. It can only exclude more files.'),
  ];
  try {
    await writeFile(file, lines.map((line) => `# ${line}\n`).join(''), { flag: 'wx' });
  } catch (error) {
    if (systemCode(error) !== 'EEXIST') throw error;
  }
}

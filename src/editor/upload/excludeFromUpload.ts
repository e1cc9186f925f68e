import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { systemCode } from '../../core/errors.ts';
import { pathInside } from '../../core/paths.ts';
import {
  type PathChoices,
  toIgnoreLine,
  withExcluded,
  withLines,
  withoutExcluded,
  withoutLines,
} from '../../core/upload/choose/choices.ts';
import { readOwnFile } from '../../core/upload/ignore/readIgnoreFile.ts';
import { visibleName } from '../../core/visibleText.ts';
import { type Attempt, openFile } from '../errors/errorActions.ts';
import { answerAbout, type Folder, openDocument, pickFolder } from '../folders.ts';
import { formatList, formatNumber } from '../formats.ts';
import { showInformation } from '../showMessage.ts';
import type { UploadChoices } from './checkAndPack.ts';
import type { UploadPreview } from './uploadPreview.ts';
import type { PreviewNode } from './uploadPreviewTree.ts';

const t = vscode.l10n.t;

const id = 'whitebox.excludeFromUpload';

interface ExcludeDeps {
  readonly choices: UploadChoices;
  readonly preview: Pick<UploadPreview, 'reopen'>;
  readonly attempt: Attempt;
}

interface Exclusion {
  readonly folder: vscode.WorkspaceFolder;
  /** A folder's path ends in `/`. */
  readonly paths: readonly string[];
  readonly addedLines: readonly string[];
  readonly before: PathChoices;
}

export async function excludeFromUpload(targets: readonly unknown[], deps: ExcludeDeps): Promise<void> {
  const excluded: Exclusion[] = [];
  for (const [folder, paths] of await pathsByFolder(targets))
    excluded.push(await exclude(folder, paths, deps.choices));
  const [first, ...others] = excluded.flatMap(({ paths }) => paths);
  if (first === undefined) return;
  await deps.preview.reopen();
  const message =
    others.length === 0
      ? t(
          '{0} was added to .whiteboxignore and is excluded from future uploads.',
          visibleName(first.replace(/\/$/, '')),
        )
      : t(
          '{0} files and folders were added to .whiteboxignore and are excluded from future uploads.',
          formatNumber(others.length + 1),
        );
  // Nothing awaits this, because the message may stay open.
  void deps.attempt(id, () => offerUndo(message, excluded, deps));
}

async function exclude(
  folder: vscode.WorkspaceFolder,
  paths: readonly string[],
  choices: UploadChoices,
): Promise<Exclusion> {
  const file = ignoreFileOf(folder);
  await ensureIgnoreFile(file);
  const { text, added } = withLines(readOwnFile(file)?.toString() ?? '', paths.map(toIgnoreLine));
  if (added.length > 0) await writeFile(file, text);
  const before = choices.of(folder);
  // An earlier choice or a deeper ignore file could include the path again. A choice to exclude it
  // overrides both.
  await choices.change(folder, (current) => withExcluded(current, paths));
  return { folder, paths, addedLines: added, before };
}

async function offerUndo(message: string, excluded: readonly Exclusion[], deps: ExcludeDeps): Promise<void> {
  const undo = t('Undo');
  const isNew = excluded.some(
    ({ addedLines, before, paths }) =>
      addedLines.length > 0 || paths.some((path) => before[path] !== 'exclude'),
  );
  if ((await showInformation(message, ...(isNew ? [undo] : []))) !== undo) return;
  const changedFiles: string[] = [];
  const restore = async ({ folder, paths, addedLines, before }: Exclusion): Promise<void> => {
    const file = ignoreFileOf(folder);
    const own = readOwnFile(file);
    if (own !== undefined) {
      const restored = withoutLines(own.toString(), addedLines);
      if (restored === undefined) {
        changedFiles.push(file);
        return;
      }
      if (addedLines.length > 0) await writeFile(file, restored);
    }
    await deps.choices.change(folder, (current) => withoutExcluded(current, paths, before));
  };
  // Each folder has its own attempt, so a failure does not stop the next ones.
  for (const exclusion of excluded) await deps.attempt(id, () => restore(exclusion));
  if (changedFiles.length > 0) {
    const message = t(
      'Exclusions weren’t undone in files that have changed since then: {0}.',
      formatList(changedFiles),
    );
    void showInformation(message, openFile(changedFiles[0]));
  }
  await deps.preview.reopen();
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

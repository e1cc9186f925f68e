import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import * as vscode from 'vscode';
import type { ArchiveType } from '../../core/api/schema.ts';
import { AssessmentError, systemCode } from '../../core/errors.ts';
import { makePrivateFolder, moveFile, sweepTemporary } from '../../core/files.ts';
import type { Clock } from '../../core/ports.ts';
import { type Archive, writeArchive } from '../../core/upload/archive/writeArchive.ts';
import type { StepProgress } from '../../core/upload/choose/prepareUpload.ts';
import { visibleLine } from '../../core/visibleText.ts';
import { type Folder, pickFolders } from '../folders.ts';
import { countFiles, formatBytes } from '../formats.ts';
import { byteSteps, withProgress } from '../progress.ts';
import { readAssessmentSettings } from '../settings.ts';
import { showInformation } from '../showMessage.ts';
import { packChecked, type PreparationDeps, type Prepared } from './checkAndPack.ts';
import { describeNotPackaged, describeUploadedSecrets, unreadableIn } from './uploadQuestion.ts';

const t = vscode.l10n.t;

interface SaveDeps extends PreparationDeps {
  readonly workerFile: string;
  readonly savingFolder: string;
}

export async function sweepSaving(folder: string, clock: Clock): Promise<void> {
  try {
    await sweepTemporary(folder, clock.now());
  } catch (error) {
    if (systemCode(error) !== 'ENOENT') throw error;
  }
}

export async function saveArchive(deps: SaveDeps, shownFolders?: readonly Folder[]): Promise<void> {
  const folders = await pickFolders(shownFolders, t('Save Upload Archive to Disk'));
  for (const folder of folders ?? []) {
    const saved = await withProgress(t('Whitebox Assessment'), (onStep, signal) =>
      saveFolder(folder, deps, { onStep, signal }),
    );
    if (saved === undefined) return;
    void showInformation(saved);
  }
}

async function saveFolder(
  folder: Folder,
  deps: SaveDeps,
  progress: StepProgress,
): Promise<string | undefined> {
  const { archiveType: format, maxArchiveBytes: maxBytes } = readAssessmentSettings(folder.uri);
  const temporary = join(deps.savingFolder, `${randomBytes(6).toString('hex')}.part`);
  const discard = (): Promise<void> => rm(temporary, { force: true });
  let path: string | undefined;
  const pack = async ([prepared]: readonly Prepared[]) => {
    path ??= await pickArchiveFile(folder, format);
    if (path === undefined || prepared === undefined) return undefined;
    await makePrivateFolder(deps.savingFolder);
    const { root, files } = prepared.selection;
    const archive = await writeArchive({
      root,
      files,
      format,
      to: temporary,
      maxBytes,
      workerFile: deps.workerFile,
      signal: progress.signal,
      onBytes: byteSteps(progress.onStep, (done, total) => t('packaging {0} of {1}', done, total)),
    });
    return { archive, manifests: [archive.manifest], discard };
  };
  try {
    const result = await packChecked([folder], pack, deps, progress);
    const prepared = result?.prepared[0];
    if (prepared === undefined || result === undefined || path === undefined) return undefined;
    await moveFile(temporary, path);
    return describeSaved(path, result.packed.archive, prepared);
  } finally {
    await discard();
  }
}

async function pickArchiveFile({ uri, name }: Folder, format: ArchiveType): Promise<string | undefined> {
  const file = await vscode.window.showSaveDialog({
    defaultUri: vscode.Uri.joinPath(uri, '..', `${name}.${format === 'zip' ? 'zip' : 'tar.gz'}`),
    title: t('Save Upload Archive to Disk'),
  });
  if (file !== undefined && file.scheme !== 'file')
    throw new AssessmentError('notAFolder', { subject: file.toString() });
  return file?.fsPath;
}

function describeSaved(path: string, archive: Archive, prepared: Prepared): string {
  const size = `${countFiles(archive.manifest.length)}, ${formatBytes(archive.bytes)}`;
  const omitted = archive.omitted.map((file) => file.path);
  return [
    t('Saved {0}: {1}, SHA-256 {2}', visibleLine(path), size, archive.sha256),
    ...describeNotPackaged([...unreadableIn(prepared.selection), ...omitted]),
    ...describeUploadedSecrets(prepared.undecided),
  ].join(' — ');
}

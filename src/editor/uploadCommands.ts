import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import * as vscode from 'vscode';
import { AssessmentError } from '../core/errors.ts';
import { replaceFile } from '../core/files.ts';
import { type Archive, writeArchive } from '../core/upload/archive.ts';
import type { ArchiveType } from '../core/api/schema.ts';
import { pickFolders } from './folders.ts';
import { countFiles, formatBytes } from './formats.ts';
import { type PreparationDeps, prepare, type Prepared, settle } from './preparation.ts';
import { withProgress } from './progress.ts';
import { readAssessmentSettings } from './settings.ts';
import { showInformation } from './showMessage.ts';
import { otherThanShown, type UploadPreview } from './uploadPreview.ts';

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

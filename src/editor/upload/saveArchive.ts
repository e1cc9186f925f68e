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
import { describeSuspicions, packChecked, type PreparationDeps, type Prepared } from './checkAndPack.ts';
import { otherThanShown, type UploadPreview } from './uploadPreview.ts';
import { stayingOut, unreadIn } from './uploadQuestion.ts';

interface SaveDeps extends PreparationDeps {
  readonly workerFile: string;
  readonly savingFolder: string;
  readonly preview: UploadPreview;
  readonly clock: Clock;
}

/** An archive that was saved to a path, and the files that were packed. */
interface Saved {
  readonly to: string;
  readonly archive: Archive;
  readonly prepared: Prepared;
}

/** Removes what interrupted saves left in the folder. */
export async function sweepSaving(folder: string, clock: Clock): Promise<void> {
  try {
    await sweepTemporary(folder, clock.now());
  } catch (error) {
    if (systemCode(error) !== 'ENOENT') throw error;
  }
}

/** Writes the archive that would be uploaded of each folder, given or picked, to a file that a person chooses. */
export async function saveArchive(deps: SaveDeps, given?: readonly Folder[]): Promise<void> {
  const t = vscode.l10n.t;
  const folders = await pickFolders(given, t('Save Upload Archive to Disk'));
  for (const folder of folders ?? []) {
    const saved = await withProgress(t('Whitebox Assessment'), (onStep, signal) =>
      saveFolder(folder, deps, { onStep, signal }),
    );
    if (saved === undefined) return;
    void showInformation(describeSaved(saved, deps.preview));
  }
}

/** Packs a folder, then moves the archive to the file that the person chooses; undefined when they cancel. */
async function saveFolder(
  folder: Folder,
  deps: SaveDeps,
  progress: StepProgress,
): Promise<Saved | undefined> {
  const { archiveType: format, maxArchiveBytes: maxBytes } = readAssessmentSettings(folder.uri);
  const part = join(deps.savingFolder, `${randomBytes(6).toString('hex')}.part`);
  const discard = (): Promise<void> => rm(part, { force: true });
  let to: string | undefined;
  const pack = async ([decided]: readonly Prepared[]) => {
    to ??= await askWhere(folder, format);
    if (to === undefined || decided === undefined) return undefined;
    await makePrivateFolder(deps.savingFolder);
    await sweepSaving(deps.savingFolder, deps.clock);
    const { root, files } = decided.selection;
    const archive = await writeArchive({
      root,
      files,
      format,
      to: part,
      maxBytes,
      workerFile: deps.workerFile,
      signal: progress.signal,
      onBytes: byteSteps(progress.onStep, (done, total) =>
        vscode.l10n.t('packaging {0} of {1}', done, total),
      ),
    });
    return { archive, manifests: [archive.manifest], discard };
  };
  try {
    const ready = await packChecked([folder], pack, deps, progress);
    const prepared = ready?.prepared[0];
    if (prepared === undefined || ready === undefined || to === undefined) return undefined;
    await moveFile(part, to);
    return { to, archive: ready.packed.archive, prepared };
  } finally {
    await discard();
  }
}

async function askWhere({ uri, name }: Folder, format: ArchiveType): Promise<string | undefined> {
  const to = await vscode.window.showSaveDialog({
    defaultUri: vscode.Uri.joinPath(uri, '..', `${name}.${format === 'zip' ? 'zip' : 'tar.gz'}`),
    title: vscode.l10n.t('Save Upload Archive to Disk'),
  });
  if (to !== undefined && to.scheme !== 'file')
    throw new AssessmentError('notAFolder', { subject: to.toString() });
  return to?.fsPath;
}

/** The message after saving: size, files that could not be packed, suspected secrets. */
function describeSaved({ to, archive, prepared }: Saved, preview: UploadPreview): string {
  const t = vscode.l10n.t;
  const size = `${countFiles(archive.manifest.length)}, ${formatBytes(archive.bytes)}`;
  const suspicions = prepared.undecided;
  return [
    t('Saved {0}: {1}, SHA-256 {2}', visibleLine(to), size, archive.sha256),
    ...stayingOut([...unreadIn(prepared.selection), ...archive.omitted.map(({ path }) => path)]),
    ...(suspicions.length === 0
      ? []
      : [`${t('Suspected secrets that would be uploaded:')}\n${describeSuspicions(suspicions)}`]),
    ...otherThanShown([prepared], preview.shown()),
  ].join('. ');
}

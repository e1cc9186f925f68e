import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { AssessmentError, systemCode } from '../../core/errors.ts';
import { makePrivateFolder, moveFile, sweepTemporary } from '../../core/files.ts';
import type { Clock } from '../../core/ports.ts';
import { type Archive, writeArchive } from '../../core/upload/archive/writeArchive.ts';
import { checkPacked, prepareFolders } from '../../core/upload/choose/prepare.ts';
import { visibleLine } from '../../core/visibleText.ts';
import { type Folder, pickFolders } from '../folders.ts';
import { countFiles, formatBytes } from '../formats.ts';
import { byteSteps, withProgress } from '../progress.ts';
import { readAssessmentSettings } from '../settings.ts';
import { showInformation } from '../showMessage.ts';
import { describeSuspicions, decideSecrets, type PreparationDeps, type Prepared } from './preparation.ts';
import { otherThanShown, type UploadPreview } from './uploadPreview.ts';
import { stayingOut, unreadIn } from './uploadQuestion.ts';

/** What saving an archive works with. */
interface SaveDeps extends PreparationDeps {
  /** The packaging worker. */
  readonly workerFile: string;
  /** Our folder for unfinished archives. */
  readonly savingFolder: string;
  readonly preview: UploadPreview;
  readonly clock: Clock;
}

/** A saved archive, and the files that were packed. */
interface Saved {
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
    const prepared = await withProgress(t('Whitebox Assessment'), (onStep, signal) =>
      prepareFolders([folder], deps.steps, { signal, onStep }),
    );
    const decided = await decideSecrets(prepared, deps);
    if (decided === undefined) return;
    const { archiveType } = readAssessmentSettings(folder.uri);
    const ending = archiveType === 'zip' ? 'zip' : 'tar.gz';
    const to = await vscode.window.showSaveDialog({
      defaultUri: vscode.Uri.joinPath(folder.uri, '..', `${folder.name}.${ending}`),
      title: t('Save Upload Archive to Disk'),
    });
    if (to === undefined) return;
    if (to.scheme !== 'file') throw new AssessmentError('notAFolder', { subject: to.toString() });
    await makePrivateFolder(deps.savingFolder);
    await sweepSaving(deps.savingFolder, deps.clock);
    const saved = await pack(decided, to.fsPath, deps);
    if (saved === undefined) return;
    void showInformation(describeSaved(to.fsPath, saved, deps.preview));
  }
}

/** Packs a folder until the packed content is the content that was checked for credentials, then moves the archive to its place; undefined when the person cancels. */
async function pack(
  [folder]: readonly Prepared[],
  to: string,
  deps: SaveDeps,
  packings = 1,
): Promise<Saved | undefined> {
  if (folder === undefined) return undefined;
  const part = join(deps.savingFolder, `${randomBytes(6).toString('hex')}.part`);
  try {
    const { archive, prepared, isAsPacked } = await packAndCheck(folder, part, deps, packings);
    const [packed] = prepared;
    if (isAsPacked && packed !== undefined) {
      await moveFile(part, to);
      return { archive, prepared: packed };
    }
    await rm(part, { force: true });
    const decided = await decideSecrets(prepared, deps);
    return decided === undefined ? undefined : await pack(decided, to, deps, packings + 1);
  } catch (error) {
    await rm(part, { force: true });
    throw error;
  }
}

/** Packs a folder behind a cancellable progress notification, and compares the packed content with the checked content. */
function packAndCheck(prepared: Prepared, to: string, deps: SaveDeps, packings: number) {
  return withProgress(vscode.l10n.t('Whitebox Assessment'), async (onStep, signal) => {
    const { archiveType: format, maxArchiveBytes: maxBytes } = readAssessmentSettings(prepared.folder.uri);
    const { root, files } = prepared.selection;
    const archive = await writeArchive({
      root,
      files,
      format,
      to,
      maxBytes,
      workerFile: deps.workerFile,
      signal,
      onBytes: byteSteps(onStep, (done, total) => vscode.l10n.t('packaging {0} of {1}', done, total)),
    });
    const progress = { signal, onStep, packings };
    return { archive, ...(await checkPacked([prepared], [archive.manifest], deps.steps, progress)) };
  });
}

/** The message after saving: size, files that could not be packed, suspected secrets. */
function describeSaved(to: string, { archive, prepared }: Saved, preview: UploadPreview): string {
  const t = vscode.l10n.t;
  const size = `${countFiles(archive.manifest.length)}, ${formatBytes(archive.bytes)}`;
  const suspicions = prepared.undecided;
  return [
    t('Saved {0}: {1}, SHA-256 {2}', visibleLine(to), size, archive.sha256),
    ...stayingOut([...unreadIn(prepared.selection), ...archive.omitted.map(({ path }) => path)]),
    ...(suspicions.length === 0
      ? []
      : [`${t('Suspected secrets that would be sent:')}\n${describeSuspicions(suspicions)}`]),
    ...otherThanShown([prepared], preview.shown()),
  ].join('. ');
}

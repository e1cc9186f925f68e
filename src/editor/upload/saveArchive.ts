import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { AssessmentError, systemCode } from '../../core/errors.ts';
import { makePrivateFolder, moveFile, sweepTemporary } from '../../core/files.ts';
import { visibleLine } from '../../core/visibleText.ts';
import type { Clock } from '../../core/ports.ts';
import { type Archive, writeArchive } from '../../core/upload/archive/writeArchive.ts';
import { type Folder, pickFolders } from '../folders.ts';
import { countFiles, formatBytes } from '../formats.ts';
import {
  describeSuspicions,
  type PreparationDeps,
  prepare,
  prepareAgain,
  type Prepared,
  settle,
} from './preparation.ts';
import { byteSteps, withProgress } from '../progress.ts';
import { readAssessmentSettings } from '../settings.ts';
import { showInformation } from '../showMessage.ts';
import { otherThanShown, type UploadPreview } from './uploadPreview.ts';
import { stayingOut, unreadIn } from './uploadQuestion.ts';

/** What saving an archive works with. */
interface SaveDeps extends PreparationDeps {
  /** The packaging worker. */
  readonly workerFile: string;
  /** A folder of ours for an archive that is not finished yet. */
  readonly savingFolder: string;
  readonly preview: UploadPreview;
  readonly clock: Clock;
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
      prepare([folder], deps, { signal, onStep }),
    );
    const settled = await settle(prepared, deps);
    if (settled === undefined) return;
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
    const saved = await pack(settled, to.fsPath, deps);
    if (saved === undefined) return;
    void showInformation(describeSaved(to.fsPath, saved, deps.preview));
  }
}

/** An archive that was saved, and what it was made of. */
interface Saved {
  readonly archive: Archive;
  readonly prepared: readonly Prepared[];
}

/** Packs until what was packed is what was looked into for credentials, and only then puts the archive in its place; undefined when the person stops. */
async function pack(
  settled: readonly Prepared[],
  to: string,
  deps: SaveDeps,
  packings = 1,
): Promise<Saved | undefined> {
  const [only] = settled;
  if (only === undefined) return undefined;
  const part = join(deps.savingFolder, `${randomBytes(6).toString('hex')}.part`);
  try {
    const { archive, again } = await packWithProgress(only, part, deps, packings);
    if (again.isAsPacked) {
      await moveFile(part, to);
      return { archive, prepared: again.prepared };
    }
    await rm(part, { force: true });
    const anew = await settle(again.prepared, deps);
    return anew === undefined ? undefined : await pack(anew, to, deps, packings + 1);
  } catch (error) {
    await rm(part, { force: true });
    throw error;
  }
}

/** Packs a folder behind a cancellable progress notification, and compares the archive with what was looked into. */
function packWithProgress(
  prepared: Prepared,
  to: string,
  deps: SaveDeps,
  packings: number,
): Thenable<{ archive: Archive; again: Awaited<ReturnType<typeof prepareAgain>> }> {
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
    const again = await prepareAgain([prepared], [archive.manifest], deps, { signal, onStep, packings });
    return { archive, again };
  });
}

/** What was saved where, what could not be, and what is suspicious in it. */
function describeSaved(to: string, { archive, prepared }: Saved, preview: UploadPreview): string {
  const t = vscode.l10n.t;
  const size = `${countFiles(archive.manifest.length)}, ${formatBytes(archive.bytes)}`;
  const unread = prepared.flatMap(({ selection }) => unreadIn(selection));
  const suspicions = prepared.flatMap(({ undecided }) => undecided);
  return [
    t('Saved {0}: {1}, SHA-256 {2}', visibleLine(to), size, archive.sha256),
    ...stayingOut([...unread, ...archive.omitted.map(({ path }) => path)]),
    ...(suspicions.length === 0
      ? []
      : [`${t('Suspected secrets that would be sent:')}\n${describeSuspicions(suspicions)}`]),
    ...otherThanShown(prepared, preview.shown()),
  ].join('. ');
}

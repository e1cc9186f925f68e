import * as vscode from 'vscode';
import { AssessmentError } from '../../core/errors.ts';
import { isSamePath, pathKey } from '../../core/paths.ts';
import type { Logger } from '../../core/ports.ts';
import type { StartClaim } from '../../core/run/disk/lease.ts';
import type { RunStore } from '../../core/run/disk/runStore.ts';
import type { RunTracker } from '../../core/run/runTracker.ts';
import type { Assessment } from '../../core/run/state/newRun.ts';
import { isFinal, type Run, type Target } from '../../core/run/state/run.ts';
import { inBackground } from '../../core/yieldingWork.ts';
import { type Folder, isInside, repositoryOf, saveDocument } from '../folders.ts';
import { countFiles, formatTime } from '../formats.ts';
import { runStateLabel } from '../runs/runLabels.ts';
import { byteSteps, withProgress } from '../progress.ts';
import { onRun } from '../runs/pickRun.ts';
import { type Destination, readAssessmentSettings, readDestination } from '../settings.ts';
import { askInDialog, showWarning } from '../showMessage.ts';
import { packChecked, type PreparationDeps, type Prepared } from './checkAndPack.ts';
import type { UploadPreview } from './uploadPreview.ts';
import { confirmUpload } from './uploadQuestion.ts';

const t = vscode.l10n.t;

export interface AssessmentDeps extends PreparationDeps {
  readonly tracker: RunTracker;
  readonly runs: RunStore;
  readonly log: Logger;
  readonly preview: Pick<UploadPreview, 'show' | 'close'>;
}

/**
 * Nothing is uploaded before the confirmation (`uploadQuestion`). Its *Include All* leads back to
 * the selection of files, and its *Show Files* ends the start and opens the Upload Preview.
 */
export async function startAssessment(
  folders: readonly Folder[],
  deps: AssessmentDeps,
  retried?: Run,
): Promise<void> {
  const destination = readDestination();
  if (destination === undefined) throw new AssessmentError('notSignedIn');
  // The claim comes before the questions, so that no other window starts a run of these folders.
  const claim = await deps.tracker.claim(folders.map(({ uri }) => pathKey(uri.fsPath)));
  try {
    // Another window may have started a run before the claim.
    await deps.runs.reload();
    if (!(await offerToSave(folders)) || !(await acceptLiveRun(folders, deps.runs))) return;
    await launch({ ...deps, claim }, folders, destination, retried);
  } finally {
    await claim.release();
  }
}

function launch(
  deps: AssessmentDeps & { readonly claim: StartClaim },
  folders: readonly Folder[],
  destination: Destination,
  retried: Run | undefined,
): Thenable<void> {
  return withProgress(t('Whitebox Assessment'), async (onStep, signal) => {
    const options = {
      signal,
      onPackaging: byteSteps(onStep, (done, total) => t('packaging {0} of {1}', done, total)),
      onUploading: byteSteps(onStep, (done, total) => t('uploading {0} of {1}', done, total)),
    };
    const pack = async (prepared: readonly Prepared[]) =>
      deps.tracker.pack(await toAssessment(prepared, destination), options);
    for (;;) {
      const result = await packChecked(folders, pack, deps, { signal, onStep });
      if (result === undefined) return;
      const { packed, prepared } = result;
      try {
        onStep(t('waiting for your confirmation'));
        const answer = await confirmUpload(packed, prepared, deps, retried);
        if (answer === 'prepareAgain') continue;
        if (answer === undefined) return;
        // While the machine slept, another window may have claimed the folders.
        deps.claim.lost.throwIfAborted();
        const run = await deps.tracker.startPacked(packed, options);
        // A start request is not aborted, so the run may have started although the user canceled.
        if (signal.aborted && run?.state === 'running') offerToCancel(run, deps.log);
        return;
      } finally {
        await packed.discard();
      }
    }
  });
}

export function offerToCancel(run: Run, log: Logger): void {
  const cancel = onRun(run, t('Cancel Run…'), 'whitebox.cancelRun');
  inBackground(showWarning(t('The run started before you canceled.'), cancel), log);
}

async function toAssessment(prepared: readonly Prepared[], destination: Destination): Promise<Assessment> {
  const toTarget = async ({ folder, selection }: Prepared) => {
    const commit = await readCommit(folder.uri);
    const { archiveType } = readAssessmentSettings(folder.uri);
    return {
      folder: folder.uri.fsPath,
      name: folder.name,
      files: { selection, archiveType },
      ...(commit === undefined ? {} : { commit }),
    };
  };
  const targets = await Promise.all(prepared.map(toTarget));
  const { language, webhookEndpointIds, maxArchiveBytes } = readAssessmentSettings(prepared[0]?.folder.uri);
  const shared = { language, webhookEndpointIds, maxArchiveBytes };
  return { workflow: 'whitebox-assessment', ...destination, ...shared, targets };
}

async function offerToSave(folders: readonly Folder[]): Promise<boolean> {
  const unsaved = [...vscode.workspace.textDocuments, ...vscode.workspace.notebookDocuments].filter(
    (document) => document.isDirty && folders.some(({ uri }) => isInside(document.uri, uri)),
  );
  if (unsaved.length === 0) return true;
  const question = t(
    'There are unsaved changes in {0}. Only saved content is uploaded.',
    countFiles(unsaved.length),
  );
  const save = t('Save and Continue');
  const goOn = t('Continue Without Saving');
  const choice = await askInDialog({ question }, save, goOn);
  if (choice === save) {
    // Stops if a document can't be saved: its changes would not be uploaded.
    for (const document of unsaved) if (!(await saveDocument(document))) return false;
  }
  return choice !== undefined;
}

async function acceptLiveRun(folders: readonly Folder[], runs: RunStore): Promise<boolean> {
  const isOfFolders = ({ targets }: Run): boolean =>
    targets.some(({ folder }) => folders.some(({ uri }) => isSamePath(uri.fsPath, folder)));
  const live = runs
    .all()
    .find((run) => !isFinal(run) && run.workflow === 'whitebox-assessment' && isOfFolders(run));
  if (live === undefined) return true;
  const question = t('A run for this folder is already in progress.');
  const detail = t(
    'Created: {0}. State: {1}. Another run spends credits again.',
    formatTime(live.createdAt),
    runStateLabel(live),
  );
  const another = t('Start Another Run');
  return (await askInDialog({ question, detail }, another)) === another;
}

async function readCommit(folder: vscode.Uri): Promise<Target['commit']> {
  const state = (await repositoryOf(folder))?.state;
  const id = state?.HEAD?.commit;
  if (state === undefined || id === undefined) return undefined;
  const { workingTreeChanges, indexChanges, mergeChanges, untrackedChanges = [] } = state;
  const changes = [workingTreeChanges, indexChanges, mergeChanges, untrackedChanges];
  return { id, dirty: changes.some((list) => list.length > 0) };
}

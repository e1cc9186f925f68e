import * as vscode from 'vscode';
import { AssessmentError } from '../../core/errors.ts';
import { readSentFiles, type SentFile } from '../../core/findings/place/sentFiles.ts';
import type { Clock, Logger } from '../../core/ports.ts';
import { pathInside } from '../../core/files.ts';
import type { FolderClaim } from '../../core/run/start/start.ts';
import type { Assessment } from '../../core/run/start/inputFiles.ts';
import { isFinal, type Run, type Target } from '../../core/run/state/run.ts';
import type { RunStore } from '../../core/run/disk/runStore.ts';
import type { RunTracker } from '../../core/run/runTracker.ts';
import { type Folder, isInside } from '../folders.ts';
import { countFiles, formatTime } from '../formats.ts';
import { stateLabel } from '../labels.ts';
import { type PreparationDeps, prepare, prepareAgain, type Prepared, settle } from './preparation.ts';
import { acceptForgetting } from '../runs/lostRuns.ts';
import { toRunNode } from '../runs/pickRun.ts';
import { byteSteps, withProgress } from '../progress.ts';
import { type Destination, readAssessmentSettings, readDestination } from '../settings.ts';
import { askInDialog, showWarning } from '../showMessage.ts';
import type { UploadPreview } from './uploadPreview.ts';
import { confirmUpload } from './uploadQuestion.ts';

/** What starting an assessment works with. */
export interface StartDeps extends PreparationDeps {
  readonly tracker: RunTracker;
  readonly runs: RunStore;
  readonly clock: Clock;
  readonly log: Logger;
  /** Shows what would be sent, file by file, and may show so already. */
  readonly preview: Pick<UploadPreview, 'show' | 'shown' | 'close'>;
}

/** The main job: package folders, those of the run that is tried again if one is, show what would leave the machine, ask, upload, start. Undefined when the person stops before anything was sent. */
export async function startAssessment(
  { folders, retryOf }: { readonly folders: readonly Folder[]; readonly retryOf?: Run | undefined },
  deps: StartDeps,
): Promise<Run | undefined> {
  const destination = readDestination();
  if (destination === undefined) throw new AssessmentError('notSignedIn');
  await deps.runs.reload();
  const mayBeForgotten = deps.runs.isTemporary;
  if (mayBeForgotten && !(await acceptForgetting(deps.runs))) return undefined;
  // Before the questions: what another window starts meanwhile must not be asked about twice.
  const claim = await deps.tracker.claim(folders.map(({ uri }) => uri.fsPath));
  try {
    // What another window has started since this one last looked counts, too.
    await deps.runs.reload();
    return (await offerToSave(folders)) && (await acceptLiveRun(folders, deps.runs))
      ? await launchWithProgress(deps, folders, destination, { retryOf, mayBeForgotten, claim })
      : undefined;
  } finally {
    await claim.release();
  }
}

function launchWithProgress(
  deps: StartDeps,
  folders: readonly Folder[],
  destination: Destination,
  { retryOf, ...options }: { retryOf: Run | undefined; mayBeForgotten: boolean; claim: FolderClaim },
): Thenable<Run | undefined> {
  const t = vscode.l10n.t;
  return withProgress(t('Whitebox Assessment'), async (onStep, signal) => {
    const launch = async (prepared: readonly Prepared[], time = 1): Promise<Run | undefined> => {
      onStep(t('waiting for your confirmation'));
      const decided = await settle(prepared, deps);
      if (decided === undefined) return undefined;
      const assessment = { ...(await toAssessment(decided, destination)), retryOf: retryOf?.id };
      let changed: readonly Prepared[] | undefined;
      const run = await deps.tracker.start(assessment, {
        ...options,
        signal,
        onPackaging: byteSteps(onStep, (done, total) => t('packaging {0} of {1}', done, total)),
        onUploading: byteSteps(onStep, (done, total) => t('uploading {0} of {1}', done, total)),
        confirmUpload: async (run) => {
          const packed = await readPacked(run, deps.runs);
          const again = await prepareAgain(decided, packed, deps, { signal, onStep, packings: time });
          if (!again.isAsPacked) {
            changed = again.prepared;
            return false;
          }
          onStep(t('waiting for your confirmation'));
          return confirmUpload(run, assessment, again.prepared, deps, retryOf);
        },
      });
      // A file was packed with another content than was looked into, or may not go along as it is now; or another may, by a decision made meanwhile.
      return changed === undefined ? run : launch(changed, time + 1);
    };
    const run = await launch(await prepare(folders, deps, { signal, onStep }));
    // A dispatch under way is not torn off: whoever cancelled meanwhile learns that it was too late for nothing to happen.
    if (signal.aborted && run?.state === 'running') offerToCancel(run, deps.log);
    return run;
  });
}

/** What stands in each archive of a run. */
async function readPacked(run: Run, runs: RunStore): Promise<SentFile[][]> {
  const packed: SentFile[][] = [];
  for (const [index, { folder }] of run.targets.entries()) {
    const sent = await readSentFiles(runs.folderOf(run.id), index);
    if (sent === undefined) throw new AssessmentError('storage', { subject: folder });
    packed.push([...sent.values()]);
  }
  return packed;
}

function offerToCancel(run: Run, log: Logger): void {
  const cancel = vscode.l10n.t('Cancel Run…');
  showWarning(vscode.l10n.t('The run had started already.'), cancel).then(
    (choice) => {
      if (choice === cancel) void vscode.commands.executeCommand('whitebox.cancelRun', toRunNode(run));
    },
    (error: unknown) => log.error(String(error)),
  );
}

async function toAssessment(prepared: readonly Prepared[], destination: Destination): Promise<Assessment> {
  const targets = [];
  for (const { folder, selection } of prepared) {
    const commit = await readCommit(folder.uri);
    const { archiveType } = readAssessmentSettings(folder.uri);
    targets.push({
      archiveType,
      folder: folder.uri.fsPath,
      name: folder.name,
      selection,
      ...(commit === undefined ? {} : { commit }),
    });
  }
  const { language, webhookEndpointIds, maxArchiveBytes } = readAssessmentSettings(prepared[0]?.folder.uri);
  return {
    workflow: 'whitebox-assessment',
    ...destination,
    language,
    webhookEndpointIds,
    maxArchiveBytes,
    targets,
  };
}

/** What is on disk is what is sent: unsaved changes would silently stay out. */
async function offerToSave(folders: readonly Folder[]): Promise<boolean> {
  const t = vscode.l10n.t;
  const unsaved = [...vscode.workspace.textDocuments, ...vscode.workspace.notebookDocuments].filter(
    (document) => document.isDirty && folders.some(({ uri }) => isInside(document.uri, uri)),
  );
  if (unsaved.length === 0) return true;
  const question = t(
    'There are unsaved changes in {0}. Only what is saved is uploaded.',
    countFiles(unsaved.length),
  );
  const save = t('Save and Continue');
  const without = t('Continue Without Saving');
  const choice = await askInDialog({ question }, save, without);
  if (choice === save) {
    // What could not be saved would silently stay out.
    for (const document of unsaved) if (!(await document.save())) return false;
  }
  return choice !== undefined;
}

async function acceptLiveRun(folders: readonly Folder[], runs: RunStore): Promise<boolean> {
  const t = vscode.l10n.t;
  const live = runs
    .all()
    .find(
      (run) =>
        !isFinal(run) &&
        run.targets.some((target) => folders.some(({ uri }) => pathInside(uri.fsPath, target.folder) === '')),
    );
  if (live === undefined) return true;
  const another = t('Start Another Run');
  const choice = await askInDialog(
    {
      question: t('This folder has a run already.'),
      detail: t(
        'Created {0}; state: {1}. Another run spends credits again.',
        formatTime(live.createdAt),
        stateLabel(live),
      ),
    },
    another,
  );
  return choice === another;
}

/** The part of the API of VS Code's own git extension (`vscode.git`, version 1) that is used here. */
interface GitApi {
  getRepository(uri: vscode.Uri): {
    readonly state: {
      readonly HEAD?: { readonly commit?: string };
      readonly workingTreeChanges: readonly unknown[];
      readonly indexChanges: readonly unknown[];
      readonly mergeChanges: readonly unknown[];
      readonly untrackedChanges?: readonly unknown[];
    };
  } | null;
}

/** The commit a folder stands on and whether it has changes, as VS Code's own git extension already knows; undefined when it does not. */
export async function readCommit(folder: vscode.Uri): Promise<Target['commit']> {
  const git = vscode.extensions.getExtension<{ getAPI(version: 1): GitApi; readonly enabled: boolean }>(
    'vscode.git',
  );
  if (git === undefined) return undefined;
  const exports = await git.activate();
  if (!exports.enabled) return undefined;
  const state = exports.getAPI(1).getRepository(folder)?.state;
  const id = state?.HEAD?.commit;
  if (state === undefined || id === undefined) return undefined;
  const { workingTreeChanges, indexChanges, mergeChanges, untrackedChanges = [] } = state;
  const changes = [workingTreeChanges, indexChanges, mergeChanges, untrackedChanges];
  return { id, dirty: changes.some((list) => list.length > 0) };
}

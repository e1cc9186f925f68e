import * as vscode from 'vscode';
import { originOf } from '../../core/api/address.ts';
import { AssessmentError } from '../../core/errors.ts';
import type { RunStore } from '../../core/run/disk/runStore.ts';
import type { RunTracker } from '../../core/run/runTracker.ts';
import { type Run, titleOf } from '../../core/run/state/run.ts';
import { formatTime } from '../formats.ts';
import { nameOf } from '../labels.ts';
import { withViewProgress } from '../progress.ts';
import { type Destination, readAssessmentSettings, readDestination } from '../settings.ts';
import { showInformation } from '../showMessage.ts';
import { focusView } from '../../lazyView.ts';

/** What commands on runs work with. */
export interface RunDeps {
  readonly runs: RunStore;
  readonly tracker: RunTracker;
}

/** Asks for a run ID and watches that run: one that was started elsewhere, or whose start is unconfirmed. */
export async function trackRun({ runs, tracker }: RunDeps): Promise<void> {
  const folders = vscode.workspace.workspaceFolders ?? [];
  if (folders.length === 0) throw new AssessmentError('noFolder');
  const destination = readDestination();
  if (destination === undefined) throw new AssessmentError('notSignedIn');
  const start = await pickStart(runs, destination);
  if (start === undefined) return;
  if (start !== 'elsewhere') return giveRunId({ tracker }, start);
  const runId = await askRunId();
  if (runId === undefined) return;
  const folder =
    folders.length === 1
      ? folders[0]
      : await vscode.window.showWorkspaceFolderPick({
          placeHolder: vscode.l10n.t('Which folder was assessed?'),
        });
  if (folder === undefined) return;
  const { language } = readAssessmentSettings(folder.uri);
  const tracked = {
    workflow: 'whitebox-assessment' as const,
    ...destination,
    language,
    runId,
    targets: [{ folder: folder.uri.fsPath, name: folder.name }],
  };
  const listed = runs.all().map(({ id }) => id);
  const run = await withViewProgress(() => tracker.track(tracked));
  await focusView('runs');
  if (listed.includes(run.id))
    void showInformation(vscode.l10n.t('Run {0} is in the list already: {1}.', runId, nameOf(run)));
}

/** Asks for the run ID of an unconfirmed start, and watches that run. */
export async function giveRunId({ tracker }: Pick<RunDeps, 'tracker'>, run: Run | undefined): Promise<void> {
  // The run may have changed since the notification that offered this was shown.
  if (run?.state !== 'unknown') return;
  const runId = await askRunId();
  if (runId !== undefined) await withViewProgress(() => tracker.giveRunId(run.id, runId));
}

/** Asks which unconfirmed start of this account the ID belongs to. If the ID were listed as a second run, giving up the start would delete the source that the run uses. */
async function pickStart(runs: RunStore, account: Destination): Promise<Run | 'elsewhere' | undefined> {
  const t = vscode.l10n.t;
  const starts = runs.all().filter((run) => run.state === 'unknown' && isOfAccount(run, account));
  if (starts.length === 0) return 'elsewhere';
  const items = [
    ...starts.map((run) => ({
      label: t('The unconfirmed start of {0}', titleOf(run)),
      description: formatTime(run.createdAt),
      start: run,
    })),
    { label: t('A run that is not in the list'), start: 'elsewhere' as const },
  ];
  const title = t('Which Run Is the ID Of?');
  return (await vscode.window.showQuickPick(items, { title, ignoreFocusOut: true }))?.start;
}

function isOfAccount(run: Destination, account: Destination): boolean {
  return originOf(run.baseUrl) === originOf(account.baseUrl) && run.organizationId === account.organizationId;
}

async function askRunId(): Promise<string | undefined> {
  const t = vscode.l10n.t;
  const runId = await vscode.window.showInputBox({
    title: t('Track Existing Run by ID'),
    prompt: t(
      'The run ID is in the webhook delivery, or the vendor can tell it: the service has no list of runs.',
    ),
    ignoreFocusOut: true,
    validateInput: (text) =>
      text.trim() === '' || text.trim().length > 256 ? t('A run ID has 1 to 256 characters.') : undefined,
  });
  return runId?.trim();
}

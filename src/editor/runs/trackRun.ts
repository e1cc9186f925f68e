import * as vscode from 'vscode';
import { AssessmentError } from '../../core/errors.ts';
import type { FindingStore } from '../../core/findings/findingStore.ts';
import type { ShownFinding } from '../../core/findings/shownFinding.ts';
import type { Logger } from '../../core/ports.ts';
import { createFinder } from '../../core/findings/identity.ts';
import type { RunStore } from '../../core/run/disk/runStore.ts';
import type { RunTracker } from '../../core/run/runTracker.ts';
import { accountHash, isReferredTo, readLink, readPasted, type RunReference } from './runLink.ts';
import { type Run, runIdOf } from '../../core/run/state/run.ts';
import { type WorkflowId, workflowIds } from '../../core/workflows/workflow.ts';
import { type Attempt, openSetting, showRunsAction } from '../errors/errorActions.ts';
import { readRun } from '../findings/findingArguments.ts';
import { pickFolder } from '../folders.ts';
import { formatAccount, formatTime } from '../formats.ts';
import { nameOf, workflowLabel, workflowTitle } from './runLabels.ts';
import { withViewProgress } from '../progress.ts';
import type { DocumentPanels } from '../report/documentPanels.ts';
import { type Destination, readAssessmentSettings, readDestination } from '../settings.ts';
import { askInDialog, showInformation } from '../showMessage.ts';
import { focusView } from '../../lazyView.ts';

const t = vscode.l10n.t;

export interface TrackDeps {
  readonly runs: RunStore;
  readonly tracker: RunTracker;
}

/** Tracks a run that was started elsewhere or whose start is unconfirmed. */
export async function trackRun({ runs, tracker }: TrackDeps, link?: RunReference): Promise<void> {
  if ((vscode.workspace.workspaceFolders ?? []).length === 0) throw new AssessmentError('noFolder');
  const destination = readDestination();
  if (destination === undefined) throw new AssessmentError('notSignedIn');
  const start = await pickStart(runs, destination);
  if (start === undefined) return;
  if (start !== 'elsewhere') return giveRunId({ tracker }, start, link);
  const reference = link ?? (await askRun(destination, t('Track Existing Run by ID')));
  if (reference === undefined) return;
  const { run: runId } = reference;
  const known = runs.all().find((run) => runIdOf(run) === runId);
  const workflow = reference.workflow ?? known?.workflow ?? (await pickWorkflow());
  if (workflow === undefined) return;
  const folder = await pickFolder(t('Which folder was assessed?'));
  if (folder === undefined) return;
  const { language } = readAssessmentSettings(folder.uri);
  const targets = [{ folder: folder.uri.fsPath, name: folder.name }];
  const listedIds = runs.all().map(({ id }) => id);
  const run = await withViewProgress(() =>
    tracker.track({ workflow, ...destination, language, runId, targets }),
  );
  await focusView('runs');
  if (listedIds.includes(run.id))
    void showInformation(t('Run {0} is already in the Runs view: {1}.', runId, nameOf(run)));
}

export async function giveRunId(
  { tracker }: Pick<TrackDeps, 'tracker'>,
  run: Run | undefined,
  link?: RunReference,
): Promise<void> {
  // The run may have changed since the notification was shown.
  if (run?.state !== 'unknown') return;
  const reference = link ?? (await askRun(run, t('Enter Run ID')));
  if (reference !== undefined) await withViewProgress(() => tracker.giveRunId(run.id, reference.run));
}

/**
 * Asks whether the run ID belongs to an unconfirmed start. If one run had two entries, the end of
 * one entry could delete the source that the other still needs.
 */
async function pickStart(runs: RunStore, account: Destination): Promise<Run | 'elsewhere' | undefined> {
  const hash = accountHash(account);
  const starts = runs.all().filter((run) => run.state === 'unknown' && accountHash(run) === hash);
  if (starts.length === 0) return 'elsewhere';
  const items = [
    ...starts.map((run) => ({
      label: t('Unconfirmed start of the {0}', workflowTitle(run)),
      description: formatTime(run.createdAt),
      start: run,
    })),
    { label: t('A run that isn’t in the Runs view'), start: 'elsewhere' as const },
  ];
  const title = t('Which Run Does the ID Belong To?');
  return (await vscode.window.showQuickPick(items, { title, ignoreFocusOut: true }))?.start;
}

/** The path of every request about a run contains the run's workflow. */
async function pickWorkflow(): Promise<WorkflowId | undefined> {
  const items = workflowIds.map((workflow) => ({ label: workflowLabel(workflow), workflow }));
  const title = t('What Type of Run Is It?');
  return (await vscode.window.showQuickPick(items, { title, ignoreFocusOut: true }))?.workflow;
}

type EnteredRun = Omit<RunReference, 'workflow'> & Partial<RunReference>;

async function askRun(account: Destination, title: string): Promise<EnteredRun | undefined> {
  const text = await vscode.window.showInputBox({
    title,
    prompt: t(
      'Find the run ID in the webhook delivery, or ask your service provider. The service has no list of runs. You can also enter a link to the run or the body of the webhook.',
    ),
    ignoreFocusOut: true,
    validateInput: (typed) => {
      const reference = toReference(typed);
      if (reference === undefined)
        return t('Enter a run ID of 1 to 256 characters, a link to a run, or the body of a webhook.');
      return isForeign(reference, account) ? foreignLinkLabel(account) : undefined;
    },
  });
  return text === undefined ? undefined : toReference(text);
}

/** Text that looks like JSON or contains a URL is never a run ID, even if it can't be read. */
function toReference(text: string): EnteredRun | undefined {
  const runId = text.trim();
  if (/^[{[]|:\/\//.test(runId)) return readPasted(runId);
  const isId = runId !== '' && runId.length <= 256;
  return isId ? { run: runId } : undefined;
}

function isForeign({ at }: EnteredRun, account: Destination): boolean {
  return at !== undefined && at !== accountHash(account);
}

function foreignLinkLabel(account: Destination): string {
  return t(
    'This link is for a different service or organization than yours ({0}). Ask the sender which one it is for.',
    formatAccount(account),
  );
}

interface LinkDeps extends TrackDeps {
  readonly attempt: Attempt;
  readonly log: Logger;
  readonly findings: FindingStore;
  readonly details: Pick<DocumentPanels<ShownFinding>, 'open'>;
}

/**
 * Follows one link at a time. Anybody can write a link, so following it only shows local data or
 * asks the user.
 */
export function createLinkFollower(deps: LinkDeps): (uri: vscode.Uri) => Promise<void> {
  let isFollowing = false;
  return async ({ path, query }) => {
    if (isFollowing) {
      deps.log.warn('A link was not followed, because a previous link still waits for an answer.');
      return;
    }
    isFollowing = true;
    try {
      await deps.attempt('link', () => followLink(readLink(path, query), deps));
    } finally {
      isFollowing = false;
    }
  };
}

async function followLink(reference: RunReference | undefined, deps: LinkDeps): Promise<void> {
  if (reference === undefined) {
    void showInformation(t('This version of the extension doesn’t support this link.'));
    return;
  }
  await deps.runs.reload();
  const known = deps.runs.all().filter((run) => isReferredTo(run, reference));
  if (known.length > 0) return openKnown(known, reference, deps);
  const destination = readDestination();
  if (destination === undefined) throw new AssessmentError('notSignedIn');
  if (isForeign(reference, destination)) {
    const settings = openSetting('whitebox.organizationId');
    void showInformation(foreignLinkLabel(destination), settings);
    return;
  }
  if (!vscode.workspace.isTrusted) throw new AssessmentError('restricted');
  const track = t('Track Run');
  const question = t('Track this run?');
  const detail = [
    t('The link is for run {0}, which isn’t in the Runs view.', reference.run),
    t(
      'VS Code gets the state of the run from {0}. Tracking starts nothing and spends no credits.',
      formatAccount(destination),
    ),
  ];
  if ((await askInDialog({ question, detail }, track)) === track) await trackRun(deps, reference);
}

async function openKnown(
  known: readonly Run[],
  { finding, file = '', index, print = '' }: RunReference,
  { findings, details }: LinkDeps,
): Promise<void> {
  const [run] = known;
  if (run === undefined) return;
  if (finding === undefined) {
    await focusView('runs');
    void showInformation(t('The run in this link is already in the Runs view: {0}.', nameOf(run)));
    return;
  }
  for (const candidate of known) {
    const { shown } = await readRun(candidate, findings);
    const named = { name: finding, file, index: Number(index), fingerprint: print };
    const linked = createFinder(shown, [named])(named);
    if (linked === undefined) continue;
    details.open(linked);
    return;
  }
  const message = t(
    'The run in this link is in the Runs view ({0}), but VS Code can’t find the finding.',
    nameOf(run),
  );
  void showInformation(message, showRunsAction());
}

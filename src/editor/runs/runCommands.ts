import * as vscode from 'vscode';
import type { Clock, Logger } from '../../core/ports.ts';
import { isLive, maxLabelLength, type Run } from '../../core/run/state/run.ts';
import { visibleLine } from '../../core/visibleText.ts';
import type { EnteredPasswords } from '../../core/workflows/passwordStore.ts';
import { inBackground } from '../../core/yieldingWork.ts';
import { isReopened } from '../blackbox/exactRequest.ts';
import { askForPasswords, type PasswordDeps } from '../blackbox/passwords.ts';
import { showRunsAction } from '../errors/errorActions.ts';
import { describeTrouble } from '../errors/errorMessages.ts';
import { formatTime, moreLabel } from '../formats.ts';
import { lostAnswerLabel, titleOf, workflowTitle } from './runLabels.ts';
import { withProgress, withViewProgress } from '../progress.ts';
import { askInDialog, showInformation, showWarning } from '../showMessage.ts';
import { losesSource } from './removeRuns.ts';
import { statusLines } from './runStatus.ts';
import { giveRunId, type TrackDeps } from './trackRun.ts';

const t = vscode.l10n.t;

/** The end of a run isn't reported here, because it has a notification. */
export async function checkRuns(
  deps: TrackDeps & { readonly clock: Clock; readonly log: Logger },
): Promise<void> {
  const { runs, tracker, log } = deps;
  await runs.reload();
  if (!runs.all().some(isLive)) {
    void showInformation(t('There are no runs in progress to check.'));
    return;
  }
  await withViewProgress(() => tracker.checkNow());
  const live = runs.all().filter(isLive);
  const failing = live.find(({ trouble }) => trouble !== undefined);
  const run = failing ?? live[0];
  if (run === undefined) return;
  const more = live.length === 1 ? [] : [moreLabel(live.length - 1)];
  const message = [...statusLines(run, deps), ...more].join(' · ');
  const actions = run.trouble === undefined ? [] : describeTrouble(run.trouble, run).actions;
  const show = run.trouble === undefined ? showInformation : showWarning;
  inBackground(show(message, ...actions, showRunsAction()), log);
}

type Tracking = Pick<TrackDeps, 'tracker'>;

export async function cancelRun(run: Run, { tracker }: Tracking): Promise<void> {
  const yes = t('Cancel Run');
  const detail = [
    t(
      'Your service provider decides whether spent credits are refunded. The run stays “canceling” until the service reports that the run has ended.',
    ),
    run.workflow !== 'whitebox-assessment' &&
      t(
        'A canceled run probably can’t be continued. To stop a run and continue it later, use a credit limit.',
      ),
  ];
  const question = t('Cancel the {0}?', workflowTitle(run));
  const choice = await askInDialog({ question, detail, dismiss: t('Keep Running') }, yes);
  if (choice === yes) await withViewProgress(() => tracker.cancel(run.id));
}

export async function resend(run: Run, deps: Tracking & PasswordDeps): Promise<void> {
  const { tracker, passwords } = deps;
  // The run may have changed since the notification was shown.
  if (run.state !== 'unknown') return;
  const enterId = t('Enter Run ID…');
  const again = t('Send Again');
  const stop = t('Stop Watching');
  const choice = await askInDialog(
    {
      question: t('Start the {0} again?', workflowTitle(run)),
      detail: [
        t(
          'The first start request was sent on {0}. {1}',
          formatTime(run.intendedAt),
          lostAnswerLabel(run.reason),
        ),
        [
          t('If the service accepted that request, a second run starts and spends credits again.'),
          run.workflow === 'whitebox-assessment'
            ? t('The run uses the source that is already uploaded.')
            : t('VS Code sends the same request, with its saved passwords.'),
        ].join(' '),
        [
          losesSource(run)
            ? t(
                'If you stop watching, VS Code no longer checks this run, and its uploaded source is deleted from the service.',
              )
            : t('If you stop watching, VS Code no longer checks this run.'),
          t('If the service accepted the start request, the run continues and spends credits.'),
        ].join(' '),
      ],
    },
    enterId,
    again,
    stop,
  );
  if (choice === again) {
    // A password may have been deleted since the first start request.
    const entered: EnteredPasswords = new Map();
    const outcome = await askForPasswords(run, entered, deps);
    if (outcome === 'readingChanges' && (await isReopened(outcome))) return resend(run, deps);
    if (outcome === 'complete') {
      await passwords.approve(run, entered);
      await withProgress(t('Starting the {0} again…', workflowTitle(run)), (_onStep, signal) =>
        tracker.resend(run.id, signal),
      );
    }
  }
  if (choice === enterId) await giveRunId({ tracker }, run);
  if (choice === stop) await withViewProgress(() => tracker.abandon(run.id));
}

export async function downloadArtifacts(run: Run, { tracker }: Tracking): Promise<void> {
  await withProgress(t('Downloading the results…'), (_onStep, signal) =>
    tracker.downloadAgain(run.id, signal),
  );
  void showInformation(t('The results of {0} were downloaded.', titleOf(run)));
}

export async function stopWatching(run: Run, { tracker }: Tracking): Promise<void> {
  if (!isLive(run)) return;
  const yes = t('Stop Watching');
  const detail = [
    run.state === 'collecting'
      ? t(
          'Results that couldn’t be downloaded will be missing. While the service keeps the results, you can use “Download Results Again”.',
        )
      : t(
          'VS Code will no longer check this run. If the run is still in progress on the service, it continues. You can track the run again by its run ID: {0}',
          visibleLine(run.runId),
        ),
    losesSource(run) && t('The uploaded source is deleted from the service.'),
  ];
  const question = t('Stop watching the {0}?', workflowTitle(run));
  const choice = await askInDialog({ question, detail }, yes);
  if (choice === yes) await withViewProgress(() => tracker.stopWatching(run.id));
}

export async function renameRun(run: Run, { tracker }: Tracking): Promise<void> {
  const label = await vscode.window.showInputBox({
    title: t('Rename Run'),
    prompt: t('A name for this run, shown only on this machine. Leave empty for no name.'),
    value: run.label ?? '',
    validateInput: (text) =>
      text.trim().length > maxLabelLength ? t('At most {0} characters.', maxLabelLength) : undefined,
  });
  if (label !== undefined) await tracker.rename(run.id, label);
}

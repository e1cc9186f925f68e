import * as vscode from 'vscode';
import { isLive, maxLabelLength, type Run } from '../../core/run/state/run.ts';
import { visibleLine } from '../../core/visibleText.ts';
import type { EnteredPasswords, PasswordStore } from '../../core/workflows/passwordStore.ts';
import { focusView } from '../../lazyView.ts';
import { askForPasswords } from '../blackbox/passwords.ts';
import { formatTime } from '../formats.ts';
import { lostAnswerLabel, titleOf, workflowTitle } from './runLabels.ts';
import { withProgress, withViewProgress } from '../progress.ts';
import { askInDialog, showInformation } from '../showMessage.ts';
import { losesSource } from './removeRuns.ts';
import { giveRunId, type RunDeps } from './trackRun.ts';

const t = vscode.l10n.t;

/** Checks all runs in progress, and shows them in the Runs view. The end of a run has a notification of its own. */
export async function checkRuns({ runs, tracker }: RunDeps): Promise<void> {
  await runs.reload();
  if (!runs.all().some(isLive)) {
    void showInformation(t('There are no runs in progress to check.'));
    return;
  }
  await focusView('runs');
  await withViewProgress(() => tracker.checkNow());
}

type Tracking = Pick<RunDeps, 'tracker'>;

export async function cancelRun({ tracker }: Tracking, run: Run): Promise<void> {
  const yes = t('Cancel Run');
  const detail = [
    t(
      'Credits already spent aren’t refunded. The run stays “canceling” until the service reports that it has ended.',
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

/** A person resolves an `unknown` run: enters its run ID, sends the dispatch again (which may cost twice), or stops watching. */
export async function resend(
  { tracker, passwords }: Tracking & { readonly passwords: PasswordStore },
  run: Run,
): Promise<void> {
  // The run may have changed since the notification that offered this was shown.
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
            : t('The same request is sent, with its saved passwords.'),
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
    // A password may have been deleted since.
    const entered: EnteredPasswords = new Map();
    if (await askForPasswords(run, entered, passwords)) {
      await passwords.approve(run, entered);
      await withProgress(t('Starting the {0} again…', workflowTitle(run)), (_onStep, signal) =>
        tracker.resend(run.id, signal),
      );
    }
  }
  if (choice === enterId) await giveRunId({ tracker }, run);
  if (choice === stop) await withViewProgress(() => tracker.abandon(run.id));
}

export async function downloadArtifacts({ tracker }: Tracking, run: Run): Promise<void> {
  await withProgress(t('Downloading the results…'), (_onStep, signal) =>
    tracker.downloadAgain(run.id, signal),
  );
  void showInformation(t('The results of {0} were downloaded.', titleOf(run)));
}

export async function stopWatching({ tracker }: Tracking, run: Run): Promise<void> {
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

export async function renameRun({ tracker }: Tracking, run: Run): Promise<void> {
  const label = await vscode.window.showInputBox({
    title: t('Rename Run'),
    prompt: t('A name for this run, shown only on this machine. Leave empty for no name.'),
    value: run.label ?? '',
    validateInput: (text) =>
      text.trim().length > maxLabelLength ? t('At most {0} characters.', maxLabelLength) : undefined,
  });
  if (label !== undefined) await tracker.rename(run.id, label);
}

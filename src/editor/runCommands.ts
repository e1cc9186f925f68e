import * as vscode from 'vscode';
import type { AssessmentError } from '../core/errors.ts';
import { isFinal, type Run, type Target, titleOf } from '../core/run/run.ts';
import type { RunNotes } from '../core/run/runNotes.ts';
import type { RunStore } from '../core/run/runStore.ts';
import type { RunTracker } from '../core/run/runTracker.ts';
import { formatTime } from './formats.ts';
import { lostAnswerLabel } from './labels.ts';
import { acceptForgetting } from './lostRuns.ts';
import { pickRun } from './pickRun.ts';
import { describeError } from './messages.ts';
import { withProgress } from './progress.ts';
import { doRemedy } from './remedies.ts';
import { readDeleteSourceAfterRun } from './settings.ts';
import { askInDialog, showInformation, showWarning } from './showMessage.ts';
import { giveRunId } from './trackRun.ts';

/** What commands on runs work on. */
interface RunCommandDeps {
  readonly runs: RunStore;
  readonly tracker: RunTracker;
}

/** Asks the service to end a run, once a person has agreed. */
export async function cancelRun({ runs, tracker }: RunCommandDeps, chosen: Run | undefined): Promise<void> {
  const t = vscode.l10n.t;
  const run =
    chosen ??
    (await pickRun(
      runs.all().filter((each) => each.state === 'running'),
      t('Cancel Run'),
    ));
  if (run === undefined) return;
  const yes = t('Cancel the Run');
  const detail = t(
    'Credits that were spent are not given back. The run stays “cancelling” until the service says that it has ended.',
  );
  const question = t('Cancel the assessment of {0}?', titleOf(run));
  const choice = await askInDialog({ question, detail }, yes);
  if (choice === yes) await tracker.cancel(run.id);
}

/** Takes a run's source off the service, once a person has agreed. */
export async function deleteUploadedSource(
  { runs, tracker }: RunCommandDeps,
  chosen: Run | undefined,
): Promise<void> {
  const t = vscode.l10n.t;
  const hasSource = (run: Run): boolean =>
    run.targets.some(({ upload }) => upload?.state === 'confirmed' || upload?.state === 'reserved');
  const run =
    chosen ??
    (await pickRun(
      runs.all().filter((each) => hasSource(each) && isFinal(each)),
      t('Delete Uploaded Source'),
    ));
  if (run === undefined) return;
  const yes = t('Delete');
  const question = t('Delete the uploaded source code of {0} from the service?', titleOf(run));
  const detail = t('Findings and report stay. The source on this machine is not touched.');
  if ((await askInDialog({ question, detail }, yes)) !== yes) return;
  const failure = await tracker.deleteUploads(run.id);
  if (failure === undefined) {
    void showInformation(t('The uploaded source was deleted.'));
    return;
  }
  const { message, remedies } = describeError(failure, run);
  const text = t('Some of the uploaded source could not be deleted. {0}', message);
  await doRemedy(await showWarning(text, ...remedies));
}

/** Goes on with an `unknown` run by its run ID, sends its dispatch again, or gives it up: what a person decides, knowing that it may cost twice. */
export async function resend({ tracker, runs }: RunCommandDeps, chosen: Run | undefined): Promise<void> {
  const t = vscode.l10n.t;
  const run =
    chosen ??
    (await pickRun(
      runs.all().filter((each) => each.state === 'unknown'),
      t('Send Dispatch Again'),
    ));
  // A notification may be older than what has become of its run.
  if (run?.state !== 'unknown') return;
  const haveId = t('I Have the Run ID…');
  const again = t('Send Again');
  const letGo = t('Give This Run Up');
  const choice = await askInDialog(
    {
      question: t('Start the assessment of {0} again?', titleOf(run)),
      detail: [
        t('The first start was sent on {0}. {1}', formatTime(run.intendedAt), lostAnswerLabel(run.reason)),
        t(
          'If the service accepted it, a second run starts and costs credits again. The source that is already uploaded is used.',
        ),
        losesSource(run)
          ? t(
              'Given up, the run is not watched any more, and its uploaded source is deleted from the service. If the service accepted the start, it goes on and costs what it costs.',
            )
          : t(
              'Given up, the run is not watched any more. If the service accepted the start, it goes on and costs what it costs.',
            ),
      ].join('\n\n'),
    },
    haveId,
    again,
    letGo,
  );
  const mayBeForgotten = runs.isTemporary;
  if (choice === again && (!mayBeForgotten || (await acceptForgetting(runs))))
    await withProgress(t('Starting the assessment of {0} again…', titleOf(run)), (_onStep, signal) =>
      tracker.resend(run.id, { mayBeForgotten, signal }),
    );
  if (choice === haveId) await giveRunId({ tracker }, run);
  if (choice === letGo) await tracker.abandon(run.id);
}

/** Removes a run that has ended, or whose start is unconfirmed, from the history, once a person has agreed. */
export async function removeRun(
  { tracker, notes }: RunCommandDeps & { readonly notes: RunNotes },
  run: Run | undefined,
): Promise<void> {
  const t = vscode.l10n.t;
  // A menu may be older than what has become of its run: one that goes on was paid for, and is not lost.
  if (run === undefined || !(isFinal(run) || run.state === 'unknown')) return;
  const yes = t('Remove');
  const detail = [
    isFinal(run)
      ? t('Its findings and its report are deleted from this machine.')
      : t(
          'It is no longer watched. If the service accepted the start, it goes on there and costs what it costs.',
        ),
    ...(losesSource(run) ? [t('Its uploaded source is deleted from the service.')] : []),
  ].join('\n\n');
  const question = t('Remove the run of {0} from the history?', formatTime(run.createdAt));
  if ((await askInDialog({ question, detail }, yes)) !== yes) return;
  const remove = (options?: { leavesSource: boolean }): Thenable<AssessmentError | undefined> =>
    withProgress(
      t('Removing the run…'),
      async () => {
        const failure = await tracker.remove(run.id, options);
        if (failure === undefined) await notes.forgetRun(run.id);
        return failure;
      },
      { cancellable: false },
    );
  const failure = await remove();
  if (failure === undefined) return;
  const { message, remedies } = describeError(failure, run);
  const leave = { title: t('Remove, Leave the Source') };
  const text = t(
    'The run was kept, since its uploaded source could not be deleted. {0} Removed all the same, its source stays until the service’s retention ends.',
    message,
  );
  const choice = await showWarning(text, ...remedies, leave);
  if (choice === leave) await remove({ leavesSource: true });
  else await doRemedy(remedies.find((remedy) => remedy === choice));
}

/** True when removing a run that is not live, or giving it up, takes its source off the service. */
function losesSource(run: Run): boolean {
  const goes = (upload: Target['upload']): boolean =>
    upload?.state === 'reserved' || (upload?.state === 'confirmed' && readDeleteSourceAfterRun());
  return run.targets.some(({ upload }) => goes(upload));
}

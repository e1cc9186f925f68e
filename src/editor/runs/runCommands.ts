import * as vscode from 'vscode';
import { isLive, type Run, type Target, titleOf } from '../../core/run/state/run.ts';
import type { RunStore } from '../../core/run/disk/runStore.ts';
import type { RunTracker } from '../../core/run/runTracker.ts';
import { formatTime } from '../formats.ts';
import { lostAnswerLabel } from '../labels.ts';
import { acceptForgetting } from './lostRuns.ts';
import { pickRun } from './pickRun.ts';
import { withProgress, withViewProgress } from '../progress.ts';
import { readDeleteSourceAfterRun } from '../settings.ts';
import { askInDialog, showInformation } from '../showMessage.ts';
import { giveRunId } from './trackRun.ts';

/** What commands on runs work on. */
interface RunCommandDeps {
  readonly runs: RunStore;
  readonly tracker: RunTracker;
}

/** Asks about all runs that are under way, and says so when there is none. */
export async function checkRuns({ runs, tracker }: RunCommandDeps): Promise<void> {
  await runs.reload();
  if (runs.all().some(isLive)) await withViewProgress(() => tracker.checkNow());
  else void showInformation(vscode.l10n.t('No run is under way that could be asked about.'));
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
  const choice = await askInDialog({ question, detail, dismiss: t('Close') }, t('Keep Running'), yes);
  if (choice === yes) await withViewProgress(() => tracker.cancel(run.id));
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
  if (choice === letGo) await withViewProgress(() => tracker.abandon(run.id));
}

/** True when removing a run that is not live, or giving it up, takes its source off the service. */
export function losesSource(run: Run): boolean {
  const goes = (upload: Target['upload']): boolean =>
    upload?.state === 'reserved' || (upload?.state === 'confirmed' && readDeleteSourceAfterRun());
  return run.targets.some(({ upload }) => goes(upload));
}

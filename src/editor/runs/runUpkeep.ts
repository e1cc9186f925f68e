import * as vscode from 'vscode';
import { mayStopWatching } from '../../core/run/state/deadlines.ts';
import { hasRemoteResults } from '../../core/run/finish/downloadAgain.ts';
import { isLive, type Run, titleOf } from '../../core/run/state/run.ts';
import type { RunStore } from '../../core/run/disk/runStore.ts';
import type { RunTracker } from '../../core/run/runTracker.ts';
import { visibleLine } from '../../core/visibleText.ts';
import { losesSource } from './runCommands.ts';
import { pickRun } from './pickRun.ts';
import { withProgress, withViewProgress } from '../progress.ts';
import { askInDialog, showInformation } from '../showMessage.ts';

/** What upkeep of runs works on. */
interface UpkeepDeps {
  readonly runs: RunStore;
  readonly tracker: RunTracker;
}

/** Downloads the artifacts of an ended run anew. */
export async function downloadArtifacts(
  { runs, tracker }: UpkeepDeps,
  chosen: Run | undefined,
): Promise<void> {
  const t = vscode.l10n.t;
  const run = chosen ?? (await pickRun(runs.all().filter(hasRemoteResults), t('Download Artifacts Again')));
  if (run === undefined) return;
  await withProgress(t('Downloading the results…'), (_onStep, signal) =>
    tracker.downloadAgain(run.id, signal),
  );
  void showInformation(t('The results of {0} were downloaded.', titleOf(run)));
}

/** Lets a run go that answers no more, once a person has agreed. */
export async function stopWatching(
  { runs, tracker }: UpkeepDeps,
  chosen: Run | undefined,
  now: number,
): Promise<void> {
  const t = vscode.l10n.t;
  const run =
    chosen ??
    (await pickRun(
      runs.all().filter((each) => mayStopWatching(each, now)),
      t('Stop Watching'),
    ));
  if (run === undefined || !isLive(run)) return;
  const yes = t('Stop Watching');
  const detail = [
    run.state === 'collecting'
      ? t(
          'What could not be downloaded is left out. While the service keeps the results, Download Artifacts Again fetches them.',
        )
      : t(
          'Nothing is asked about it any more. If it still goes on at the service, it goes on there; you can track it again by its run ID: {0}',
          visibleLine(run.runId),
        ),
    ...(losesSource(run) ? [t('The uploaded source is deleted from the service.')] : []),
  ].join('\n\n');
  const question = t('Stop watching the run of {0}?', titleOf(run));
  const choice = await askInDialog({ question, detail }, yes);
  if (choice === yes) await withViewProgress(() => tracker.stopWatching(run.id));
}

/** Gives a run a name of a person's own; an empty one takes it back. */
export async function renameRun({ tracker }: UpkeepDeps, run: Run | undefined): Promise<void> {
  if (run === undefined) return;
  const t = vscode.l10n.t;
  const label = await vscode.window.showInputBox({
    title: t('Rename Run'),
    prompt: t('A name for this run, shown in this editor only; empty for none'),
    value: run.label ?? '',
    validateInput: (text) => (text.trim().length > 100 ? t('At most 100 characters.') : undefined),
  });
  if (label !== undefined) await tracker.rename(run.id, label);
}

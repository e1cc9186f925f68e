import * as vscode from 'vscode';
import type { Disposable, Logger } from '../../core/ports.ts';
import type { RunNotes } from '../../core/run/disk/runNotes.ts';
import type { RunNote } from '../../core/run/state/newRun.ts';
import type { RunStore } from '../../core/run/disk/runStore.ts';
import type { RunTracker } from '../../core/run/runTracker.ts';
import { visibleLine } from '../../core/visibleText.ts';
import { describeError } from '../errors/errorMessages.ts';
import { showLog } from '../errors/errorActions.ts';
import { hasOpenFolder } from '../folders.ts';
import { formatList, formatNumber } from '../formats.ts';
import { workflowTitle } from './runLabels.ts';
import { inBackground } from '../../core/yieldingWork.ts';
import { askInDialog, showError, showWarning } from '../showMessage.ts';
import { focusView, type LazyView } from '../../lazyView.ts';

const t = vscode.l10n.t;

interface ResumeDeps {
  readonly notes: RunNotes;
  readonly runs: RunStore;
  readonly tracker: RunTracker;
  readonly log: Logger;
}

export async function offerLostRuns(deps: ResumeDeps): Promise<void> {
  // Containers and remote machines share globalState, so only runs of folders that are open in this
  // window count.
  const lost = deps.notes.lost(deps.runs).filter(hasOpenFolder);
  if (lost.length === 0) return;
  const track = t('Track Again');
  const forget = t('Forget');
  const titles = formatList(new Set(lost.map(workflowTitle)));
  const ids = lost.map(({ runId }) => runId).join(', ');
  const message =
    lost.length === 1
      ? t(
          'The {0} was started in this workspace, but its local data is gone. This can happen when a container is rebuilt. Run ID: {1}',
          titles,
          ids,
        )
      : t(
          'Local data is gone for runs that were started in this workspace: {0}. This can happen when a container is rebuilt. Run IDs: {1}',
          titles,
          ids,
        );
  const choice = await showWarning(message, track, forget);
  if (choice === forget) await forgetLost(lost, deps);
  if (choice !== track) return;
  for (const note of lost) {
    try {
      await deps.tracker.track(note);
      await deps.notes.forget(note.runId);
    } catch (error) {
      deps.log.error(`Run ${visibleLine(note.runId)} could not be tracked again: ${String(error)}`);
      const { message, actions } = describeError(error);
      const text = t(
        'Run {0} couldn’t be tracked again. The next time VS Code starts, it offers to track the run. {1}',
        note.runId,
        message,
      );
      inBackground(showError(text, ...actions), deps.log);
    }
  }
  await focusView('runs');
}

async function forgetLost(lost: readonly RunNote[], { notes }: { notes: RunNotes }): Promise<void> {
  const ids = lost.map(({ runId }) => visibleLine(runId));
  const [question, detail] =
    lost.length === 1
      ? [
          t('Forget run {0}?', ids.join()),
          t(
            'The run may still be running on the service and spending credits. VS Code will have no record of the run. You can then track it again only by its run ID.',
          ),
        ]
      : [
          t('Forget {0} runs?', formatNumber(lost.length)),
          `${t('The runs may still be running on the service and spending credits. VS Code will have no record of the runs. You can then track them again only by their run IDs:')}\n${ids.join('\n')}`,
        ];
  const forget = t('Forget');
  if ((await askInDialog({ question, detail }, forget)) !== forget) return;
  for (const { runId } of lost) await notes.forget(runId);
}

export function resumeRuns(deps: ResumeDeps): Disposable {
  const { tracker, log } = deps;
  const start = (): void => {
    // Nothing awaits these calls, because the service may not respond.
    inBackground(tracker.resume(), log);
    inBackground(offerLostRuns(deps), log);
  };
  if (vscode.workspace.isTrusted) start();
  return vscode.Disposable.from(
    vscode.workspace.onDidGrantWorkspaceTrust(start),
    vscode.window.onDidChangeWindowState(({ focused }) => {
      if (focused && vscode.workspace.isTrusted) inBackground(tracker.focused(), log);
    }),
  );
}

/** Must be called before the first reload, which may find the problem. */
export function showStorageProblem(runs: RunStore, { view }: LazyView<unknown>): Disposable {
  let shown: string | undefined;
  let hasWarned = false;
  return runs.onDidChange(() => {
    const { problem } = runs;
    if (problem === shown) return;
    shown = problem;
    if (problem === undefined) {
      view.message = '';
      return;
    }
    const message = t(
      'VS Code can’t write to this extension’s storage ({0}). Check the free disk space and your permissions. Until VS Code can write to it, no run can start, and runs are shown as last saved.',
      problem,
    );
    view.message = message;
    if (hasWarned) return;
    hasWarned = true;
    void showWarning(message, showLog());
  });
}

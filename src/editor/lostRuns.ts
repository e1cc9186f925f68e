import * as vscode from 'vscode';
import { AssessmentError } from '../core/errors.ts';
import { pathInside } from '../core/pathInside.ts';
import type { RunNotes } from '../core/run/runNotes.ts';
import type { RunStore } from '../core/run/runStore.ts';
import type { RunTracker } from '../core/run/runTracker.ts';
import { describeError } from './messages.ts';
import { askInDialog, showError, showWarning } from './showMessage.ts';

/** Offers to track runs of this workspace's folders that were paid for and of which nothing but a note is left, as after a container was rebuilt. */
export async function offerLostRuns(deps: {
  notes: RunNotes;
  runs: RunStore;
  tracker: RunTracker;
}): Promise<void> {
  const t = vscode.l10n.t;
  const open = (vscode.workspace.workspaceFolders ?? []).map(({ uri }) => uri.fsPath);
  const isOpen = ({ folder }: { folder: string }): boolean =>
    open.some((each) => pathInside(each, folder) === '');
  // Notes are shared by every container and machine of this person: only folders that are open here are meant.
  const lost = deps.notes.lost(deps.runs).filter(({ note }) => note.targets.some((target) => isOpen(target)));
  if (lost.length === 0) return;
  const track = t('Track Again');
  const forget = t('Forget');
  const names = [...new Set(lost.flatMap(({ note }) => note.targets.map(({ name }) => name)))].join(', ');
  const choice = await showWarning(
    t(
      'An assessment of {0} was started here, and what this editor kept of it is gone, as after a container was rebuilt.',
      names,
    ),
    track,
    forget,
  );
  for (const { key, note } of lost) {
    if (choice === forget) await deps.notes.forget(key);
    if (choice !== track) continue;
    try {
      await deps.tracker.track(note);
      await deps.notes.forget(key);
    } catch (error) {
      // Past its retention; any other failure may pass, and the offer comes again.
      if (error instanceof AssessmentError && error.kind === 'notFound') await deps.notes.forget(key);
      const { message } = describeError(error);
      void showError(message);
    }
  }
  if (choice === track) await vscode.commands.executeCommand('whitebox.runs.focus');
}

/** Says, once a window, that runs are forgotten with it, since their folder cannot be written. */
export function warnOfStorage(runs: RunStore): void {
  if (!runs.isTemporary) return;
  void showWarning(
    vscode.l10n.t(
      'VS Code’s storage for this extension cannot be written ({0}). Runs are shown and watched, but what happens from now on is forgotten when this window closes.',
      runs.problem ?? '',
    ),
  );
}

/** Asks whether to start a run that is forgotten with this window, since runs cannot be kept. */
export async function acceptForgetting(runs: RunStore): Promise<boolean> {
  const t = vscode.l10n.t;
  const start = t('Start Anyway');
  const choice = await askInDialog(
    {
      question: t('This run would be forgotten when the window closes.'),
      detail: t(
        'VS Code’s storage for this extension cannot be written ({0}). The run costs credits and goes on at the service, but nothing of it is kept here: note its run ID once it is running, to track it again.',
        runs.problem ?? '',
      ),
    },
    start,
  );
  return choice === start;
}

import * as vscode from 'vscode';
import type { FindingStore } from '../core/findings/findingStore.ts';
import { type Run, titleOf } from '../core/run/run.ts';
import type { RunTracker } from '../core/run/runTracker.ts';
import { countFindings, describeFailure, stateLabel } from './messages.ts';
import { readDisplaySettings } from './settings.ts';

/** Tells a person once how a run ended, or that it needs a decision, as far as the settings want it. */
export function showNotifications(deps: { tracker: RunTracker; findings: FindingStore }): vscode.Disposable {
  return vscode.Disposable.from(
    deps.tracker.onDidEnd((run) => {
      void notify(run, deps);
    }),
  );
}

async function notify(
  run: Run,
  { tracker, findings }: { tracker: RunTracker; findings: FindingStore },
): Promise<void> {
  // Noted before it is shown: a notice may be lost with a window, but never comes twice.
  if (run.noticeDue) await tracker.noticed(run.id);
  const { notifications } = readDisplaySettings();
  if (notifications === 'none' || (notifications === 'attention' && run.state === 'succeeded')) return;
  await findings.refresh();
  const { message, actions, isGood } = noticeOf(run, findings);
  const show = isGood ? vscode.window.showInformationMessage : vscode.window.showWarningMessage;
  const choice = await show(message, ...actions);
  const node = { kind: 'run', id: run.id };
  if (choice !== undefined) await vscode.commands.executeCommand(choice.command, node);
}

interface Action extends vscode.MessageItem {
  readonly command: string;
}

function noticeOf(run: Run, findings: FindingStore): { message: string; actions: Action[]; isGood: boolean } {
  const t = vscode.l10n.t;
  const title = titleOf(run);
  const openReport = { title: t('Open Report'), command: 'whitebox.openReport' };
  const showProblems = { title: t('Show Findings'), command: 'whitebox.showRunFindings' };
  switch (run.state) {
    case 'succeeded': {
      const shown = findings.folders().find((folder) => folder.run.id === run.id);
      const failure = shown?.failure;
      if (failure !== undefined) {
        const message = t('The assessment of {0} has finished. {1}', title, describeFailure(failure).message);
        return { message, actions: [openReport], isGood: false };
      }
      const count = countFindings(shown?.shown.length ?? 0);
      return {
        message: t('The assessment of {0} has finished: {1}.', title, count),
        actions: [showProblems, openReport],
        isGood: true,
      };
    }
    case 'unknown':
      return {
        message: t(
          'The answer to the start of the assessment of {0} was lost, so it may or may not be running. Nothing is sent again by itself, since a second run would cost again.',
          title,
        ),
        actions: [
          { title: t('I Have the Run ID…'), command: 'whitebox.trackRun' },
          { title: t('Send Again…'), command: 'whitebox.resendDispatch' },
        ],
        isGood: false,
      };
    case 'failed':
      return {
        message: t('The assessment of {0} failed. {1}', title, describeFailure(run.failure).message),
        actions: describeFailure(run.failure).remedies.map(({ title: label, command }) => ({
          title: label,
          command,
        })),
        isGood: false,
      };
    default:
      return {
        message: t('The assessment of {0} has ended: {1}.', title, stateLabel(run)),
        actions: 'artifacts' in run && (run.artifacts?.length ?? 0) > 0 ? [openReport] : [],
        isGood: false,
      };
  }
}

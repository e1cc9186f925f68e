import * as vscode from 'vscode';
import type { FindingStore } from '../../core/findings/findingStore.ts';
import { countOpen, type ShownRun } from '../../core/findings/shownFinding.ts';
import type { Logger } from '../../core/ports.ts';
import type { RunTracker } from '../../core/run/runTracker.ts';
import { continuationsOf } from '../../core/features/continuedRuns.ts';
import { isUnsent, roleOf, type Run, type RunIn } from '../../core/run/state/run.ts';
import { describeError, describeFailure, describeRefusal } from '../errors/errorMessages.ts';
import { type ErrorMessage, showRunsAction } from '../errors/errorActions.ts';
import { compact, countShown, describeZero, formatNumber } from '../formats.ts';
import { continuationLabel, hasArtifact, runStateLabel, titleOf, workflowTitle } from './runLabels.ts';
import { inBackground } from '../../core/yieldingWork.ts';
import { readDisplaySettings } from '../settings.ts';
import { type MessageAction, showError, showInformation, showWarning } from '../showMessage.ts';
import { onRun } from './pickRun.ts';

const t = vscode.l10n.t;

interface NoticeDeps {
  readonly tracker: RunTracker;
  readonly findings: FindingStore;
  readonly log: Logger;
}

export function showNotifications(deps: NoticeDeps): vscode.Disposable {
  return vscode.Disposable.from(
    deps.tracker.onDidFailToSave(({ id, error }) => {
      const copy = onRun({ id }, t('Copy Run ID'), 'whitebox.copyRunId');
      inBackground(showError(describeError(error).message, copy), deps.log);
    }),
    deps.tracker.onDidEnd((run) => inBackground(notify(run, deps), deps.log)),
  );
}

async function notify(run: Run, { findings }: NoticeDeps): Promise<void> {
  const { notifications } = readDisplaySettings();
  if (notifications === 'none') return;
  // The findings are read from the run, because this window may show those of a different run.
  const read = hasArtifact(run, 'findings') ? await findings.read(run) : undefined;
  const { message, actions, isGood } = noticeOf(run, read);
  if (isGood && notifications === 'attention') return;
  const show = isGood ? showInformation : showWarning;
  await show(message, ...actions);
}

type Notice = ErrorMessage & { readonly isGood: boolean };

function noticeOf(run: Run, read: ShownRun | undefined): Notice {
  switch (run.state) {
    case 'succeeded':
      return run.workflow === 'blackbox-crawl' ? crawlNotice(run) : assessmentNotice(run, read);
    case 'unknown':
      return {
        message:
          run.refusal === undefined
            ? t(
                'The response to the start request for the {0} was lost. VS Code doesn’t know whether the run started. VS Code doesn’t resend the request by itself, because a second run would spend credits again.',
                workflowTitle(run),
              )
            : t(
                'The service didn’t accept the second start request for the {0}. The run from the first request may still be in progress. {1}',
                workflowTitle(run),
                describeRefusal(run.refusal, run).message,
              ),
        actions: [
          onRun(run, t('Enter Run ID…'), 'whitebox.giveRunId'),
          onRun(run, t('Send Again…'), 'whitebox.resendDispatch'),
        ],
        isGood: false,
      };
    case 'failed': {
      const { message, actions } = describeRefusal(run.failure, run);
      const retry =
        run.workflow === 'whitebox-assessment'
          ? onRun(run, t('Retry Upload…'), 'whitebox.retryUpload')
          : onRun(run, t('Start Again…'), 'whitebox.startAgain');
      return {
        message: failureText(run, message),
        actions: isUnsent(run) ? [retry, ...actions] : actions,
        isGood: false,
      };
    }
    default:
      return endNotice(run, read);
  }
}

/** If it is unknown whether or how the run ended, the text doesn't say that it failed. */
function failureText(run: RunIn<'failed'>, message: string): string {
  switch (run.failure.kind) {
    case 'unanswered':
      return t(
        'The {0} may still be running on the service and spending credits. {1}',
        workflowTitle(run),
        message,
      );
    case 'noResult':
      return t('The {0} has ended. {1}', workflowTitle(run), message);
    default:
      return t('The {0} failed. {1}', workflowTitle(run), message);
  }
}

function crawlNotice(run: RunIn<'succeeded'>): Notice {
  const title = titleOf(run);
  if (!hasArtifact(run, 'features')) {
    const message = t('The crawl of {0} has finished, but its features aren’t on this machine.', title);
    return { message, actions: [downloadAgain(run)], isGood: false };
  }
  const message = t('The crawl of {0} has finished. Choose which of its features to assess.', title);
  return { message, actions: [onRun(run, t('Show Features'), 'whitebox.showFeatures')], isGood: true };
}

function assessmentNotice(run: RunIn<'succeeded'>, read: ShownRun | undefined): Notice {
  const title = titleOf(run);
  const report = openReport(run);
  const downloadFailure = run.artifacts.find((artifact) => roleOf(artifact) === 'findings')?.failure;
  const failure = read?.failure ?? downloadFailure;
  if (failure !== undefined) {
    const message = t('The assessment of {0} has finished. {1}', title, describeFailure(failure).message);
    const action = downloadFailure === undefined ? openFindings(run) : downloadAgain(run);
    return { message, actions: [action, ...report], isGood: false };
  }
  if (read === undefined) {
    const message = t('The assessment of {0} has finished, but its findings aren’t on this machine.', title);
    return { message, actions: [downloadAgain(run), ...report], isGood: false };
  }
  return {
    message: finishedText(title, read, run),
    actions: [showFindings(run), ...report],
    isGood: true,
  };
}

function finishedText(title: string, { shown, cut }: ShownRun, run: Run): string {
  if (shown.length === 0) return t('The assessment of {0} has finished. {1}', title, describeZero(run));
  const count = countShown(shown.length, cut);
  const open = countOpen(shown);
  return open === shown.length
    ? t('The assessment of {0} has finished: {1}.', title, count)
    : t('The assessment of {0} has finished: {1}. Open: {2}.', title, count, formatNumber(open));
}

function endNotice(run: Run, read: ShownRun | undefined): Notice {
  const isUnread = read?.failure !== undefined;
  const sentences = [t('The {0} has ended: {1}.', workflowTitle(run), runStateLabel(run))];
  if (isUnread) sentences.push(describeFailure(read.failure).message);
  else if (read?.shown.length === 0) sentences.push(describeZero(run));
  const results: MessageAction[] = openReport(run);
  if (hasArtifact(run, 'findings')) results.unshift(isUnread ? openFindings(run) : showFindings(run));
  const canContinue = continuationsOf(run).get('continueAssessment') === true;
  return {
    message: sentences.join(' '),
    actions: compact(
      canContinue && onRun(run, continuationLabel('continueAssessment'), 'whitebox.continueAssessment'),
      ...(results.length > 0 ? results : [showRunsAction()]),
    ),
    // The user canceled the run, so its end needs no attention.
    isGood: run.state === 'cancelled',
  };
}

function openReport(run: Run): MessageAction[] {
  return hasArtifact(run, 'report') ? [onRun(run, t('Open Report'), 'whitebox.openReport')] : [];
}

function showFindings(run: Run): MessageAction {
  return onRun(run, t('Show Findings'), 'whitebox.showRunFindings');
}

function openFindings(run: Run): MessageAction {
  return onRun(run, t('Open Findings File'), 'whitebox.openFindingsFile');
}

function downloadAgain(run: Run): MessageAction {
  return onRun(run, t('Download Results Again'), 'whitebox.downloadArtifacts');
}

import { basename } from 'node:path';
import * as vscode from 'vscode';
import { inBrief, inWords } from '../../core/api/failure.ts';
import { AssessmentError } from '../../core/errors.ts';
import { readFeatures } from '../../core/features/features.ts';
import { readScanProgress } from '../../core/features/scanProgress.ts';
import { isContinued, predecessorOf } from '../../core/run/state/continuedRuns.ts';
import { lastGoodAnswerAt, mayStopWatching } from '../../core/run/state/deadlines.ts';
import {
  elapsedMs,
  type Failure,
  isFinal,
  isLive,
  roleOf,
  type Run,
  runIdOf,
} from '../../core/run/state/run.ts';
import { visibleLine } from '../../core/visibleText.ts';
import { perspectives } from '../../core/workflows/application.ts';
import { describeFailure, describeRefusal } from '../errors/messages.ts';
import {
  countFiles,
  describeCoverage,
  formatBytes,
  formatDuration,
  formatNumber,
  formatTime,
} from '../formats.ts';
import {
  commitLabel,
  continuationLabel,
  kindLabel,
  limitsLabel,
  lostAnswerLabel,
  nameOf,
  uploadLabel,
} from '../labels.ts';
import { onRun } from './pickRun.ts';

/** What stands below a run: its steps, artifacts and uploaded source; `all` are all runs, `unread` says why its findings cannot be read. */
export function linesOf(
  run: Run,
  now: number,
  all: readonly Run[],
  unread: Failure | undefined,
  progress: string | undefined,
): vscode.TreeItem[] {
  const t = vscode.l10n.t;
  const lines: vscode.TreeItem[] = [];
  const add: AddLine = (text, icon, detail, command, more) => {
    const label = visibleLine(text);
    const description = detail === undefined ? undefined : visibleLine(detail);
    const item = new vscode.TreeItem(label);
    item.iconPath = new vscode.ThemeIcon(icon);
    if (description !== undefined) item.description = description;
    if (command !== undefined) item.command = command;
    item.tooltip = [label, description, more].filter((part) => part !== undefined).join('\n');
    item.accessibilityInformation = { label: description === undefined ? label : `${label}, ${description}` };
    lines.push(item);
  };
  if (run.state === 'failed') add(describeRefusal(run.failure, run).message, 'error');
  if (progress !== undefined) {
    const title = continuationLabel('continueAssessment');
    add(progress, 'debug-pause', title, onRun(run, title, 'whitebox.continueAssessment'));
  } else if ('exit' in run && run.exit?.abort?.detail !== undefined)
    add(t('Message from the service: {0}', inBrief(inWords(run.exit.abort.detail))), 'comment');
  if (run.state === 'cancelled' && run.mayStillRun === true)
    add(t('This run may still be running on the service and spending credits.'), 'eye-closed');
  if (run.state === 'imported')
    add(t('Imported from {0}', run.importedFrom), 'archive', formatTime(run.endedAt));
  if (run.state === 'unknown') {
    add(
      t('The response to the start request was lost. Decide how to continue.'),
      'warning',
      lostAnswerLabel(run.reason),
      onRun(run, t('Send Start Request Again'), 'whitebox.resendDispatch'),
    );
    if (run.refusal !== undefined)
      add(
        t('The service didn’t accept the second start request.'),
        'error',
        describeRefusal(run.refusal, run).message,
      );
  }
  if (isLive(run) && run.trouble !== undefined) {
    const { message, actions } = describeFailure(run.trouble, run);
    const [action] = actions;
    add(message, 'warning', undefined, action && { ...action, arguments: [...(action.arguments ?? [])] });
  }
  if (isLive(run) && mayStopWatching(run, now)) {
    const stop = onRun(run, t('Stop Watching'), 'whitebox.stopWatching');
    const last = t('Last response: {0}', formatTime(lastGoodAnswerAt(run)));
    const question =
      run.state === 'collecting'
        ? t('Some results can’t be downloaded. Stop watching?')
        : t('The run doesn’t end. Stop watching?');
    add(question, 'eye-closed', last, stop);
  }
  const retried = all.find(({ id }) => id === run.retryOf);
  if (retried !== undefined) add(t('Retry of'), 'debug-rerun', nameOf(retried));
  for (const retry of all.filter(({ retryOf }) => retryOf === run.id))
    add(t('Retried as'), 'debug-rerun', nameOf(retry));
  addBlackboxLines(run, all, add);
  for (const { archive, name, commit, coverage } of run.targets) {
    if (archive !== undefined) {
      const files = coverage === undefined ? [] : [countFiles(coverage.uploaded)];
      const sizes = [...files, `${formatBytes(archive.sourceBytes)} → ${formatBytes(archive.bytes)}`].join(
        ', ',
      );
      const more = [
        ...(coverage === undefined ? [] : [describeCoverage(coverage)]),
        `SHA-256 ${archive.sha256}`,
      ];
      add(t('Packaged {0}', name), 'package', sizes, undefined, more.join('\n'));
    }
    if (commit !== undefined) add(t('Commit'), 'git-commit', commitLabel(commit));
  }
  const hasFiles = run.workflow === 'whitebox-assessment';
  if (hasFiles && run.uploadedAt !== undefined)
    add(t('Uploaded'), 'cloud-upload', formatTime(run.uploadedAt));
  if (hasFiles && run.confirmedAt !== undefined) add(t('Confirmed'), 'check', formatTime(run.confirmedAt));
  if ('dispatchedAt' in run && run.dispatchedAt !== undefined) {
    add(isLive(run) ? t('Running') : t('Run time'), 'watch', formatDuration(elapsedMs(run, now)));
  }
  if ('exitedAt' in run && run.exitedAt !== undefined) add(t('Ended'), 'milestone', formatTime(run.exitedAt));
  for (const artifact of 'artifacts' in run ? (run.artifacts ?? []) : []) {
    const what =
      artifact.failure === undefined
        ? formatBytes(artifact.bytes ?? 0)
        : describeFailure(artifact.failure).message;
    const on = (title: string, command: string): vscode.Command | undefined =>
      artifact.file === undefined || !isFinal(run) ? undefined : onRun(run, title, command);
    const role = roleOf(artifact);
    if (role === 'report') {
      add(t('Report'), 'markdown', what, on(t('Open Report'), 'whitebox.openReport'));
    } else if (role === 'findings') {
      if (unread === undefined || artifact.file === undefined)
        add(t('Findings'), 'list-tree', what, on(t('Show Findings'), 'whitebox.showRunFindings'));
      else {
        const open = on(t('Open Findings File'), 'whitebox.openFindingsFile');
        add(t('Findings'), 'warning', describeFailure(unread).message, open);
      }
    } else if (role === 'features') {
      add(t('Features'), 'checklist', what, on(t('Show Features'), 'whitebox.showFeatures'));
    } else if (role === 'scan_progress') add(t('Assessment progress'), 'tasklist', what);
    else add(artifact.name, 'file', what);
  }
  for (const target of run.targets) {
    const label = uploadLabel(run, target);
    if (label !== undefined) add(t('Uploaded source of {0}', target.name), 'cloud', label);
  }
  const runId = runIdOf(run);
  if (runId !== undefined) add(t('Run ID'), 'key', runId);
  return lines;
}

/** The ID of a run that the service has accepted, which the disk does not take yet. */
export function unsavedLines(run: Run, runId: string | undefined): vscode.TreeItem[] {
  if (runId === undefined || runIdOf(run) === runId) return [];
  const t = vscode.l10n.t;
  const item = new vscode.TreeItem(t('Run ID, not saved yet'));
  item.description = visibleLine(runId);
  item.iconPath = new vscode.ThemeIcon('warning');
  item.command = onRun(run, t('Copy Run ID'), 'whitebox.copyRunId');
  return [item];
}

type AddLine = (text: string, icon: string, detail?: string, command?: vscode.Command, more?: string) => void;

/** What a blackbox run was asked, and the runs that it continues and that continue it. */
function addBlackboxLines(run: Run, all: readonly Run[], add: AddLine): void {
  const t = vscode.l10n.t;
  const { workflow, input, targetFile } = run;
  if (workflow === 'whitebox-assessment') return;
  if (targetFile !== undefined) {
    const open = { title: t('Open File'), command: 'vscode.open', arguments: [vscode.Uri.file(targetFile)] };
    add(t('Target file'), 'target', basename(targetFile), open, visibleLine(targetFile));
  }
  if (input !== undefined) add(limitsLabel(workflow, input), 'credit-card');
  const before = predecessorOf(run);
  const earlier = all.find((each) => runIdOf(each) === before);
  if (before !== undefined)
    add(t('Continues'), 'arrow-left', earlier === undefined ? before : linkedName(earlier));
  const later = runIdOf(run);
  for (const next of later === undefined ? [] : all.filter((each) => predecessorOf(each) === later))
    add(t('Continued by'), 'arrow-right', linkedName(next));
}

function linkedName(run: Run): string {
  return `${kindLabel(run)}, ${nameOf(run)}`;
}

/** How far an assessment came before its credit limit; of how many pairs only where that is known. */
export async function progressText(run: Run, folder: string, workerFile: string): Promise<string> {
  const t = vscode.l10n.t;
  const { tested, notApplicable, problem } = await readScanProgress(run, folder, workerFile);
  if (problem === 'absent' || problem === 'unreadable') return t('The credit limit is reached.');
  // A continued assessment has the progress of its predecessor, too.
  const own = isContinued(run) ? undefined : run.input?.pairs?.length;
  const total = own ?? (await countPairs(run, folder, workerFile));
  const counted = tested === 1 ? t('1 pair tested') : t('{0} pairs tested', formatNumber(tested));
  const done =
    total === undefined ? counted : t('{0} of {1} pairs tested', formatNumber(tested), formatNumber(total));
  return t('{0}, {1} not applicable.', done, formatNumber(notApplicable));
}

async function countPairs(run: Run, folder: string, workerFile: string): Promise<number | undefined> {
  try {
    return (await readFeatures(run, folder, workerFile)).features.length * perspectives.length;
  } catch (error) {
    if (error instanceof AssessmentError) return undefined;
    throw error;
  }
}

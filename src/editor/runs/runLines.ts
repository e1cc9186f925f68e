import { basename } from 'node:path';
import * as vscode from 'vscode';
import { excerptOf, messageIn } from '../../core/api/replyBody.ts';
import { asUnknown } from '../../core/errors.ts';
import { readFeatures } from '../../core/features/features.ts';
import { readScanProgress } from '../../core/features/scanProgress.ts';
import { isContinued, predecessorOf } from '../../core/features/continuedRuns.ts';
import { resultsKeptUntil } from '../../core/run/state/retention.ts';
import { mayStopWatching } from '../../core/run/state/trouble.ts';
import {
  elapsedMs,
  type Failure,
  isFinal,
  isLive,
  roleOf,
  type Run,
  runIdOf,
} from '../../core/run/state/run.ts';
import { clip, visibleLine } from '../../core/visibleText.ts';
import { perspectives } from '../../core/workflows/perspectives.ts';
import { openFile } from '../errors/errorActions.ts';
import { describeFailure, describeRefusal, describeTrouble } from '../errors/errorMessages.ts';
import {
  capitalized,
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
} from './runLabels.ts';
import { onRun } from './pickRun.ts';

const t = vscode.l10n.t;

/** `unread` is why the run's findings can't be read. */
export function linesOf(
  run: Run,
  now: number,
  all: readonly Run[],
  unread: Failure | undefined,
  progress: string | undefined,
): vscode.TreeItem[] {
  const lines: vscode.TreeItem[] = [];
  const add: AddLine = (text, icon, detail, command, more) => {
    const whole = [text, ...(detail === undefined ? [] : [detail])].map(visibleLine);
    const [label = '', description] = whole.map(cutLine);
    const item = new vscode.TreeItem(label);
    item.iconPath = new vscode.ThemeIcon(icon);
    if (description !== undefined) item.description = description;
    if (command !== undefined) item.command = command;
    item.tooltip = [...whole, ...(more === undefined ? [] : [more])].join('\n');
    item.accessibilityInformation = { label: description === undefined ? label : `${label}, ${description}` };
    lines.push(item);
  };
  addState(run, now, progress, add);
  addRelatedRuns(run, all, add);
  addUploads(run, add);
  addTimes(run, now, add);
  addArtifacts(run, unread, add);
  addRetention(run, now, add);
  for (const target of run.targets) {
    const label = uploadLabel(run, target);
    if (label !== undefined) add(t('Uploaded source of {0}', target.name), 'cloud', label);
  }
  const runId = runIdOf(run);
  if (runId !== undefined) add(t('Run ID'), 'key', runId);
  return lines;
}

/** Messages of the service can make a failure's text long. */
const maxLineLength = 200;

function cutLine(line: string): string {
  return line.length > maxLineLength ? `${clip(line, maxLineLength - 1)}…` : line;
}

type AddLine = (text: string, icon: string, detail?: string, command?: vscode.Command, more?: string) => void;

function addState(run: Run, now: number, progress: string | undefined, add: AddLine): void {
  if (run.state === 'failed') add(describeRefusal(run.failure, run).message, 'error');
  if (progress !== undefined) {
    const title = continuationLabel('continueAssessment');
    add(progress, 'debug-pause', title, onRun(run, title, 'whitebox.continueAssessment'));
  } else if ('exit' in run && run.exit?.abort?.detail !== undefined)
    add(t('Message from the service: {0}', excerptOf(messageIn(run.exit.abort.detail))), 'comment');
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
    const { message, actions } = describeTrouble(run.trouble, run);
    add(message, 'warning', undefined, actions[0]);
  }
  if (isLive(run) && mayStopWatching(run, now)) {
    const question =
      run.state === 'collecting'
        ? t('Some results can’t be downloaded. Stop watching?')
        : run.trouble === undefined
          ? t('The run still hasn’t ended. Stop watching?')
          : t('VS Code can’t tell whether the run has ended. Stop watching?');
    add(question, 'eye-closed', undefined, onRun(run, t('Stop Watching'), 'whitebox.stopWatching'));
  }
}

function addRetention(run: Run, now: number, add: AddLine): void {
  const until = resultsKeptUntil(run);
  const lacksResults =
    (isLive(run) && run.trouble !== undefined) ||
    ('artifacts' in run && run.artifacts?.some(({ file }) => file === undefined) === true);
  if (until === undefined || until < now || !lacksResults) return;
  add(t('The service keeps the results at least until {0}', formatTime(until)), 'history');
}

function addRelatedRuns(run: Run, all: readonly Run[], add: AddLine): void {
  const { workflow, input, targetFile } = run;
  if (workflow === 'whitebox-assessment') return;
  if (targetFile !== undefined)
    add(t('Target file'), 'target', basename(targetFile), openFile(targetFile), visibleLine(targetFile));
  if (input !== undefined) add(limitsLabel(workflow, input), 'credit-card');
  const predecessorId = predecessorOf(run);
  if (predecessorId !== undefined) {
    const predecessor = all.find((other) => runIdOf(other) === predecessorId);
    add(t('Continues'), 'arrow-left', predecessor === undefined ? predecessorId : linkedName(predecessor));
  }
  const runId = runIdOf(run);
  for (const successor of all.filter((other) => runId !== undefined && predecessorOf(other) === runId))
    add(t('Continued by'), 'arrow-right', linkedName(successor));
}

function linkedName(run: Run): string {
  return `${kindLabel(run)}, ${nameOf(run)}`;
}

function addUploads(run: Run, add: AddLine): void {
  for (const { archive, name, commit, coverage } of run.targets) {
    if (archive !== undefined) {
      const sizes = `${formatBytes(archive.sourceBytes)} → ${formatBytes(archive.bytes)}`;
      const files = coverage === undefined ? [] : [countFiles(coverage.uploaded)];
      const counts = coverage === undefined ? [] : [describeCoverage(coverage)];
      const more = [...counts, `SHA-256 ${archive.sha256}`].join('\n');
      add(t('Packaged {0}', name), 'package', [...files, sizes].join(', '), undefined, more);
    }
    if (commit !== undefined) add(t('Commit'), 'git-commit', commitLabel(commit));
  }
}

function addTimes(run: Run, now: number, add: AddLine): void {
  if (run.workflow === 'whitebox-assessment' && run.confirmedAt !== undefined)
    add(t('Uploaded'), 'cloud-upload', formatTime(run.confirmedAt));
  if ('dispatchedAt' in run && run.dispatchedAt !== undefined)
    add(
      isLive(run) ? capitalized(t('running')) : t('Run time'),
      'watch',
      formatDuration(elapsedMs(run, now)),
    );
  if ('exitedAt' in run && run.exitedAt !== undefined) add(t('Ended'), 'milestone', formatTime(run.exitedAt));
}

function addArtifacts(run: Run, unread: Failure | undefined, add: AddLine): void {
  for (const artifact of 'artifacts' in run ? (run.artifacts ?? []) : []) {
    const { failure, bytes = 0, file } = artifact;
    const detail = failure === undefined ? formatBytes(bytes) : describeFailure(failure).message;
    const command = (title: string, id: string): vscode.Command | undefined =>
      file === undefined || !isFinal(run) ? undefined : onRun(run, title, id);
    switch (roleOf(artifact)) {
      case 'report':
        add(t('Report'), 'markdown', detail, command(t('Open Report'), 'whitebox.openReport'));
        break;
      case 'findings':
        if (unread === undefined || file === undefined)
          add(t('Findings'), 'list-tree', detail, command(t('Show Findings'), 'whitebox.showRunFindings'));
        else {
          const open = command(t('Open Findings File'), 'whitebox.openFindingsFile');
          add(t('Findings'), 'warning', describeFailure(unread).message, open);
        }
        break;
      case 'features':
        add(t('Features'), 'checklist', detail, command(t('Show Features'), 'whitebox.showFeatures'));
        break;
      case 'scan_progress':
        add(t('Assessment progress'), 'tasklist', detail);
        break;
      default:
        add(artifact.name, 'file', detail);
    }
  }
}

export function factLines(facts: readonly string[]): vscode.TreeItem[] {
  return facts.map((fact) => {
    const item = new vscode.TreeItem(fact);
    item.iconPath = new vscode.ThemeIcon('clock');
    return item;
  });
}

export function unsavedLines(run: Run, runId: string | undefined): vscode.TreeItem[] {
  if (runId === undefined || runIdOf(run) === runId) return [];
  const item = new vscode.TreeItem(t('Run ID, not saved yet'));
  item.description = visibleLine(runId);
  item.iconPath = new vscode.ThemeIcon('warning');
  item.command = onRun(run, t('Copy Run ID'), 'whitebox.copyRunId');
  return [item];
}

export async function progressText(run: Run, folder: string, workerFile: string): Promise<string> {
  const { tested, notApplicable, problem } = await readScanProgress(run, folder, workerFile);
  if (problem === 'absent' || problem === 'unreadable') return t('The credit limit has been reached.');
  // The progress of a continued assessment includes the pairs of its predecessor.
  const requested = isContinued(run) ? undefined : run.input?.pairs?.length;
  const list =
    requested === undefined ? await readFeatures(run, folder, workerFile).catch(asUnknown) : undefined;
  const total = requested ?? (list && list.features.length * perspectives.length);
  const counted = tested === 1 ? t('1 pair tested') : t('{0} pairs tested', formatNumber(tested));
  const done =
    total === undefined ? counted : t('{0} of {1} pairs tested', formatNumber(tested), formatNumber(total));
  return t('{0}, {1} not applicable.', done, formatNumber(notApplicable));
}

import { basename } from 'node:path';
import * as vscode from 'vscode';
import { inBrief } from '../../core/api/failure.ts';
import { AssessmentError } from '../../core/errors.ts';
import type { FindingStore } from '../../core/findings/findingStore.ts';
import { readFeatures } from '../../core/features/features.ts';
import { readScanProgress } from '../../core/features/scanProgress.ts';
import type { Clock } from '../../core/ports.ts';
import type { RunStore } from '../../core/run/disk/runStore.ts';
import { hasRemoteResults } from '../../core/run/finish/downloadArtifacts.ts';
import { continuationsOf, hasHitCreditLimit, predecessorOf } from '../../core/run/state/continuations.ts';
import { lastGoodAnswerAt, mayStopWatching, needsDecision } from '../../core/run/state/deadlines.ts';
import {
  elapsedMs,
  type Failure,
  type ForeignRun,
  isFinal,
  isLive,
  isUnsent,
  needsToken,
  roleOf,
  type Run,
  titleOf,
} from '../../core/run/state/run.ts';
import { visibleLine } from '../../core/visibleText.ts';
import { perspectives } from '../../core/workflows/application.ts';
import { describeFailure, describeRefusal } from '../errors/messages.ts';
import { countFiles, formatBytes, formatDay, formatDuration, formatNumber, formatTime } from '../formats.ts';
import {
  attentionLabel,
  commitLabel,
  continuationLabel,
  hasArtifact,
  limitsLabel,
  lostAnswerLabel,
  nameOf,
  noContinuationLabel,
  stateLabel,
  uploadLabel,
  workflowLabel,
} from '../labels.ts';
import type { LazyView } from '../../lazyView.ts';
import { type RunNode, toRunNode } from './pickRun.ts';

/** A line of the Runs view. */
export type RunsNode =
  | RunNode
  | { readonly kind: 'folder'; readonly key: string; readonly name: string }
  | { readonly kind: 'line'; readonly item: vscode.TreeItem };

/** Fills the Runs view: folders, their runs, and below each run its steps, artifacts and uploaded source. */
export function showRuns(
  lazy: LazyView,
  deps: { runs: RunStore; findings: FindingStore; clock: Clock },
): vscode.Disposable {
  const { runs, findings } = deps;
  const changed = new vscode.EventEmitter<undefined>();
  const provider: vscode.TreeDataProvider<RunsNode> = {
    onDidChangeTreeData: changed.event,
    getChildren: async (element) => {
      if (element === undefined) {
        const byFolders = new Map(runs.all().map((run) => [foldersOf(run), folderNames(run)]));
        return [
          ...[...byFolders].map(([key, name]) => ({ kind: 'folder' as const, key, name })),
          ...runs.foreign().map((run) => toLine(foreignItem(run))),
        ];
      }
      if (element.kind === 'folder')
        return runs
          .all()
          .filter((run) => foldersOf(run) === element.key)
          .map(toRunNode);
      const run = element.kind === 'run' ? runs.get(element.id) : undefined;
      if (run === undefined) return [];
      const progress = hasHitCreditLimit(run) ? await progressText(run, runs.folderOf(run.id)) : undefined;
      const unread = findings.failureOf(run.id);
      return linesOf(run, deps.clock.now(), runs.all(), unread, progress).map(toLine);
    },
    getTreeItem: (element) => {
      if (element.kind === 'line') return element.item;
      if (element.kind === 'folder') return folderItem(element);
      const run = runs.get(element.id);
      return run === undefined
        ? new vscode.TreeItem('')
        : runItem(run, deps.clock.now(), findings.failureOf(run.id));
    },
  };
  lazy.fill(provider);
  const render = (): void => {
    const waiting = runs.all().filter((run) => needsDecision(run, deps.clock.now())).length;
    lazy.view.badge =
      waiting === 0
        ? undefined
        : { value: waiting, tooltip: vscode.l10n.t('Runs that need you: {0}', waiting) };
    changed.fire(undefined);
  };
  let unreadIds = '';
  const unread = findings.onDidChange(() => {
    const ids = runs.all().flatMap(({ id }) => (findings.failureOf(id) === undefined ? [] : [id]));
    if (ids.join() === unreadIds) return;
    unreadIds = ids.join();
    changed.fire(undefined);
  });
  return vscode.Disposable.from(changed, renderRuns(runs, render), runs.onDidChangeForeign(render), unread);
}

function toLine(item: vscode.TreeItem): RunsNode {
  return { kind: 'line', item };
}

/** A key: folders of the same name may differ in path. */
function foldersOf(run: Run): string {
  return run.targets.map(({ folder }) => folder).join('\n');
}

/** The names of a run's folders: a blackbox run's title is that of its hosts. */
function folderNames(run: Run): string {
  return run.workflow === 'whitebox-assessment'
    ? titleOf(run)
    : run.targets.map(({ folder }) => basename(folder)).join(', ');
}

/** How far an assessment came before its credit limit; of how many pairs only where that is known. */
async function progressText(run: Run, folder: string): Promise<string> {
  const t = vscode.l10n.t;
  const { tested, notApplicable, problem } = await readScanProgress(run, folder);
  if (problem === 'absent' || problem === 'unreadable') return t('The credit limit is reached.');
  const total = run.input?.pairs?.length ?? (await countPairs(run, folder));
  const counted = tested === 1 ? t('1 pair tested') : t('{0} pairs tested', formatNumber(tested));
  const done =
    total === undefined ? counted : t('{0} of {1} pairs tested', formatNumber(tested), formatNumber(total));
  return t('{0}, {1} not applicable.', done, formatNumber(notApplicable));
}

async function countPairs(run: Run, folder: string): Promise<number | undefined> {
  try {
    return (await readFeatures(run, folder)).features.length * perspectives.length;
  } catch (error) {
    if (error instanceof AssessmentError) return undefined;
    throw error;
  }
}

function folderItem({ key, name }: { key: string; name: string }): vscode.TreeItem {
  const item = new vscode.TreeItem(name, vscode.TreeItemCollapsibleState.Expanded);
  item.id = `folder:${key}`;
  item.tooltip = key;
  item.iconPath = vscode.ThemeIcon.Folder;
  item.contextValue = 'folder';
  return item;
}

/** A run made by a newer version, on which no command works here. */
function foreignItem({ id, createdAt }: ForeignRun): vscode.TreeItem {
  const t = vscode.l10n.t;
  const label = createdAt === undefined ? id : formatTime(createdAt);
  const item = new vscode.TreeItem(label);
  item.id = `foreign:${id}`;
  item.description = t('made by a newer version');
  item.iconPath = new vscode.ThemeIcon('versions');
  const why = t(
    'This run was made by a newer version of this extension and is left as it is. Update the extension to see it.',
  );
  item.tooltip = why;
  item.accessibilityInformation = { label: [label, why].join(', ') };
  return item;
}

function runItem(run: Run, now: number, unread: Failure | undefined): vscode.TreeItem {
  // State and time first: a narrow view cuts off the rest.
  const elapsed = isLive(run) ? [formatDuration(elapsedMs(run, now))] : [];
  const state = [stateLabel(run), ...elapsed].join(' ');
  const item = new vscode.TreeItem(state, vscode.TreeItemCollapsibleState.Collapsed);
  item.id = `run:${run.id}`;
  const attention =
    attentionLabel(run, now) ?? (unread === undefined ? undefined : vscode.l10n.t('findings cannot be read'));
  const name = run.label ?? (run.state === 'imported' ? run.importedFrom : undefined);
  const what = run.workflow === 'whitebox-assessment' ? [] : [blackboxTitle(run)];
  item.description = [attention, ...what, name, formatDay(run.createdAt)]
    .filter((part) => part !== undefined)
    .join(' · ');
  item.tooltip = [
    [titleOf(run), name].filter((part) => part !== undefined).join(', '),
    [state, attention].filter((part) => part !== undefined).join(', '),
    formatTime(run.createdAt),
    ...noContinuations(run),
  ].join('\n');
  item.iconPath = attention === undefined ? iconOf(run) : new vscode.ThemeIcon('warning');
  item.contextValue = `run ${abilitiesOf(run, now, unread).join(' ')}`;
  item.accessibilityInformation = {
    label: [titleOf(run), state, item.description].join(', '),
  };
  return item;
}

/** A workflow and the hosts that it is run on, in plain text. */
function blackboxTitle(run: Run): string {
  return `${workflowLabel(run.workflow)} · ${visibleLine(titleOf(run))}`;
}

/** Why commands that go on from a run are off. */
function noContinuations(run: Run): string[] {
  return [...continuationsOf(run)].flatMap(([continuation, allowed]) =>
    allowed === true ? [] : [noContinuationLabel(continuation, allowed)],
  );
}

/** The words that `when` clauses in package.json match. */
function abilitiesOf(run: Run, now: number, unread: Failure | undefined): string[] {
  const isBlackbox = run.workflow !== 'whitebox-assessment';
  const abilities = [
    [run.state, true],
    ['live', isLive(run)],
    ['final', isFinal(run)],
    ['hasRunId', 'runId' in run && run.runId !== undefined],
    ['isStuck', mayStopWatching(run, now)],
    ['needsToken', needsToken(run)],
    ['hasRemoteResults', hasRemoteResults(run)],
    ['isUnsent', isUnsent(run) && !isBlackbox],
    ['mayStartAgain', isUnsent(run) && isBlackbox],
    ['hasReport', hasArtifact(run, 'report')],
    ['hasFindings', hasArtifact(run, 'findings')],
    ['hasFeatures', hasArtifact(run, 'features')],
    ...[...continuationsOf(run)].map(([word, allowed]) => [word, allowed === true] as const),
    ['hasUnreadFindings', hasArtifact(run, 'findings') && unread !== undefined],
    [
      'hasSource',
      run.targets.some(({ upload }) => upload?.state === 'confirmed' || upload?.state === 'reserved'),
    ],
  ] as const;
  return abilities.filter(([, has]) => has).map(([word]) => word);
}

function iconOf(run: Run): vscode.ThemeIcon {
  switch (run.state) {
    case 'succeeded':
      return new vscode.ThemeIcon('pass');
    case 'aborted':
      return hasHitCreditLimit(run)
        ? new vscode.ThemeIcon('debug-pause', new vscode.ThemeColor('list.warningForeground'))
        : new vscode.ThemeIcon('circle-slash');
    case 'cancelled':
      return new vscode.ThemeIcon('circle-slash');
    case 'failed':
      return new vscode.ThemeIcon('error');
    case 'imported':
      return new vscode.ThemeIcon('archive');
    default:
      return new vscode.ThemeIcon('sync~spin');
  }
}

function linesOf(
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
    const command = { title, command: 'whitebox.continueAssessment', arguments: [toRunNode(run)] };
    add(progress, 'debug-pause', title, command);
  } else if ('exit' in run && run.exit?.abort?.detail !== undefined)
    add(t('The service said: {0}', inBrief(run.exit.abort.detail)), 'comment');
  if (run.state === 'imported')
    add(t('Imported from {0}', run.importedFrom), 'archive', formatTime(run.endedAt));
  if (run.state === 'unknown') {
    add(
      t('The answer to the start was lost: a person has to decide.'),
      'warning',
      lostAnswerLabel(run.reason),
      {
        title: t('Send Dispatch Again'),
        command: 'whitebox.resendDispatch',
        arguments: [toRunNode(run)],
      },
    );
    if (run.refusal !== undefined)
      add(t('Sending it again was not accepted.'), 'error', describeRefusal(run.refusal, run).message);
  }
  if (isLive(run) && run.trouble !== undefined) {
    const { message, remedies } = describeFailure(run.trouble, run);
    const [remedy] = remedies;
    add(message, 'warning', undefined, remedy && { ...remedy, arguments: [...(remedy.arguments ?? [])] });
  }
  if (isLive(run) && mayStopWatching(run, now)) {
    const stop = { title: t('Stop Watching'), command: 'whitebox.stopWatching', arguments: [toRunNode(run)] };
    const last = t('Last answer: {0}', formatTime(lastGoodAnswerAt(run)));
    const question =
      run.state === 'collecting'
        ? t('Not all results can be had: stop watching?')
        : t('Does not end: stop watching?');
    add(question, 'eye-closed', last, stop);
  }
  const retried = all.find(({ id }) => id === run.retryOf);
  if (retried !== undefined) add(t('Another try of'), 'debug-rerun', nameOf(retried));
  for (const retry of all.filter(({ retryOf }) => retryOf === run.id))
    add(t('Tried again as'), 'debug-rerun', nameOf(retry));
  addBlackboxLines(run, all, add);
  for (const { archive, name, commit } of run.targets) {
    if (archive !== undefined) {
      const sizes = `${countFiles(archive.files)}, ${formatBytes(archive.sourceBytes)} → ${formatBytes(archive.bytes)}`;
      add(t('Packaged {0}', name), 'package', sizes, undefined, `SHA-256 ${archive.sha256}`);
    }
    if (commit !== undefined) add(t('Commit'), 'git-commit', commitLabel(commit));
  }
  const hasFiles = run.workflow === 'whitebox-assessment';
  if (hasFiles && run.uploadedAt !== undefined)
    add(t('Uploaded'), 'cloud-upload', formatTime(run.uploadedAt));
  if (hasFiles && run.confirmedAt !== undefined) add(t('Confirmed'), 'check', formatTime(run.confirmedAt));
  if ('dispatchedAt' in run && run.dispatchedAt !== undefined) {
    add(isLive(run) ? t('Running') : t('Ran'), 'watch', formatDuration(elapsedMs(run, now)));
  }
  if ('exitedAt' in run && run.exitedAt !== undefined)
    add(t('Exited'), 'milestone', formatTime(run.exitedAt));
  for (const artifact of 'artifacts' in run ? (run.artifacts ?? []) : []) {
    const what =
      artifact.failure === undefined
        ? formatBytes(artifact.bytes ?? 0)
        : describeFailure(artifact.failure).message;
    const on = (title: string, command: string): vscode.Command | undefined =>
      artifact.file === undefined || !isFinal(run)
        ? undefined
        : { title, command, arguments: [toRunNode(run)] };
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
    } else if (role === 'scan_progress') add(t('Scan progress'), 'tasklist', what);
    else add(artifact.name, 'file', what);
  }
  for (const target of run.targets) {
    const label = uploadLabel(run, target);
    if (label !== undefined) add(t('Uploaded source of {0}', target.name), 'cloud', label);
  }
  if ('runId' in run && run.runId !== undefined) add(t('Run ID'), 'key', run.runId);
  return lines;
}

type AddLine = (text: string, icon: string, detail?: string, command?: vscode.Command, more?: string) => void;

/** What a blackbox run was asked, and the runs that it goes on from and that go on from it. */
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
  const earlier = all.find((each) => 'runId' in each && each.runId === before);
  if (before !== undefined)
    add(t('Goes on from'), 'arrow-left', earlier === undefined ? before : linkedName(earlier));
  const later = 'runId' in run && run.runId !== undefined ? run.runId : undefined;
  for (const next of later === undefined ? [] : all.filter((each) => predecessorOf(each) === later))
    add(t('Gone on from by'), 'arrow-right', linkedName(next));
}

function linkedName(run: Run): string {
  return `${workflowLabel(run.workflow)}, ${nameOf(run)}`;
}

const refreshMs = 60_000;

/** Renders now, on each change of a run, and each minute while one has not ended, for the elapsed times. */
export function renderRuns(runs: RunStore, render: () => void): vscode.Disposable {
  let timer: NodeJS.Timeout | undefined;
  const renderNow = (): void => {
    render();
    if (runs.all().every(isFinal)) {
      clearInterval(timer);
      timer = undefined;
    } else timer ??= setInterval(renderNow, refreshMs);
  };
  const subscription = runs.onDidChange(renderNow);
  renderNow();
  return vscode.Disposable.from(subscription, { dispose: () => clearInterval(timer) });
}

import { basename } from 'node:path';
import * as vscode from 'vscode';
import { hasFindings } from '../../core/findings/chooseRun.ts';
import type { FindingStore } from '../../core/findings/findingStore.ts';
import { countOpen } from '../../core/findings/shownFinding.ts';
import type { FindingCounts } from '../../core/findings/view/show.ts';
import { pathKey } from '../../core/paths.ts';
import type { Clock } from '../../core/ports.ts';
import type { RunStore } from '../../core/run/disk/runStore.ts';
import {
  dayMs,
  elapsedMs,
  type Failure,
  hasRemoteResults,
  isFinal,
  isLive,
  isUnsent,
  type Run,
  runIdOf,
} from '../../core/run/state/run.ts';
import type { UnreadRun } from '../../core/run/disk/journal.ts';
import type { RunNotes } from '../../core/run/disk/runNotes.ts';
import type { RunTracker } from '../../core/run/runTracker.ts';
import { continuationsOf, hasHitCreditLimit } from '../../core/features/continuedRuns.ts';
import {
  isTroubleWarning,
  mayStopWatching,
  needsDecision,
  needsToken,
} from '../../core/run/state/trouble.ts';
import { visibleLine } from '../../core/visibleText.ts';
import {
  attentionLabel,
  hasArtifact,
  kindLabel,
  noContinuationLabel,
  runTitle,
  runStateLabel,
  titleOf,
} from './runLabels.ts';
import {
  capitalized,
  countShown,
  formatDay,
  formatDuration,
  formatList,
  formatMinute,
  formatNumber,
  formatTime,
} from '../formats.ts';
import type { LazyView } from '../../lazyView.ts';
import { type FolderNode, type RunNode, toRunNode } from './pickRun.ts';
import { hasSource } from './removeRuns.ts';
import { factLines, linesOf, progressText, unsavedLines } from './runLines.ts';
import { nextSteps, stepsAfterEnd, waitingFacts } from './runStatus.ts';

const t = vscode.l10n.t;

export type RunsNode = RunNode | FolderNode | { readonly kind: 'line'; readonly item: vscode.TreeItem };

/**
 * The view shows folders, their runs, and lines about a run (`runLines`). Rows are made from the
 * runs on disk whenever these change, and hold no state. A row's `contextValue` tells what its menu
 * offers.
 */
export function showRuns(
  lazy: LazyView<RunsNode>,
  deps: {
    runs: RunStore;
    findings: FindingStore;
    tracker: Pick<RunTracker, 'onDidFailToSave' | 'nextCheckAt'>;
    notes: Pick<RunNotes, 'runIdFor'>;
    clock: Clock;
    parseWorkerFile: string;
  },
): vscode.Disposable {
  const { runs, findings, tracker } = deps;
  const changes = new vscode.EventEmitter<undefined>();
  const provider: vscode.TreeDataProvider<RunsNode> = {
    onDidChangeTreeData: changes.event,
    getChildren: async (element) => {
      if (element === undefined) {
        const byFolders = Map.groupBy(runs.all(), foldersOf);
        return [
          ...[...byFolders].map(([key, runsOfFolders]) => toFolderNode(key, runsOfFolders)),
          ...runs.unread().map((run) => toLine(unreadItem(run))),
        ];
      }
      if (element.kind === 'folder')
        return runs
          .all()
          .filter((run) => foldersOf(run) === element.key)
          .map(toRunNode);
      const run = element.kind === 'run' ? runs.get(element.id) : undefined;
      if (run === undefined) return [];
      const progress = hasHitCreditLimit(run)
        ? await progressText(run, runs.folderOf(run.id), deps.parseWorkerFile)
        : undefined;
      const unread = findings.failureOf(run.id);
      return [
        ...factLines([...nextSteps(run, deps), ...stepsAfterEnd(run, deps)]),
        ...linesOf(run, deps.clock.now(), runs.all(), unread, progress),
        ...factLines(waitingFacts(run, deps)),
        ...unsavedLines(run, deps.notes.runIdFor(run)),
      ].map(toLine);
    },
    getTreeItem: async (element) => {
      if (element.kind === 'line') return element.item;
      if (element.kind === 'folder') return folderItem(element);
      const run = runs.get(element.id);
      if (run === undefined) return new vscode.TreeItem('');
      const item = runItem(run, {
        now: deps.clock.now(),
        unread: findings.failureOf(run.id),
        facts: [...nextSteps(run, deps), ...stepsAfterEnd(run, deps), ...waitingFacts(run, deps)],
        isOnlyOfDay: isOnlyOfDay(run, runs.all()),
        counts: await findings.countsOf(run),
      });
      if (deps.notes.runIdFor(run) !== undefined) item.contextValue = `${item.contextValue ?? ''} hasRunId`;
      return item;
    },
  };
  lazy.fill(provider);
  const render = (): void => {
    const waiting = runs.all().filter((run) => needsDecision(run, deps.clock.now())).length;
    lazy.view.badge =
      waiting === 0
        ? undefined
        : { value: waiting, tooltip: t('Runs that need your attention: {0}', waiting) };
    changes.fire(undefined);
  };
  let known = '';
  const reading = findings.onDidChange(() => {
    const now = JSON.stringify([
      runs.all().flatMap(({ id }) => (findings.failureOf(id) === undefined ? [] : [id])),
      findings.reading().map(({ id }) => id),
      findings.shownRuns().map(({ run, shown, unread }) => [run.id, shown.length, countOpen(shown), unread]),
    ]);
    if (now === known) return;
    known = now;
    changes.fire(undefined);
  });
  return vscode.Disposable.from(changes, renderRuns(runs, render), tracker.onDidFailToSave(render), reading);
}

function toLine(item: vscode.TreeItem): RunsNode {
  return { kind: 'line', item };
}

/** The key has full paths, because different folders may have the same name. */
function foldersOf(run: Run): string {
  return run.targets.map(({ folder }) => pathKey(folder)).join('\n');
}

function folderNames(run: Run): string {
  return run.workflow === 'whitebox-assessment'
    ? titleOf(run)
    : formatList(run.targets.map(({ folder }) => basename(folder)));
}

function toFolderNode(key: string, runs: readonly Run[]): FolderNode {
  const name = runs.map(folderNames).at(-1) ?? '';
  const latest = runs.find((run) => hasFindings(run) && run.state !== 'imported');
  return { kind: 'folder', key, name, latestId: latest?.id };
}

function folderItem({ key, name, latestId }: FolderNode): vscode.TreeItem {
  const item = new vscode.TreeItem(name, vscode.TreeItemCollapsibleState.Expanded);
  item.id = `folder:${key}`;
  item.tooltip = key;
  item.iconPath = vscode.ThemeIcon.Folder;
  item.contextValue = latestId === undefined ? 'folder' : 'folder hasTrend';
  return item;
}

/** No command works on the row of an unread run. */
function unreadItem({ id, createdAt, state }: UnreadRun): vscode.TreeItem {
  const label = createdAt === undefined ? id : formatTime(createdAt);
  const item = new vscode.TreeItem(label);
  item.id = `unread:${id}`;
  const isNewer = state === 'newer';
  item.description = isNewer ? t('created by a newer version') : t('can’t be read');
  item.iconPath = new vscode.ThemeIcon(isNewer ? 'versions' : 'warning');
  const why = isNewer
    ? t(
        'This run was created by a newer version of this extension, so this version leaves it unchanged. To see the run, update the extension.',
      )
    : t('VS Code can’t read the file of this run. The log has the cause.');
  item.tooltip = why;
  item.accessibilityInformation = { label: [label, why].join(', ') };
  return item;
}

interface KnownOfRun {
  readonly now: number;
  readonly unread: Failure | undefined;
  readonly facts: readonly string[];
  readonly isOnlyOfDay: boolean;
  readonly counts: FindingCounts | undefined;
}

function runItem(run: Run, { now, unread, facts, isOnlyOfDay, counts }: KnownOfRun): vscode.TreeItem {
  const subject = visibleLine(titleOf(run));
  const named = run.label ?? (run.state === 'imported' ? run.importedFrom : undefined);
  const isConfirming = run.confirms !== undefined && named !== undefined;
  const [about, name] = isConfirming ? [visibleLine(named), subject] : [subject, named];
  const elapsed = isLive(run) ? [formatDuration(elapsedMs(run, now))] : [];
  const state = [runStateLabel(run), ...elapsed].join(' ');
  const title = capitalized(state);
  const item = new vscode.TreeItem(title, vscode.TreeItemCollapsibleState.Collapsed);
  item.id = `run:${run.id}`;
  const attention =
    attentionLabel(run, now) ?? (unread === undefined ? undefined : t('findings can’t be read'));
  item.description = [
    attention,
    ...(run.workflow === 'whitebox-assessment' ? [] : [kindLabel(run), about]),
    name,
    isOnlyOfDay ? formatDay(run.createdAt) : formatMinute(run.createdAt),
    counts && countsLabel(counts),
  ]
    .filter((part) => part !== undefined)
    .join(' · ');
  item.tooltip = [
    [runTitle(run), named].filter((part) => part !== undefined).join(', '),
    [state, attention].filter((part) => part !== undefined).join(', '),
    formatTime(run.createdAt),
    ...facts,
    ...[...continuationsOf(run)].flatMap(([continuation, allowed]) =>
      allowed === true ? [] : noContinuationLabel(continuation, allowed),
    ),
  ].join('\n');
  const isWarning = unread !== undefined || isTroubleWarning(run, now);
  item.iconPath = isWarning ? new vscode.ThemeIcon('warning') : iconOf(run);
  item.contextValue = `run ${abilitiesOf(run, now, unread).join(' ')}`;
  item.accessibilityInformation = {
    label: [`${kindLabel(run)} · ${about}`, title, item.description].join(', '),
  };
  return item;
}

function isOnlyOfDay(run: Run, all: readonly Run[]): boolean {
  const { id, createdAt } = run;
  const day = new Date(createdAt).toDateString();
  return !all.some(
    (other) =>
      Math.abs(other.createdAt - createdAt) < 2 * dayMs &&
      other.id !== id &&
      new Date(other.createdAt).toDateString() === day &&
      foldersOf(other) === foldersOf(run),
  );
}

function countsLabel({ findings, cut, open }: FindingCounts): string {
  const all = countShown(findings, cut);
  return open === undefined || findings === 0 ? all : t('{0}, open: {1}', all, formatNumber(open));
}

/** `when` clauses of the manifest match these words. */
function abilitiesOf(run: Run, now: number, unread: Failure | undefined): string[] {
  const isBlackbox = run.workflow !== 'whitebox-assessment';
  const abilities = [
    [run.state, true],
    ['live', isLive(run)],
    ['final', isFinal(run)],
    ['hasRunId', runIdOf(run) !== undefined],
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
    ['hasSource', hasSource(run)],
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

const refreshMs = 60_000;

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

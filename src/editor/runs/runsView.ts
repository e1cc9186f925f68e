import { basename } from 'node:path';
import * as vscode from 'vscode';
import { hasFindings } from '../../core/findings/chooseRun.ts';
import type { FindingStore } from '../../core/findings/findingStore.ts';
import { countOpen } from '../../core/findings/shownFinding.ts';
import { pathKey } from '../../core/paths.ts';
import type { Clock } from '../../core/ports.ts';
import type { RunStore } from '../../core/run/disk/runStore.ts';
import { dayMs, isFinal, type Run } from '../../core/run/state/run.ts';
import type { RunNotes } from '../../core/run/disk/runNotes.ts';
import type { RunTracker } from '../../core/run/runTracker.ts';
import { hasHitCreditLimit } from '../../core/features/continuedRuns.ts';
import { needsDecision } from '../../core/run/state/trouble.ts';
import { titleOf } from './runLabels.ts';
import { formatList } from '../formats.ts';
import type { LazyView } from '../../lazyView.ts';
import { type FolderNode, type RunNode, toRunNode } from './pickRun.ts';
import { folderItem, runItem, unreadItem } from './runItems.ts';
import { factLines, linesOf, progressText, unsavedLines } from './runLines.ts';
import { nextSteps, stepsAfterEnd, waitingFacts } from './runStatus.ts';

const t = vscode.l10n.t;

export type RunsNode = RunNode | FolderNode | { readonly kind: 'line'; readonly item: vscode.TreeItem };

interface RunsDeps {
  readonly runs: RunStore;
  readonly findings: FindingStore;
  readonly tracker: Pick<RunTracker, 'onDidFailToSave' | 'nextCheckAt'>;
  readonly notes: Pick<RunNotes, 'runIdFor'>;
  readonly clock: Clock;
  readonly parseWorkerFile: string;
}

/** The view shows folders, their runs, and lines about a run. Rows hold no state. */
export function showRuns(lazy: LazyView<RunsNode>, deps: RunsDeps): vscode.Disposable {
  const { runs, findings, tracker } = deps;
  const changes = new vscode.EventEmitter<undefined>();
  lazy.fill({
    onDidChangeTreeData: changes.event,
    getChildren: (node) => childrenOf(node, deps),
    getTreeItem: (node) => toTreeItem(node, deps),
  });
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

async function childrenOf(node: RunsNode | undefined, deps: RunsDeps): Promise<RunsNode[]> {
  const { runs } = deps;
  switch (node?.kind) {
    case undefined: {
      const byFolders = Map.groupBy(runs.all(), foldersOf);
      return [
        ...[...byFolders].map(([key, runsOfFolders]) => toFolderNode(key, runsOfFolders)),
        ...runs.unread().map((run) => toLine(unreadItem(run))),
      ];
    }
    case 'folder':
      return runs
        .all()
        .filter((run) => foldersOf(run) === node.key)
        .map(toRunNode);
    case 'run': {
      const run = runs.get(node.id);
      return run === undefined ? [] : linesBelow(run, deps);
    }
    case 'line':
      return [];
  }
}

async function linesBelow(run: Run, deps: RunsDeps): Promise<RunsNode[]> {
  const { runs } = deps;
  const progress = hasHitCreditLimit(run)
    ? await progressText(run, runs.folderOf(run.id), deps.parseWorkerFile)
    : undefined;
  const unread = deps.findings.failureOf(run.id);
  return [
    ...factLines([...nextSteps(run, deps), ...stepsAfterEnd(run, deps)]),
    ...linesOf(run, deps.clock.now(), runs.all(), unread, progress),
    ...factLines(waitingFacts(run, deps)),
    ...unsavedLines(run, deps.notes.runIdFor(run)),
  ].map(toLine);
}

async function toTreeItem(node: RunsNode, deps: RunsDeps): Promise<vscode.TreeItem> {
  if (node.kind === 'line') return node.item;
  if (node.kind === 'folder') return folderItem(node);
  const { runs, findings } = deps;
  const run = runs.get(node.id);
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

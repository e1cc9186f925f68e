import * as vscode from 'vscode';
import type { FindingCounts } from '../../core/findings/view/show.ts';
import {
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
import { continuationsOf, hasHitCreditLimit } from '../../core/features/continuedRuns.ts';
import { isTroubleWarning, mayStopWatching, needsToken } from '../../core/run/state/trouble.ts';
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
  compact,
  countShown,
  formatDay,
  formatDuration,
  formatMinute,
  formatNumber,
  formatTime,
} from '../formats.ts';
import type { FolderNode } from './pickRun.ts';
import { hasSource } from './removeRuns.ts';

const t = vscode.l10n.t;

export function folderItem({ key, name, latestId }: FolderNode): vscode.TreeItem {
  const item = new vscode.TreeItem(name, vscode.TreeItemCollapsibleState.Expanded);
  item.id = `folder:${key}`;
  item.tooltip = key;
  item.iconPath = vscode.ThemeIcon.Folder;
  item.contextValue = latestId === undefined ? 'folder' : 'folder hasTrend';
  return item;
}

/** No command works on the row of an unread run. */
export function unreadItem({ id, createdAt, state }: UnreadRun): vscode.TreeItem {
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

export function runItem(run: Run, { now, unread, facts, isOnlyOfDay, counts }: KnownOfRun): vscode.TreeItem {
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
  item.description = compact(
    attention,
    ...(run.workflow === 'whitebox-assessment' ? [] : [kindLabel(run), about]),
    name,
    isOnlyOfDay ? formatDay(run.createdAt) : formatMinute(run.createdAt),
    counts && countsLabel(counts),
  ).join(' · ');
  item.tooltip = [
    compact(runTitle(run), named).join(', '),
    compact(state, attention).join(', '),
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

function countsLabel({ findings, cut, open }: FindingCounts): string {
  const all = countShown(findings, cut);
  return open === undefined || findings === 0 ? all : t('{0}, open: {1}', all, formatNumber(open));
}

/** `when` clauses of the manifest match these words. */
function abilitiesOf(run: Run, now: number, unread: Failure | undefined): string[] {
  const isBlackbox = run.workflow !== 'whitebox-assessment';
  return compact<string>(
    run.state,
    isLive(run) && 'live',
    isFinal(run) && 'final',
    runIdOf(run) !== undefined && 'hasRunId',
    mayStopWatching(run, now) && 'isStuck',
    needsToken(run) && 'needsToken',
    hasRemoteResults(run) && 'hasRemoteResults',
    isUnsent(run) && (isBlackbox ? 'mayStartAgain' : 'isUnsent'),
    hasArtifact(run, 'report') && 'hasReport',
    hasArtifact(run, 'findings') && 'hasFindings',
    hasArtifact(run, 'features') && 'hasFeatures',
    ...[...continuationsOf(run)].map(([word, allowed]) => allowed === true && word),
    hasArtifact(run, 'findings') && unread !== undefined && 'hasUnreadFindings',
    hasSource(run) && 'hasSource',
  );
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

import { basename } from 'node:path';
import * as vscode from 'vscode';
import { type FolderSum, levelBelow } from '../../core/upload/choose/choices.ts';
import type { NotUploaded, NotUploadedReason } from '../../core/upload/choose/prepare.ts';
import type { IgnoreRule } from '../../core/upload/ignore/ignoreRules.ts';
import type { Suspicion } from '../../core/upload/secrets/scanFile.ts';
import type { SelectedFile } from '../../core/upload/select/selection.ts';
import { visibleName } from '../../core/visibleText.ts';
import { countFiles, formatBytes, formatNumber } from '../formats.ts';
import { reasonLabel, ruleLabel } from '../labels.ts';
import { describeSuspicion, describeSuspicions, type Prepared } from './preparation.ts';

/** A line of the Upload Preview; commands called on a file or folder get its node. */
export type PreviewNode =
  | { readonly kind: 'root'; readonly of: Prepared }
  | { readonly kind: 'sent'; readonly of: Prepared }
  | { readonly kind: 'folder'; readonly of: Prepared; readonly sum: FolderSum }
  | { readonly kind: 'file'; readonly of: Prepared; readonly file: SelectedFile }
  | { readonly kind: 'leftOut'; readonly of: Prepared }
  | {
      readonly kind: 'reason';
      readonly of: Prepared;
      readonly label: string;
      readonly items: readonly NotUploaded[];
    }
  | { readonly kind: 'item'; readonly of: Prepared; readonly item: NotUploaded }
  | { readonly kind: 'widened'; readonly of: Prepared }
  | { readonly kind: 'rule'; readonly rule: IgnoreRule }
  | { readonly kind: 'more'; readonly count: number };

/** More rows would take seconds to show. */
const maxRows = 2_000;

/** The tree of the files that would be uploaded, and of those that would not. */
export function previewTree(
  shown: () => readonly Prepared[],
  onDidChange: vscode.Event<undefined>,
): vscode.TreeDataProvider<PreviewNode> {
  return {
    onDidChangeTreeData: onDidChange,
    getChildren: (node) => (node === undefined ? rootsOf(shown()) : childrenOf(node)),
    getTreeItem: toItem,
  };
}

function rootsOf(shown: readonly Prepared[]): PreviewNode[] {
  const [only] = shown;
  if (shown.length === 1 && only !== undefined) return halvesOf(only);
  return shown.map((of) => ({ kind: 'root', of }));
}

function halvesOf(of: Prepared): PreviewNode[] {
  return [
    { kind: 'sent', of },
    { kind: 'leftOut', of },
  ];
}

function childrenOf(node: PreviewNode): PreviewNode[] {
  switch (node.kind) {
    case 'root':
      return halvesOf(node.of);
    case 'sent':
      return levelOf(node.of);
    case 'folder':
      return levelOf(node.of, node.sum);
    case 'leftOut':
      return reasonsOf(node.of);
    case 'reason':
      return capped(node.items.map((item) => ({ kind: 'item', of: node.of, item })));
    case 'widened':
      return capped(node.of.selection.widened.map((rule) => ({ kind: 'rule', rule })));
    case 'file':
    case 'item':
    case 'rule':
    case 'more':
      return [];
  }
}

function levelOf(of: Prepared, folder?: FolderSum): PreviewNode[] {
  const level = levelBelow(of.selection.files, folder);
  return capped([
    ...level.folders.map((sum): PreviewNode => ({ kind: 'folder', of, sum })),
    ...level.files.map((file): PreviewNode => ({ kind: 'file', of, file })),
  ]);
}

function reasonsOf(of: Prepared): PreviewNode[] {
  const groups = Map.groupBy(of.selection.leftOut, ({ reason }) => reasonLabel(reason));
  const reasons = [...groups].map(([label, items]): PreviewNode => ({ kind: 'reason', of, label, items }));
  return of.selection.widened.length === 0 ? reasons : [...reasons, { kind: 'widened', of }];
}

function capped(nodes: PreviewNode[]): PreviewNode[] {
  if (nodes.length <= maxRows) return nodes;
  return [...nodes.slice(0, maxRows), { kind: 'more', count: nodes.length - maxRows }];
}

function toItem(node: PreviewNode): vscode.TreeItem {
  const { None, Collapsed, Expanded } = vscode.TreeItemCollapsibleState;
  const t = vscode.l10n.t;
  switch (node.kind) {
    case 'root':
      return line(visibleName(node.of.folder.name), Expanded, sizeOf(node.of), vscode.ThemeIcon.Folder);
    case 'sent':
      return line(t('To be uploaded'), Expanded, sizeOf(node.of), new vscode.ThemeIcon('cloud-upload'));
    case 'leftOut':
      return line(
        t('Left out'),
        Expanded,
        formatNumber(node.of.selection.leftOut.length),
        new vscode.ThemeIcon('exclude'),
      );
    case 'reason':
      return line(node.label, Collapsed, formatNumber(node.items.length));
    case 'widened': {
      const item = line(
        t('Rules not read as git reads them'),
        Collapsed,
        formatNumber(node.of.selection.widened.length),
        new vscode.ThemeIcon('info'),
      );
      item.tooltip = t(
        'Rules that are not written plainly: each leaves out more than git would, or, starting with “!”, brings nothing back. Nothing more is uploaded by them.',
      );
      return item;
    }
    case 'rule': {
      const { pattern, file, line: number } = node.rule;
      return line(
        visibleName(pattern),
        None,
        file === undefined ? '' : visibleName(`${file}:${String(number)}`),
      );
    }
    case 'more':
      return line(t('… and {0} more', formatNumber(node.count)), None, '');
    case 'folder': {
      const { sum } = node;
      const item = line(
        visibleName(basename(sum.path)),
        Collapsed,
        `${countFiles(sum.files)}, ${formatBytes(sum.bytes)}`,
        vscode.ThemeIcon.Folder,
      );
      return withCheckbox(item, true, sum.path);
    }
    case 'file': {
      const suspicions = suspicionsOf(node);
      const size = formatBytes(node.file.bytes);
      const item =
        suspicions.length === 0
          ? line(nameOf(node.file), None, size, vscode.ThemeIcon.File)
          : line(
              nameOf(node.file),
              None,
              `${size} · ${t('suspected secret')}`,
              new vscode.ThemeIcon('warning'),
            );
      if (suspicions.length > 0)
        item.tooltip = [visibleName(node.file.path), describeSuspicions(suspicions)].join('\n');
      item.resourceUri = vscode.Uri.joinPath(node.of.folder.uri, node.file.path);
      item.command = { title: t('Open'), command: 'vscode.open', arguments: [item.resourceUri] };
      return withCheckbox(item, true, node.file.path);
    }
    case 'item':
      return leftOutItem(node.item);
  }
}

function nameOf({ path }: SelectedFile): string {
  return visibleName(basename(path));
}

/** The suspicions about a file that would be uploaded. */
function suspicionsOf({ of, file }: PreviewNode & { kind: 'file' }): readonly Suspicion[] {
  const check = of.checks.get(file.path);
  return check === undefined || 'reason' in check ? [] : check.suspicions;
}

function leftOutItem({ path, reason }: NotUploaded): vscode.TreeItem {
  const item = line(visibleName(path), vscode.TreeItemCollapsibleState.None, detailOf(reason));
  item.tooltip = `${visibleName(path)}\n${reasonLabel(reason)}\n${detailOf(reason)}`;
  return canBeSent(path, reason) ? withCheckbox(item, false, path) : item;
}

/** True for what a person may add: no links or special files, and not the folder's root. */
function canBeSent(path: string, { kind }: NotUploadedReason): boolean {
  return path !== './' && (kind === 'ignored' || kind === 'choice' || kind === 'secret');
}

function detailOf(reason: NotUploadedReason): string {
  switch (reason.kind) {
    case 'ignored':
      return visibleName(ruleLabel(reason.rule));
    case 'secret':
      return reason.suspicions.slice(0, 1).map(describeSuspicion).join('');
    case 'unreadable':
      return [refusalLabel(reason.code), visibleName(reason.file ?? '')].join(' ').trim();
    case 'special':
      return specialLabel(reason.type);
    default:
      return '';
  }
}

/** Why a file could not be read; a code of the system as it is. */
function refusalLabel(code: string): string {
  const t = vscode.l10n.t;
  switch (code) {
    case 'changed':
      return t('changed again and again while it was read');
    case 'changedType':
      return t('no regular file any more');
    case 'vanished':
      return t('no longer there');
    case 'outsideRoot':
      return t('outside the folder');
    case 'unusableName':
      return t('name that other systems cannot take');
    case 'unreadable':
      return t('unreadable');
    default:
      return code;
  }
}

function specialLabel(type: 'fifo' | 'socket' | 'device'): string {
  switch (type) {
    case 'fifo':
      return vscode.l10n.t('named pipe');
    case 'socket':
      return vscode.l10n.t('socket');
    case 'device':
      return vscode.l10n.t('device');
  }
}

function line(
  label: string,
  state: vscode.TreeItemCollapsibleState,
  description: string,
  icon?: vscode.ThemeIcon,
): vscode.TreeItem {
  const item = new vscode.TreeItem(label, state);
  item.description = description;
  if (icon !== undefined) item.iconPath = icon;
  item.accessibilityInformation = { label: description === '' ? label : `${label}, ${description}` };
  return item;
}

function withCheckbox(item: vscode.TreeItem, isSent: boolean, path: string): vscode.TreeItem {
  const t = vscode.l10n.t;
  const tooltip = isSent
    ? t('Would be uploaded; uncheck to leave it out')
    : t('Left out; check to upload it all the same');
  item.checkboxState = {
    state: isSent ? vscode.TreeItemCheckboxState.Checked : vscode.TreeItemCheckboxState.Unchecked,
    tooltip,
    accessibilityInformation: { label: `${visibleName(path)}: ${tooltip}` },
  };
  item.contextValue = isSent ? 'sent' : 'leftOut';
  return item;
}

function sizeOf({ selection }: Prepared): string {
  return `${countFiles(selection.files.length)}, ${formatBytes(selection.bytes)}`;
}

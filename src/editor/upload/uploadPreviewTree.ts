import { basename } from 'node:path';
import * as vscode from 'vscode';
import { type FolderSum, levelBelow } from '../../core/upload/choose/choices.ts';
import type { NotUploaded, NotUploadedReason } from '../../core/upload/choose/prepareUpload.ts';
import type { UnreadRules } from '../../core/upload/ignore/readIgnoreFile.ts';
import type { IgnoreRule } from '../../core/upload/ignore/ignoreRules.ts';
import type { IndexProblem } from '../../core/upload/ignore/gitIndex.ts';
import type { UnreadIndex } from '../../core/upload/ignore/trackedFiles.ts';
import { countLfsPointers, type SelectedFile } from '../../core/upload/select/selection.ts';
import { visibleName } from '../../core/visibleText.ts';
import { maxRows, toCheckbox } from '../../lazyView.ts';
import type { Folder } from '../folders.ts';
import { countFiles, formatBytes, formatNumber, moreLabel } from '../formats.ts';
import { describeSuspicion, describeSuspicions, type Prepared } from './checkAndPack.ts';

const t = vscode.l10n.t;

const { None, Collapsed, Expanded } = vscode.TreeItemCollapsibleState;

export interface PreviewNode {
  readonly item: vscode.TreeItem;
  readonly children?: () => PreviewNode[];
  /** Without a `reason`, the file or folder is uploaded. */
  readonly about?: {
    readonly folder: Folder;
    readonly path: string;
    readonly reason?: NotUploadedReason;
  };
}

export function previewTree(
  shown: () => readonly Prepared[],
  onDidChange: vscode.Event<undefined>,
): vscode.TreeDataProvider<PreviewNode> {
  return {
    onDidChangeTreeData: onDidChange,
    getChildren: (node) => (node === undefined ? rootsOf(shown()) : (node.children?.() ?? [])),
    getTreeItem: ({ item }) => item,
  };
}

function rootsOf(shown: readonly Prepared[]): PreviewNode[] {
  const [only] = shown;
  if (shown.length === 1 && only !== undefined) return groupsOf(only);
  return shown.map((prepared) => ({
    item: line(visibleName(prepared.folder.name), Expanded, sizeOf(prepared), vscode.ThemeIcon.Folder),
    children: () => groupsOf(prepared),
  }));
}

function groupsOf(prepared: Prepared): PreviewNode[] {
  const excluded = formatNumber(prepared.selection.excluded.length);
  return [
    {
      item: line(t('To be uploaded'), Expanded, sizeOf(prepared), new vscode.ThemeIcon('cloud-upload')),
      children: () => levelOf(prepared),
    },
    {
      item: line(t('Excluded'), Expanded, excluded, new vscode.ThemeIcon('exclude')),
      children: () => reasonsOf(prepared),
    },
  ];
}

function levelOf(prepared: Prepared, folder?: FolderSum): PreviewNode[] {
  const level = levelBelow(prepared.selection.files, folder);
  return capped([
    ...level.folders.map((sum) => () => folderNode(prepared, sum)),
    ...level.files.map((file) => () => fileNode(prepared, file)),
  ]);
}

function reasonsOf(prepared: Prepared): PreviewNode[] {
  const { excluded, unreadRules, unreadIndexes } = prepared.selection;
  const groups = Map.groupBy(excluded, ({ reason }) => reasonLabel(reason));
  return [
    ...[...groups].map(([label, items]) => ({
      item: line(label, Collapsed, formatNumber(items.length)),
      children: () => capped(items.map((item) => () => excludedNode(prepared, item))),
    })),
    ...(unreadRules.length === 0 ? [] : [unreadRulesNode(unreadRules)]),
    ...(unreadIndexes.length === 0 ? [] : [unreadIndexesNode(unreadIndexes)]),
  ];
}

function capped(rows: readonly (() => PreviewNode)[]): PreviewNode[] {
  const nodes = rows.slice(0, maxRows).map((toNode) => toNode());
  const more = rows.length - nodes.length;
  return more === 0 ? nodes : [...nodes, { item: line(moreLabel(more), None, '') }];
}

function folderNode(prepared: Prepared, sum: FolderSum): PreviewNode {
  const { path, files, bytes } = sum;
  const size = `${countFiles(files)}, ${formatBytes(bytes)}`;
  const item = line(visibleName(basename(path)), Collapsed, size, vscode.ThemeIcon.Folder);
  return {
    item: withCheckbox(item, true, path),
    children: () => levelOf(prepared, sum),
    about: { folder: prepared.folder, path },
  };
}

function fileNode(prepared: Prepared, { path, bytes, isLfsPointer }: SelectedFile): PreviewNode {
  const check = prepared.checks.get(path);
  const suspicions = check === undefined || 'reason' in check ? [] : check.suspicions;
  const isSuspected = suspicions.length > 0;
  const item = line(
    visibleName(basename(path)),
    None,
    [
      formatBytes(bytes),
      ...(isSuspected ? [t('suspected secret')] : []),
      ...(isLfsPointer === true ? [t('Git LFS pointer')] : []),
    ].join(' · '),
    isSuspected ? new vscode.ThemeIcon('warning') : vscode.ThemeIcon.File,
  );
  if (isSuspected) item.tooltip = [visibleName(path), describeSuspicions(suspicions)].join('\n');
  item.resourceUri = vscode.Uri.joinPath(prepared.folder.uri, path);
  item.command = { title: t('Open'), command: 'vscode.open', arguments: [item.resourceUri] };
  return { item: withCheckbox(item, true, path), about: { folder: prepared.folder, path } };
}

function excludedNode(prepared: Prepared, { path, reason }: NotUploaded): PreviewNode {
  const item = line(visibleName(path), None, detailOf(reason));
  item.tooltip = `${visibleName(path)}\n${reasonLabel(reason)}\n${detailOf(reason)}`;
  const canBeAdded =
    path !== './' && ['ignored', 'ignoredButTracked', 'choice', 'secret'].includes(reason.kind);
  return {
    item: canBeAdded ? withCheckbox(item, false, path) : item,
    about: { folder: prepared.folder, path, reason },
  };
}

function unreadRulesNode(files: readonly UnreadRules[]): PreviewNode {
  return notesNode(
    { label: t('Ignore rules that don’t apply'), icon: 'warning' },
    t('Some rules of these files don’t apply, so files that they name may be uploaded.'),
    files.map(({ file, problem }) => [file, ruleProblemLabel(problem)]),
  );
}

function ruleProblemLabel(problem: UnreadRules['problem']): string {
  return {
    utf16: t('The file is UTF-16, so Git finds no rules in it. Save the file as UTF-8.'),
    nul: t('The file contains NUL bytes. Git ignores the rest of a line after a NUL byte.'),
    notOnDisk: t(
      'Not on disk because of a sparse checkout. Git applies the rules of this file, and VS Code doesn’t.',
    ),
  }[problem];
}

function unreadIndexesNode(indexes: readonly UnreadIndex[]): PreviewNode {
  return notesNode(
    { label: t('Ignored files that Git tracks: unknown'), icon: 'info' },
    t(
      'VS Code can’t read which files Git tracks. If some of them are ignored, they’re excluded, but aren’t listed separately.',
    ),
    indexes.map(({ file, problem }) => [file, problemLabel(problem)]),
  );
}

function problemLabel(problem: IndexProblem): string {
  return {
    split: t('split index'),
    sparse: t('sparse index, but excluded folders exist'),
    damaged: t('damaged'),
    tooLarge: t('too large'),
    unreadable: t('unreadable'),
    unsupported: t('unsupported format'),
  }[problem];
}

function notesNode(
  { label, icon }: { readonly label: string; readonly icon: string },
  tooltip: string,
  notes: readonly (readonly [file: string, problem: string])[],
): PreviewNode {
  const item = line(label, Collapsed, formatNumber(notes.length), new vscode.ThemeIcon(icon));
  item.tooltip = tooltip;
  const rows = notes.map(([file, problem]) => () => ({ item: line(visibleName(file), None, problem) }));
  return { item, children: () => capped(rows) };
}

function reasonLabel(reason: NotUploadedReason): string {
  if (reason.kind === 'ignored') {
    const { source } = reason.rule;
    if (source === 'whiteboxignore') return t('By .whiteboxignore');
    return source === 'setting' ? t('By the archive.exclude setting') : t('Ignored by Git');
  }
  return {
    ignoredButTracked: t('Tracked by Git, but ignored'),
    link: t('Links'),
    special: t('Special files'),
    nestedRepository: t('Nested repositories'),
    submodule: t('Submodules that aren’t checked out'),
    unreadable: t('Can’t be read'),
    unusableName: t('Names that aren’t valid on other systems'),
    outsideRoot: t('Outside the folder'),
    repositoryData: t('Version control data'),
    choice: t('By your choice'),
    secret: t('Suspected secrets'),
  }[reason.kind];
}

function ruleLabel({ pattern, file, line: number, isConditional }: IgnoreRule): string {
  const shownRule = file === undefined ? pattern : `${pattern}  (${file}:${String(number)})`;
  return isConditional === true ? t('{0}: may exclude more than Git does', shownRule) : shownRule;
}

function detailOf(reason: NotUploadedReason): string {
  switch (reason.kind) {
    case 'ignored':
    case 'ignoredButTracked':
      return visibleName(ruleLabel(reason.rule));
    case 'secret':
      return reason.suspicions.slice(0, 1).map(describeSuspicion).join('');
    case 'unreadable':
      return [refusalLabel(reason.code), visibleName(reason.file ?? '')].join(' ').trim();
    default:
      return '';
  }
}

function refusalLabel(code: string): string {
  const labels: Readonly<Record<string, string>> = {
    changed: t('kept changing while it was read'),
    changedType: t('no longer a regular file'),
    vanished: t('no longer there'),
    outsideRoot: t('outside the folder'),
    unusableName: t('name that isn’t valid on other systems'),
    unreadable: t('unreadable'),
  };
  return labels[code] ?? code;
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

function withCheckbox(item: vscode.TreeItem, isUploaded: boolean, path: string): vscode.TreeItem {
  const tooltip = isUploaded
    ? t('Included in the upload. To exclude it, clear the checkbox.')
    : t('Excluded. To upload it anyway, select the checkbox.');
  item.checkboxState = toCheckbox(isUploaded, visibleName(path), tooltip);
  item.contextValue = isUploaded ? 'uploaded' : 'excluded';
  return item;
}

function sizeOf({ selection }: Prepared): string {
  const size = `${countFiles(selection.files.length)}, ${formatBytes(selection.bytes)}`;
  const pointers = countLfsPointers(selection.files);
  if (pointers === 0) return size;
  return t('{0}; Git LFS pointers without their content: {1}', size, formatNumber(pointers));
}

import * as vscode from 'vscode';
import type { Filter, FilterPart } from '../../../core/findings/view/filter.ts';
import type { Change, Grouping, GroupTopic } from '../../../core/findings/view/groups.ts';
import { severityLabel, triageLabel } from '../../labels.ts';

/** What may have become of a finding's code since it was scanned, as something to choose. */
export function driftChoiceLabel(drift: NonNullable<Filter['drift']>[number]): string {
  const t = vscode.l10n.t;
  switch (drift) {
    case 'same':
      return t('Code as scanned');
    case 'moved':
      return t('Code moved');
    case 'changed':
      return t('Code changed');
    case 'gone':
      return t('Code gone');
    case 'unknown':
      return t('Not known whether code changed');
    case 'none':
      return t('Without a place in this workspace');
  }
}

/** How a finding relates to another run, as a few words. */
function changeLabel(change: Change): string {
  const t = vscode.l10n.t;
  switch (change) {
    case 'new':
      return t('New');
    case 'fixed':
      return t('Fixed');
    case 'unchanged':
      return t('Unchanged');
  }
}

/** A CWE by its number. */
export function cweLabel(cwe: number | null | undefined): string {
  return cwe === null || cwe === undefined ? vscode.l10n.t('Without a CWE') : `CWE-${String(cwe)}`;
}

/** A grouping by what it groups by. */
export function groupingLabel(grouping: Grouping): string {
  const t = vscode.l10n.t;
  switch (grouping) {
    case 'severity':
      return t('Severity');
    case 'file':
      return t('File');
    case 'cwe':
      return t('CWE');
    case 'triage':
      return t('Triage State');
  }
}

/** The heading of a group that is no file. */
export function topicLabel(topic: Exclude<GroupTopic, { kind: 'file' }>): string {
  switch (topic.kind) {
    case 'severity':
      return severityLabel(topic.severity);
    case 'cwe':
      return cweLabel(topic.cwe);
    case 'triage':
      return triageLabel(topic.state);
    case 'change':
      return changeLabel(topic.change);
  }
}

/** What a part of a filter looks at. */
export function partLabel(part: FilterPart): string {
  const t = vscode.l10n.t;
  switch (part) {
    case 'severities':
      return t('Severity');
    case 'triage':
      return t('Triage State');
    case 'drift':
      return t('Code Since the Scan');
    case 'cwes':
      return t('CWE');
    case 'folders':
      return t('Folder');
    case 'onlyNew':
      return t('New Since the Last Run');
    case 'text':
      return t('Text');
  }
}

/** A folder of `Filter.folders`, relative to the workspace. */
export function folderLabel(folder: string): string {
  if (folder === '') return vscode.l10n.t('Without a place in this workspace');
  const uri = vscode.Uri.file(folder.slice(0, -1));
  const root = vscode.workspace.workspaceFolders?.find(({ uri: { path } }) => path === uri.path);
  return root?.name ?? vscode.workspace.asRelativePath(uri);
}

/** What a part of a filter lets through, as a few words. */
export function describePart(part: FilterPart, filter: Filter): string {
  switch (part) {
    case 'severities':
      return (filter.severities ?? []).map(severityLabel).join(', ');
    case 'triage':
      return (filter.triage ?? []).map(triageLabel).join(', ');
    case 'drift':
      return (filter.drift ?? []).map(driftChoiceLabel).join(', ');
    case 'cwes':
      return (filter.cwes ?? []).map(cweLabel).join(', ');
    case 'folders':
      return (filter.folders ?? []).map(folderLabel).join(', ');
    case 'onlyNew':
      return partLabel(part);
    case 'text':
      return vscode.l10n.t('“{0}”', filter.text ?? '');
  }
}

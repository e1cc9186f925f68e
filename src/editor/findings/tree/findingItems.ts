import { basename } from 'node:path';
import * as vscode from 'vscode';
import type { Severity } from '../../../core/findings/finding.ts';
import type { ShownFinding } from '../../../core/findings/shownFinding.ts';
import type { Change, GroupTopic } from '../../../core/findings/view/groups.ts';
import type { FindingNode, GroupNode, OutlineNode } from '../../../core/findings/view/outline.ts';
import type { TriageState } from '../../../core/findings/triage/triage.ts';
import { visibleLine, visibleText } from '../../../core/visibleText.ts';
import { countFindings, formatNumber } from '../../formats.ts';
import { driftLabel, severityLabel, titleOfFinding, triageLabel } from '../../labels.ts';
import { cweLabel } from './filtering.ts';

const maxTooltipLength = 2_000;

/** A line of the Findings view as the editor draws it; `isExpanded` says whether files are open at first. */
export function toItem(node: OutlineNode, isExpanded: boolean): vscode.TreeItem {
  const item = itemOf(node, isExpanded);
  item.id = node.id;
  return item;
}

function itemOf(node: OutlineNode, isExpanded: boolean): vscode.TreeItem {
  switch (node.kind) {
    case 'group':
      return node.topic.kind === 'file'
        ? fileItem(node, isExpanded)
        : headingItem(topicLabel(node.topic), node, node.topic);
    case 'finding':
      return findingItem(node);
    case 'more':
      return moreItem(node.count);
  }
}

function headingItem(label: string, { shown }: GroupNode, topic: GroupTopic): vscode.TreeItem {
  const item = new vscode.TreeItem(label, vscode.TreeItemCollapsibleState.Expanded);
  item.description = formatNumber(shown.length);
  item.contextValue = 'group';
  item.iconPath = iconOfTopic(topic);
  item.tooltip = `${label}: ${countFindings(shown.length)}`;
  item.accessibilityInformation = { label: `${label}, ${countFindings(shown.length)}` };
  return item;
}

function fileItem({ topic, shown }: GroupNode, isExpanded: boolean): vscode.TreeItem {
  const { Collapsed, Expanded } = vscode.TreeItemCollapsibleState;
  const place = shown[0]?.places[0];
  const path = place === undefined ? undefined : visibleLine(place.path);
  const label = path === undefined ? vscode.l10n.t('Without a place in this workspace') : basename(path);
  const item = new vscode.TreeItem(label, isExpanded ? Expanded : Collapsed);
  item.contextValue = place === undefined ? 'unplaced' : 'file';
  if (path === undefined || topic.kind !== 'file' || topic.file === undefined) {
    item.iconPath = new vscode.ThemeIcon('question');
    item.description = formatNumber(shown.length);
  } else {
    item.resourceUri = vscode.Uri.file(topic.file);
    item.iconPath = vscode.ThemeIcon.File;
    item.description =
      path === label
        ? formatNumber(shown.length)
        : `${path.slice(0, -label.length - 1)} · ${formatNumber(shown.length)}`;
  }
  item.tooltip = `${path ?? label}: ${countFindings(shown.length)}`;
  item.accessibilityInformation = { label: `${path ?? label}, ${countFindings(shown.length)}` };
  return item;
}

function findingItem(node: FindingNode): vscode.TreeItem {
  const t = vscode.l10n.t;
  const { shown } = node;
  const heading = node.parent.parent?.topic;
  const [told] = shown.finding.places;
  const {
    finding,
    places: [place],
    triage,
    change,
  } = shown;
  const title = titleOfFinding(finding);
  const drift = place && driftLabel(place);
  const item = new vscode.TreeItem(title);
  const facts = [
    ...(place === undefined && told !== undefined ? [visibleLine(told.path)] : []),
    ...(place?.startLine === undefined ? [] : [t('line {0}', place.startLine)]),
    ...finding.cwes.map(cweLabel),
    ...(change === 'new' && heading?.kind !== 'change' ? [t('new')] : []),
    ...(triage.state === 'open' ? [] : [triageLabel(triage.state)]),
    ...(drift === undefined ? [] : [drift]),
  ];
  item.description = (
    heading?.kind === 'severity' ? facts : [severityLabel(finding.severity), ...facts]
  ).join(' · ');
  item.iconPath = iconOf(finding.severity, triage.state);
  item.contextValue = 'finding';
  item.tooltip = tooltipOf(shown, title);
  item.accessibilityInformation = {
    label: [`${severityLabel(finding.severity)}: ${title}`, ...facts].join(', '),
  };
  item.command = {
    title: t('Show in Editor'),
    command: 'whitebox.revealFinding',
    // The node itself: a fixed finding is not among those the store has.
    arguments: [node],
  };
  return item;
}

/** Plain text: what it shows is untrusted. */
function tooltipOf({ finding, triage }: ShownFinding, title: string): string {
  const note = visibleLine(triage.note);
  const decision = note === '' ? triageLabel(triage.state) : `${triageLabel(triage.state)}: ${note}`;
  const rating = [severityLabel(finding.severity), ...finding.cwes.map(cweLabel)].join(' · ');
  return [title, `${rating} · ${decision}`, visibleText(finding.description)]
    .filter((part) => part !== '')
    .join('\n\n')
    .slice(0, maxTooltipLength);
}

function moreItem(count: number): vscode.TreeItem {
  const t = vscode.l10n.t;
  const item = new vscode.TreeItem(t('… and {0} more', formatNumber(count)));
  item.description = t('narrow them down with a filter');
  item.iconPath = new vscode.ThemeIcon('filter');
  item.accessibilityInformation = {
    label: `${t('… and {0} more', formatNumber(count))}, ${item.description}`,
  };
  item.command = { title: t('Filter…'), command: 'whitebox.filterFindings' };
  return item;
}

function iconOfTopic(topic: GroupTopic): vscode.ThemeIcon {
  switch (topic.kind) {
    case 'severity':
      return iconOf(topic.severity, 'open');
    case 'triage':
      return new vscode.ThemeIcon(triageIcon(topic.state) ?? 'circle-outline');
    case 'change':
      return new vscode.ThemeIcon({ new: 'add', fixed: 'pass', unchanged: 'dash' }[topic.change]);
    case 'cwe':
      return new vscode.ThemeIcon('bug');
    case 'file':
      return vscode.ThemeIcon.File;
  }
}

/** What a person has settled looks settled, whatever its severity. */
function iconOf(severity: Severity, state: TriageState): vscode.ThemeIcon {
  const settled = state === 'confirmed' ? undefined : triageIcon(state);
  if (settled !== undefined) return new vscode.ThemeIcon(settled);
  switch (severity) {
    case 'critical':
      return new vscode.ThemeIcon('flame', new vscode.ThemeColor('problemsErrorIcon.foreground'));
    case 'high':
      return new vscode.ThemeIcon('error', new vscode.ThemeColor('problemsErrorIcon.foreground'));
    case 'medium':
      return new vscode.ThemeIcon('warning', new vscode.ThemeColor('symbolIcon.classForeground'));
    case 'low':
    case 'none':
    case 'unrated':
      return new vscode.ThemeIcon('info');
  }
}

function triageIcon(state: TriageState): string | undefined {
  switch (state) {
    case 'open':
      return undefined;
    case 'confirmed':
      return 'verified';
    case 'falsePositive':
      return 'circle-slash';
    case 'acceptedRisk':
      return 'law';
    case 'fixed':
      return 'pass';
  }
}

/** The heading of a group that is no file. */
function topicLabel(topic: Exclude<GroupTopic, { kind: 'file' }>): string {
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

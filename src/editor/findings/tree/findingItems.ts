import { basename } from 'node:path';
import * as vscode from 'vscode';
import type { Verdict } from '../../../core/findings/compare/verdict.ts';
import { isLiveFinding, type Severity } from '../../../core/findings/finding.ts';
import { leastOf } from '../../../core/findings/place/evidence.ts';
import type { ShownFinding } from '../../../core/findings/shownFinding.ts';
import type { GroupTopic } from '../../../core/findings/view/groups.ts';
import type { FindingNode, GroupNode, OutlineNode } from '../../../core/findings/view/outline.ts';
import { requestOf } from '../../../core/findings/view/findingMarkdown.ts';
import { isSettled, type TriageState } from '../../../core/findings/triage/triage.ts';
import { visibleLine, visibleText } from '../../../core/visibleText.ts';
import { countFindings, formatNumber } from '../../formats.ts';
import {
  decidedBeforeLabel,
  driftLabel,
  evidenceLabel,
  severityLabel,
  titleOfFinding,
  triageLabel,
  verdictHeading,
  verdictLabel,
} from '../../labels.ts';
import { cweLabel, featureLabel } from './filtering.ts';

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
  const [reported] = shown.finding.places;
  const {
    finding,
    places: [place],
    triage,
    verdict,
    decidedBefore,
    evidence,
  } = shown;
  const title = titleOfFinding(finding);
  const drift = place && driftLabel(place);
  const quoted = leastOf(evidence);
  const item = new vscode.TreeItem(title);
  const facts = [
    ...(place === undefined && reported !== undefined ? [visibleLine(reported.path)] : []),
    ...(place?.startLine === undefined ? [] : [t('line {0}', place.startLine)]),
    ...(finding.perspective === undefined ? [] : [finding.perspective]),
    ...(finding.url === undefined ? [] : [requestOf(finding)]),
    ...finding.cwes.map(cweLabel),
    ...(verdict === undefined || usual.has(verdict) || heading?.kind === 'verdict'
      ? []
      : [verdictLabel(verdict)]),
    ...(triage.state === 'open' ? [] : [triageLabel(triage.state)]),
    ...(decidedBefore === undefined ? [] : [decidedBeforeLabel(decidedBefore)]),
    ...(quoted?.kind === 'notAsSent' || quoted?.kind === 'elsewhere' ? [`⚠ ${evidenceLabel(quoted)}`] : []),
    ...(drift === undefined ? [] : [drift]),
  ];
  item.description = (
    heading?.kind === 'severity' ? facts : [severityLabel(finding.severity), ...facts]
  ).join(' · ');
  // A settled finding shows its triage state instead of its severity.
  const settledIcon = isSettled(triage.state) ? triageIcons[triage.state] : undefined;
  item.iconPath =
    settledIcon === undefined ? severityIcon(finding.severity) : new vscode.ThemeIcon(settledIcon);
  item.contextValue = [
    'finding',
    ...(isLiveFinding(finding) ? ['live'] : []),
    ...(finding.url === undefined ? [] : ['withUrl']),
    ...(finding.places.length > 1 ? ['withPath'] : []),
  ].join(' ');
  item.tooltip = tooltipOf(shown, title);
  item.accessibilityInformation = {
    label: [`${severityLabel(finding.severity)}: ${title}`, ...facts].join(', '),
  };
  const isOnlyLive = place === undefined && isLiveFinding(finding);
  item.command = {
    title: isOnlyLive ? t('Show Details') : t('Show in Editor'),
    command: isOnlyLive ? 'whitebox.showFindingDetails' : 'whitebox.revealFinding',
    // The node itself, since a command may come after its run is shown no more.
    arguments: [node],
  };
  return item;
}

/** Plain text, since findings are untrusted. */
function tooltipOf(
  { finding, triage, verdict, decidedBefore, evidence }: ShownFinding,
  title: string,
): string {
  const note = visibleLine(triage.note);
  const decision = note === '' ? triageLabel(triage.state) : `${triageLabel(triage.state)}: ${note}`;
  const rating = [severityLabel(finding.severity), ...finding.cwes.map(cweLabel)].join(' · ');
  const where = [finding.feature, requestOf(finding)].filter((part) => part !== undefined && part !== '');
  const quoted = leastOf(evidence);
  const known = [
    quoted && evidenceLabel(quoted),
    verdict && verdictLabel(verdict),
    decidedBeforeLabel(decidedBefore),
  ];
  const facts = known.filter((each) => each !== undefined).join(' · ');
  return [title, `${rating} · ${decision}`, facts, where.join('\n'), visibleText(finding.description)]
    .filter((part) => part !== '')
    .join('\n\n')
    .slice(0, maxTooltipLength);
}

function moreItem(count: number): vscode.TreeItem {
  const t = vscode.l10n.t;
  const label = t('… and {0} more', formatNumber(count));
  const item = new vscode.TreeItem(label);
  item.description = t('narrow them down with a filter');
  item.iconPath = new vscode.ThemeIcon('filter');
  item.accessibilityInformation = { label: `${label}, ${item.description}` };
  item.command = { title: t('Filter…'), command: 'whitebox.filterFindings' };
  return item;
}

/** The heading of a group that is no file. */
function topicLabel(topic: Exclude<GroupTopic, { kind: 'file' }>): string {
  switch (topic.kind) {
    case 'severity':
      return severityLabel(topic.severity);
    case 'cwe':
      return cweLabel(topic.cwe);
    case 'feature':
      return featureLabel(topic.feature);
    case 'triage':
      return triageLabel(topic.state);
    case 'verdict':
      return verdictHeading(topic.verdict);
  }
}

function iconOfTopic(topic: GroupTopic): vscode.ThemeIcon {
  switch (topic.kind) {
    case 'severity':
      return severityIcon(topic.severity);
    case 'triage':
      return new vscode.ThemeIcon(triageIcons[topic.state] ?? 'circle-outline');
    case 'verdict':
      return new vscode.ThemeIcon(verdictIcons[topic.verdict ?? 'unknown']);
    case 'feature':
      return new vscode.ThemeIcon('globe');
    case 'cwe':
      return new vscode.ThemeIcon('bug');
    case 'file':
      return vscode.ThemeIcon.File;
  }
}

/** What most findings are is said where a person looks at one. */
const usual = new Set<Verdict>(['stillThere', 'reportedAgain']);

const verdictIcons: Readonly<Record<Verdict, string>> = {
  new: 'add',
  backAgain: 'history',
  stillThere: 'dash',
  codeChanged: 'edit',
  sameBytes: 'eye-closed',
  notSent: 'exclude',
  reportedAgain: 'dash',
  carriedOver: 'debug-step-over',
  pairTested: 'beaker',
  notApplicable: 'circle-slash',
  pairNotTested: 'exclude',
  unknown: 'question',
};

const triageIcons: Readonly<Record<TriageState, string | undefined>> = {
  open: undefined,
  confirmed: 'verified',
  falsePositive: 'circle-slash',
  acceptedRisk: 'law',
  fixed: 'pass',
};

const severityIcons: Readonly<Record<Severity, readonly [icon: string, color?: string]>> = {
  critical: ['flame', 'problemsErrorIcon.foreground'],
  high: ['error', 'problemsErrorIcon.foreground'],
  medium: ['warning', 'symbolIcon.classForeground'],
  low: ['info'],
  none: ['info'],
  unrated: ['info'],
};

function severityIcon(severity: Severity): vscode.ThemeIcon {
  const [icon, color] = severityIcons[severity];
  return new vscode.ThemeIcon(icon, color === undefined ? undefined : new vscode.ThemeColor(color));
}

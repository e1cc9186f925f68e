import { basename } from 'node:path';
import * as vscode from 'vscode';
import type { Verdict } from '../../../core/findings/result/result.ts';
import { attackPathOf, isLiveFinding, type Severity } from '../../../core/findings/finding.ts';
import { type Evidence, leastOf } from '../../../core/findings/location/evidence.ts';
import type { ShownFinding } from '../../../core/findings/shownFinding.ts';
import type { FindingNode, GroupNode, GroupTopic, OutlineNode } from '../../../core/findings/view/outline.ts';
import { requestOf } from '../../../core/findings/view/findingMarkdown.ts';
import {
  isAcceptanceEnded,
  isClosed,
  isUndecided,
  type TriageDecision,
  type TriageState,
} from '../../../core/findings/triage/triage.ts';
import { visibleLine, visibleText } from '../../../core/visibleText.ts';
import { compact, countFindings, formatList, formatNumber, moreLabel } from '../../formats.ts';
import {
  decidedBeforeLabel,
  driftLabel,
  evidenceLabel,
  proposalsLabel,
  severityLabel,
  titleOfFinding,
  decisionLabel,
  triageLabel,
  verdictHeading,
  verdictLabel,
} from '../../findingLabels.ts';
import { cweLabel, featureLabel, ownersLabel } from './filterPicks.ts';

const t = vscode.l10n.t;

const maxTooltipLength = 2_000;

export function toItem(node: OutlineNode, isExpanded: boolean): vscode.TreeItem {
  const item = itemOf(node, isExpanded);
  item.id = node.id;
  return item;
}

function itemOf(node: OutlineNode, isExpanded: boolean): vscode.TreeItem {
  switch (node.kind) {
    case 'group':
      return node.topic.kind === 'file' ? fileItem(node, isExpanded) : headingItem(node.topic, node);
    case 'finding':
      return findingItem(node);
    case 'more':
      return moreItem(node.count);
    case 'proposals':
      return proposalsItem(node.folder, node.count);
  }
}

function proposalsItem(folder: string, count: number): vscode.TreeItem {
  const item = new vscode.TreeItem(t('Review Shared Decisions…'));
  item.description = formatNumber(count);
  item.tooltip = `${folder}: ${proposalsLabel(count)}\n${t('A decision hides nothing until you accept it.')}`;
  item.iconPath = new vscode.ThemeIcon('inbox');
  item.command = { title: '', command: 'whitebox.reviewSharedDecisions', arguments: [folder] };
  return item;
}

function groupItem(label: string, { shown }: GroupNode, isExpanded = true, name = label): vscode.TreeItem {
  const { Collapsed, Expanded } = vscode.TreeItemCollapsibleState;
  const item = new vscode.TreeItem(label, isExpanded ? Expanded : Collapsed);
  const count = countFindings(shown.length);
  item.description = formatNumber(shown.length);
  item.tooltip = `${name}: ${count}`;
  item.accessibilityInformation = { label: `${name}, ${count}` };
  return item;
}

function headingItem(topic: Exclude<GroupTopic, { kind: 'file' }>, node: GroupNode): vscode.TreeItem {
  const [label, icon] = headingOf(topic);
  const item = groupItem(label, node);
  item.contextValue = 'group';
  item.iconPath = icon;
  return item;
}

function fileItem(node: GroupNode, isExpanded: boolean): vscode.TreeItem {
  const { shown } = node;
  const location = shown[0]?.locations[0];
  if (location === undefined) {
    const item = groupItem(t('No location in this workspace'), node, isExpanded);
    item.contextValue = 'withoutLocation';
    item.iconPath = new vscode.ThemeIcon('question');
    return item;
  }
  const path = visibleLine(location.path);
  const label = basename(path);
  const item = groupItem(label, node, isExpanded, path);
  item.contextValue = 'file';
  item.resourceUri = vscode.Uri.file(location.file);
  item.iconPath = vscode.ThemeIcon.File;
  if (path !== label)
    item.description = `${path.slice(0, -label.length - 1)} · ${formatNumber(shown.length)}`;
  return item;
}

function findingItem(node: FindingNode): vscode.TreeItem {
  const { shown } = node;
  const heading = node.parent.parent?.topic.kind;
  const { finding, triage, verdict } = shown;
  const [location] = shown.locations;
  const [reported] = finding.locations;
  const quoted = leastOf(shown.evidence);
  const title = titleOfFinding(finding);
  const severity = severityLabel(finding.severity);
  const isVerdictShown = verdict !== undefined && !usualVerdicts.has(verdict) && heading !== 'verdict';
  const hasEnded = isAcceptanceEnded(triage);
  const facts = compact(
    hasEnded && decisionWithNote(triage),
    decidedBeforeLabel(shown.decidedBefore),
    quoted?.kind === 'quoteNotFound' && evidenceLabel(quoted),
    location === undefined && reported && visibleLine(reported.path),
    location?.startLine !== undefined && location.drift !== 'gone' && t('line {0}', location.startLine),
    finding.perspective,
    finding.url !== undefined && requestOf(finding),
    ...finding.cwes.map(cweLabel),
    isVerdictShown && verdictLabel(verdict),
    !isUndecided(triage) && !hasEnded && decisionLabel(triage),
    location && driftLabel(location),
  );
  const forUser = forUserLabel(shown, quoted);
  const label = forUser === undefined ? title : `⚠ ${forUser} · ${title}`;
  const item = new vscode.TreeItem(label);
  item.description = (heading === 'severity' ? facts : [severity, ...facts]).join(' · ');
  item.iconPath = isClosed(triage.state)
    ? new vscode.ThemeIcon(triageIcons[triage.state])
    : severityIcon(finding.severity);
  item.contextValue = compact(
    'finding',
    isLiveFinding(finding) && 'live',
    finding.url !== undefined && 'withUrl',
    finding.locations.length > 0 && shown.run.workflow === 'whitebox-assessment' && 'withFile',
    attackPathOf(finding).length > 1 && 'withPath',
  ).join(' ');
  item.tooltip = tooltipOf(shown, title);
  item.accessibilityInformation = { label: [`${severity}: ${label}`, ...facts].join(', ') };
  const isOnlyLive = location === undefined && isLiveFinding(finding);
  item.command = {
    title: isOnlyLive ? t('Show Details') : t('Show in Editor'),
    command: isOnlyLive ? 'whitebox.showFindingDetails' : 'whitebox.revealFinding',
    // The node is passed, because its run may no longer be shown when the command runs.
    arguments: [node],
  };
  return item;
}

/** The row begins with this label, because a narrow view cuts off the end of a row. */
function forUserLabel({ triage, decidedBefore }: ShownFinding, quoted?: Evidence): string | undefined {
  // A model may have invented the finding.
  if (quoted?.kind === 'quoteNotFound')
    return {
      quote: t('quoted code not found'),
      line: t('line not found'),
      file: t('file not uploaded'),
    }[quoted.missing];
  if (isAcceptanceEnded(triage)) return t('acceptance ended');
  return decidedBefore === undefined ? undefined : t('check decision');
}

function decisionWithNote(triage: TriageDecision): string {
  const note = visibleLine(triage.note);
  return note === '' ? decisionLabel(triage) : `${decisionLabel(triage)}: ${note}`;
}

/** Findings are untrusted, so the tooltip is plain text. */
function tooltipOf(
  { finding, triage, verdict, decidedBefore, evidence, owners = [] }: ShownFinding,
  title: string,
): string {
  const rating = [severityLabel(finding.severity), ...finding.cwes.map(cweLabel)].join(' · ');
  const quoted = leastOf(evidence);
  const facts = compact(
    quoted && evidenceLabel(quoted),
    verdict && verdictLabel(verdict),
    decidedBeforeLabel(decidedBefore),
    owners === 'unknown' && ownersLabel(owners),
    typeof owners === 'object' && owners.length > 0 && t('Owner: {0}', formatList(owners)),
  );
  const paragraphs = compact(
    title,
    `${rating} · ${decisionWithNote(triage)}`,
    facts.join(' · '),
    compact(finding.feature, requestOf(finding)).join('\n'),
    visibleText(finding.summary),
  );
  return paragraphs.join('\n\n').slice(0, maxTooltipLength);
}

function moreItem(count: number): vscode.TreeItem {
  const label = moreLabel(count);
  const item = new vscode.TreeItem(label);
  item.description = t('to see these, filter the findings');
  item.iconPath = new vscode.ThemeIcon('filter');
  item.accessibilityInformation = { label: `${label}, ${item.description}` };
  item.command = { title: t('Filter…'), command: 'whitebox.filterFindings' };
  return item;
}

function headingOf(
  topic: Exclude<GroupTopic, { kind: 'file' }>,
): readonly [label: string, icon: vscode.ThemeIcon] {
  switch (topic.kind) {
    case 'severity':
      return [severityLabel(topic.value), severityIcon(topic.value)];
    case 'cwe':
      return [cweLabel(topic.value), new vscode.ThemeIcon('bug')];
    case 'feature':
      return [featureLabel(topic.value), new vscode.ThemeIcon('globe')];
    case 'triage':
      return [triageLabel(topic.value), new vscode.ThemeIcon(triageIcons[topic.value])];
    case 'owner':
      return [
        ownersLabel(topic.value === 'unknown' ? topic.value : (topic.value?.split(' ') ?? [])),
        new vscode.ThemeIcon('organization'),
      ];
    case 'verdict':
      return [verdictHeading(topic.value), new vscode.ThemeIcon(verdictIcons[topic.value ?? 'unknown'])];
  }
}

/** Most findings have one of these verdicts, so rows don't name them. */
const usualVerdicts = new Set<Verdict>(['stillPresent', 'reportedAgain']);

const verdictIcons: Readonly<Record<Verdict, string>> = {
  new: 'add',
  foundAgain: 'history',
  stillPresent: 'dash',
  codeChanged: 'edit',
  fileUnchanged: 'eye-closed',
  notUploaded: 'exclude',
  reportedAgain: 'dash',
  carriedOver: 'debug-step-over',
  pairTested: 'beaker',
  notApplicable: 'circle-slash',
  pairNotTested: 'exclude',
  unknown: 'question',
};

const triageIcons: Readonly<Record<TriageState, string>> = {
  open: 'circle-outline',
  confirmed: 'verified',
  falsePositive: 'circle-slash',
  acceptedRisk: 'law',
  fixed: 'pass',
};

const severityIcons: Readonly<Record<Severity, readonly [icon: string, color?: string]>> = {
  critical: ['flame', 'problemsErrorIcon.foreground'],
  high: ['error', 'problemsErrorIcon.foreground'],
  medium: ['warning', 'problemsWarningIcon.foreground'],
  low: ['info', 'problemsInfoIcon.foreground'],
  none: ['info'],
  unrated: ['info'],
};

function severityIcon(severity: Severity): vscode.ThemeIcon {
  const [icon, color] = severityIcons[severity];
  return new vscode.ThemeIcon(icon, color === undefined ? undefined : new vscode.ThemeColor(color));
}

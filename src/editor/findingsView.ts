import { basename } from 'node:path';
import * as vscode from 'vscode';
import type { LazyView } from '../bootstrap.ts';
import type { FindingStore, ShownFinding } from '../core/findings/findingStore.ts';
import { isDisplayed } from '../core/findings/display.ts';
import { SEVERITIES, type Severity } from '../core/findings/finding.ts';
import { hiddenFromProblems } from '../core/findings/problems.ts';
import { titleOf } from '../core/run/run.ts';
import { countFindings, formatTime } from './formats.ts';
import { severityLabel } from './labels.ts';
import { readDisplaySettings } from './settings.ts';

/** A line of the Findings view; commands called on a finding get its node. */
export type FindingsNode =
  | { readonly kind: 'severity'; readonly severity: Severity; readonly shown: readonly ShownFinding[] }
  | {
      readonly kind: 'file';
      readonly file: string | undefined;
      readonly shown: readonly ShownFinding[];
      readonly parent: FindingsNode;
    }
  | { readonly kind: 'finding'; readonly shown: ShownFinding; readonly parent: FindingsNode };

/** Fills the Findings view: severity, file, finding; its message names the run that is shown and what the settings hide. */
export function showFindings(lazy: LazyView, findings: FindingStore): vscode.Disposable {
  const changed = new vscode.EventEmitter<undefined>();
  const provider: vscode.TreeDataProvider<FindingsNode> = {
    onDidChangeTreeData: changed.event,
    getChildren: (element) => {
      if (element === undefined) return bySeverity(visible(findings));
      if (element.kind === 'severity') return byFile(element);
      if (element.kind === 'file')
        return element.shown.map((shown) => ({ kind: 'finding', shown, parent: element }));
      return [];
    },
    getParent: (element) => (element.kind === 'severity' ? undefined : element.parent),
    getTreeItem: toItem,
  };
  lazy.fill(provider);
  const render = (): void => {
    const all = findings.all();
    const displayed = visible(findings);
    const count = displayed.length;
    lazy.view.message = messageOf(findings, all.length - count, hiddenFromProblems(displayed)) ?? '';
    lazy.view.badge = count === 0 ? undefined : { value: count, tooltip: countFindings(count) };
    void vscode.commands.executeCommand(
      'setContext',
      'whitebox.findingsShown',
      findings.folders().length > 0,
    );
    changed.fire(undefined);
  };
  render();
  const subscription = findings.onDidChange(render);
  const settings = vscode.workspace.onDidChangeConfiguration((change) => {
    if (change.affectsConfiguration('whitebox.findings')) render();
  });
  return vscode.Disposable.from(changed, settings, { dispose: () => subscription.dispose() });
}

function visible(findings: FindingStore): ShownFinding[] {
  const display = readDisplaySettings();
  return findings.all().filter((shown) => isDisplayed(shown, display));
}

function messageOf(findings: FindingStore, hidden: number, onlyHere: number): string | undefined {
  const t = vscode.l10n.t;
  const lines = findings.folders().map(({ run, shown, failure }) => {
    const head = t('{0}, run of {1}', titleOf(run), formatTime(run.createdAt));
    if (failure !== undefined) return `${head}: ${t('the findings file cannot be read')}`;
    return shown.length === 0 ? `${head}: ${t('no findings')}` : head;
  });
  if (hidden > 0) lines.push(t('Hidden by settings: {0}', countFindings(hidden)));
  if (onlyHere > 0 && readDisplaySettings().showInProblems)
    lines.push(t('Only here, not in Problems: {0}', countFindings(onlyHere)));
  return lines.length === 0 ? undefined : lines.join('\n');
}

function bySeverity(shown: readonly ShownFinding[]): FindingsNode[] {
  return SEVERITIES.flatMap((severity) => {
    const own = shown.filter(({ finding }) => finding.severity === severity);
    return own.length === 0 ? [] : [{ kind: 'severity' as const, severity, shown: own }];
  });
}

function byFile(parent: Extract<FindingsNode, { kind: 'severity' }>): FindingsNode[] {
  const files = new Map<string | undefined, ShownFinding[]>();
  for (const shown of parent.shown) {
    const file = shown.places[0]?.file;
    files.set(file, [...(files.get(file) ?? []), shown]);
  }
  const sorted = [...files].sort(([one], [other]) => (one ?? '\uffff').localeCompare(other ?? '\uffff'));
  return sorted.map(([file, shown]) => ({ kind: 'file', file, shown, parent }));
}

function toItem(node: FindingsNode): vscode.TreeItem {
  switch (node.kind) {
    case 'severity':
      return severityItem(node.severity, node.shown.length);
    case 'file':
      return fileItem(node.file, node.shown);
    case 'finding':
      return findingItem(node.shown);
  }
}

function severityItem(severity: Severity, count: number): vscode.TreeItem {
  const item = new vscode.TreeItem(severityLabel(severity), vscode.TreeItemCollapsibleState.Expanded);
  item.id = `severity:${severity}`;
  item.description = String(count);
  item.iconPath = iconOf(severity);
  item.accessibilityInformation = { label: `${severityLabel(severity)}, ${countFindings(count)}` };
  return item;
}

function fileItem(file: string | undefined, shown: readonly ShownFinding[]): vscode.TreeItem {
  const label = file === undefined ? vscode.l10n.t('Without a place in this workspace') : basename(file);
  const item = new vscode.TreeItem(label, vscode.TreeItemCollapsibleState.Expanded);
  const place = shown[0]?.places[0];
  if (place === undefined) {
    item.iconPath = new vscode.ThemeIcon('question');
  } else {
    item.resourceUri = vscode.Uri.file(place.file);
    item.iconPath = vscode.ThemeIcon.File;
    item.description = place.path;
    item.tooltip = place.path;
  }
  item.accessibilityInformation = { label: `${place?.path ?? label}, ${countFindings(shown.length)}` };
  return item;
}

function findingItem(shown: ShownFinding): vscode.TreeItem {
  const { finding, places } = shown;
  const title = finding.title === '' ? finding.id : finding.title;
  const item = new vscode.TreeItem(title);
  const line = places[0]?.startLine;
  item.id = `finding:${shown.run.id}:${String(finding.index)}`;
  const cwe = finding.cwes.map((number) => `CWE-${String(number)}`).join(', ');
  item.description = [line === undefined ? '' : vscode.l10n.t('line {0}', line), cwe]
    .filter((part) => part !== '')
    .join(' · ');
  item.iconPath = iconOf(finding.severity);
  item.contextValue = 'finding';
  item.tooltip = [title, finding.description]
    .filter((part) => part !== '')
    .join('\n\n')
    .slice(0, 2_000);
  item.accessibilityInformation = {
    label: `${severityLabel(finding.severity)}: ${title}, ${item.description}`,
  };
  item.command = {
    title: vscode.l10n.t('Show in Editor'),
    command: 'whitebox.revealFinding',
    arguments: [shown.run.id, finding.index],
  };
  return item;
}

function iconOf(severity: Severity): vscode.ThemeIcon {
  const color = (name: string): vscode.ThemeColor => new vscode.ThemeColor(name);
  switch (severity) {
    case 'critical':
    case 'high':
      return new vscode.ThemeIcon('error', color('list.errorForeground'));
    case 'medium':
      return new vscode.ThemeIcon('warning', color('list.warningForeground'));
    default:
      return new vscode.ThemeIcon('info');
  }
}

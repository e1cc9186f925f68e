import * as vscode from 'vscode';
import type { Feature, FeatureList } from '../../core/features/features.ts';
import type { Choice, Pair, Priority } from '../../core/features/chosenPairs.ts';
import { perspectives } from '../../core/workflows/perspectives.ts';
import type { PairState, ScanProgress } from '../../core/features/scanProgress.ts';
import type { Run } from '../../core/run/state/run.ts';
import { visibleName, visibleText } from '../../core/visibleText.ts';
import { toCheckbox } from '../../lazyView.ts';
import { compact, moreLabel } from '../formats.ts';

const t = vscode.l10n.t;

export interface ShownFeatures {
  readonly run: Run;
  readonly list: FeatureList;
  readonly progress: ScanProgress;
  readonly choice: Choice;
  readonly filter: string;
  readonly passing: readonly Feature[];
}

/** `gone` is a chosen feature that no longer exists. */
export type FeaturesNode =
  | { readonly kind: 'feature'; readonly feature: Feature }
  | { readonly kind: 'pair'; readonly pair: Pair }
  | { readonly kind: 'gone'; readonly name: string }
  | { readonly kind: 'more'; readonly count: number };

export function featureRows([clicked, selected]: readonly unknown[]): readonly FeaturesNode[] {
  const rows: readonly unknown[] = Array.isArray(selected) ? selected : [clicked];
  return rows.filter((row): row is FeaturesNode => typeof row === 'object' && row !== null && 'kind' in row);
}

export function pairStateLabel(state: PairState): string {
  return {
    tested: t('tested'),
    notApplicable: t('not applicable'),
    notTested: t('not tested'),
    unknown: t('unknown whether tested'),
  }[state];
}

/** A crawl tests no pairs. The view's message says this once, so the rows don't repeat it. */
export function isUntested({ run, progress }: ShownFeatures): boolean {
  return run.workflow === 'blackbox-crawl' && progress.problem === 'absent';
}

export function priorityLabel(priority: Priority): string {
  if (priority === null) return t('Priority chosen by the service');
  return { high: t('High priority'), medium: t('Medium priority'), low: t('Low priority') }[priority];
}

export function toItem(node: FeaturesNode, shown: ShownFeatures): vscode.TreeItem {
  switch (node.kind) {
    case 'feature':
      return featureItem(node.feature, shown);
    case 'pair':
      return pairItem(node.pair, shown);
    case 'gone': {
      const why = t('feature no longer exists: clear its checkbox');
      const item = row(`gone ${node.name}`, visibleName(node.name), why);
      item.iconPath = new vscode.ThemeIcon('warning');
      return withCheckbox(item, true);
    }
    case 'more':
      return row('more', moreLabel(node.count), t('to see these, filter the features'));
  }
}

function featureItem(feature: Feature, { choice }: ShownFeatures): vscode.TreeItem {
  const { name, method = '', url = '', description = '' } = feature;
  const chosen = choice.get(name)?.size ?? 0;
  const count = t('{0} of {1}', chosen, perspectives.length);
  const request = visibleName(`${method} ${url}`.trim());
  const label = visibleName(name);
  const item = row(`feature ${name}`, label, compact(count, request).join(' · '));
  item.collapsibleState = vscode.TreeItemCollapsibleState.Collapsed;
  item.tooltip = compact(label, request, visibleText(description)).join('\n');
  item.contextValue = 'feature';
  return withCheckbox(item, chosen === perspectives.length);
}

const stateIcons: Readonly<Record<PairState, string>> = {
  tested: 'pass',
  notApplicable: 'circle-slash',
  notTested: 'circle-outline',
  unknown: 'question',
};

function pairItem({ feature, perspective }: Pair, shown: ShownFeatures): vscode.TreeItem {
  const state = shown.progress.stateOf(feature, perspective);
  const priority = shown.choice.get(feature)?.get(perspective);
  const facts = compact(
    !isUntested(shown) && pairStateLabel(state),
    priority ? priorityLabel(priority) : undefined,
  );
  const item = row(`pair ${perspective} ${feature}`, perspective, facts.join(' · '));
  item.iconPath = new vscode.ThemeIcon(stateIcons[state]);
  item.contextValue = 'pair';
  return withCheckbox(item, priority !== undefined);
}

function row(id: string, label: string, description: string): vscode.TreeItem {
  const item = new vscode.TreeItem(label);
  item.id = id;
  item.description = description;
  item.tooltip = compact(label, description).join('\n');
  item.accessibilityInformation = { label: compact(label, description).join(', ') };
  return item;
}

function withCheckbox(item: vscode.TreeItem, isChosen: boolean): vscode.TreeItem {
  const tooltip = isChosen
    ? t('Chosen. To exclude it, clear the checkbox.')
    : t('Not chosen. To choose it, select the checkbox.');
  item.checkboxState = toCheckbox(isChosen, item.label as string, tooltip);
  return item;
}

import * as vscode from 'vscode';
import { goneNames, isChosen, type Pair, pairsOf, withPairs } from '../../core/features/pairs.ts';
import { pairStates } from '../../core/features/scanProgress.ts';
import { perspectives, prioritySchema } from '../../core/workflows/application.ts';
import { formatNumber } from '../formats.ts';
import { type FeaturesNode, pairStateLabel, priorityLabel, type ShownFeatures } from './featureItems.ts';
import { type FeaturesView, pairsBelow } from './featuresView.ts';

/** Asks which of the pairs that the filter shows to choose: all, none, or those of some perspectives or states. */
export async function choosePairs(view: FeaturesView): Promise<void> {
  const t = vscode.l10n.t;
  const shown = view.shown();
  if (shown === undefined) return;
  const picked = await vscode.window.showQuickPick(
    [
      { label: t('All Pairs'), pick: (): Promise<Picks> => Promise.resolve(() => true) },
      { label: t('No Pairs'), pick: (): Promise<Picks> => Promise.resolve(() => false) },
      { label: t('By Perspective…'), pick: () => pickPerspectives(shown) },
      { label: t('By State…'), pick: () => pickStates(shown) },
    ],
    {
      title: t('Choose Pairs'),
      placeHolder: t('Applies to the features that the view shows: {0}', formatNumber(shown.passing.length)),
    },
  );
  const isPicked = await picked?.pick();
  if (isPicked === undefined) return;
  await view.choose(({ choice, list, passing }) => {
    const gone = pairsOf(goneNames(choice, list.features).map((name) => ({ name })));
    const { chosen = [], left = [] } = Object.groupBy(pairsOf(passing), (pair) =>
      isPicked(pair) ? 'chosen' : 'left',
    );
    return withPairs(withPairs(choice, [...gone, ...left], false), chosen, true);
  });
}

/** Tells which pairs to choose; undefined when the person cancels. */
type Picks = ((pair: Pair) => boolean) | undefined;

function pickPerspectives(shown: ShownFeatures): Promise<Picks> {
  return pickValues(shown, vscode.l10n.t('Choose Pairs by Perspective'), {
    values: perspectives,
    labelOf: (perspective) => perspective,
    valueOf: ({ perspective }) => perspective,
  });
}

function pickStates(shown: ShownFeatures): Promise<Picks> {
  return pickValues(shown, vscode.l10n.t('Choose Pairs by State'), {
    values: pairStates,
    labelOf: pairStateLabel,
    valueOf: ({ feature, perspective }) => shown.progress.stateOf(feature, perspective),
  });
}

/** Offers the values that pairs have, with those checked of which all pairs are chosen. */
async function pickValues<T extends string>(
  { passing, choice }: ShownFeatures,
  title: string,
  {
    values,
    labelOf,
    valueOf,
  }: { values: readonly T[]; labelOf: (value: T) => string; valueOf: (pair: Pair) => T },
): Promise<Picks> {
  const t = vscode.l10n.t;
  const pairs = Map.groupBy(pairsOf(passing), valueOf);
  const items = values.flatMap((value) => {
    const own = pairs.get(value) ?? [];
    if (own.length === 0) return [];
    const chosen = own.filter((pair) => isChosen(choice, pair)).length;
    return [
      {
        label: labelOf(value),
        description: t('{0} of {1}', formatNumber(chosen), formatNumber(own.length)),
        picked: chosen === own.length,
        value,
      },
    ];
  });
  const picked = await vscode.window.showQuickPick(items, {
    title,
    placeHolder: t('Check what to choose; the other pairs are left out'),
    canPickMany: true,
  });
  return picked && ((pair) => picked.some(({ value }) => value === valueOf(pair)));
}

/** Chooses the pairs of some rows, or leaves them out where all of them are chosen or gone: what a click on the checkboxes does, by a key. */
export async function togglePairs(view: FeaturesView, nodes: readonly FeaturesNode[]): Promise<void> {
  await view.choose(({ choice }) => {
    const areChosen = nodes.every(
      (node) => node.kind === 'gone' || pairsBelow(node).every((pair) => isChosen(choice, pair)),
    );
    return withPairs(choice, nodes.flatMap(pairsBelow), !areChosen);
  });
}

/** Asks for the priority of the pairs of some rows, which are chosen with it; of a feature those that are chosen, else all. */
export async function setPriority(view: FeaturesView, nodes: readonly FeaturesNode[]): Promise<void> {
  const shown = view.shown();
  if (shown === undefined || nodes.length === 0) return;
  const picked = await vscode.window.showQuickPick(
    [...prioritySchema.options, null].map((priority) => ({ label: priorityLabel(priority), priority })),
    {
      title: vscode.l10n.t('Set Priority'),
      placeHolder: vscode.l10n.t('Pairs of a higher priority are assessed first'),
    },
  );
  if (picked === undefined) return;
  await view.choose(({ choice }) => {
    const pairs = nodes.flatMap((node) => {
      const below = pairsBelow(node);
      const chosen = below.filter((pair) => isChosen(choice, pair));
      return chosen.length > 0 ? chosen : below;
    });
    return withPairs(choice, pairs, true, picked.priority);
  });
}

/** Asks for the text that features have to contain. */
export async function filterFeatures(view: FeaturesView): Promise<void> {
  const t = vscode.l10n.t;
  const shown = view.shown();
  if (shown === undefined) return;
  const text = await vscode.window.showInputBox({
    title: t('Filter Features by Text'),
    prompt: t('Text to look for in name, method, URL and description; empty for all features'),
    value: shown.filter,
  });
  if (text !== undefined) view.filterBy(text.trim());
}

import * as vscode from 'vscode';
import { hasFindings } from '../../core/findings/chooseRun.ts';
import type { FindingStore } from '../../core/findings/findingStore.ts';
import { goneNames, isChosen, type Pair, pairsOf, withPairs } from '../../core/features/chosenPairs.ts';
import { pairStates } from '../../core/features/scanProgress.ts';
import { normalKey } from '../../core/json.ts';
import { visibleLine } from '../../core/visibleText.ts';
import { perspectives, prioritySchema } from '../../core/workflows/application.ts';
import { formatNumber } from '../formats.ts';
import { type FeaturesNode, pairStateLabel, priorityLabel, type ShownFeatures } from './featureItems.ts';
import { type FeaturesView, pairsBelow } from './featuresView.ts';

/** Asks which of the pairs that the filter shows to choose: all, none, or those of some perspectives or states. */
export async function choosePairs(view: FeaturesView, findings: Pick<FindingStore, 'read'>): Promise<void> {
  const t = vscode.l10n.t;
  const shown = view.shown();
  if (shown === undefined) return;
  const picked = await vscode.window.showQuickPick(
    [
      { label: t('All Pairs'), pick: (): Promise<Picks> => Promise.resolve(() => true) },
      { label: t('No Pairs'), pick: (): Promise<Picks> => Promise.resolve(() => false) },
      { label: t('By Perspective…'), pick: () => pickPerspectives(shown) },
      { label: t('By State…'), pick: () => pickStates(shown, findings) },
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
  const groups = perspectives.map((each) => ({
    label: each,
    has: ({ perspective }: Pair) => perspective === each,
  }));
  return pickGroups(shown, vscode.l10n.t('Choose Pairs by Perspective'), groups, true);
}

/** Nothing is checked at first, and the pairs with findings come first: they are what is tested again after a fix. */
async function pickStates(
  { run, progress, ...shown }: ShownFeatures,
  findings: Pick<FindingStore, 'read'>,
): Promise<Picks> {
  const t = vscode.l10n.t;
  const found = hasFindings(run) ? (await findings.read(run)).shown : [];
  const keyOf = (feature: string, perspective: string): string => `${normalKey(perspective)} ${feature}`;
  const withFindings = new Set(
    found.map(({ finding: { feature = '', perspective = '' } }) => keyOf(feature, perspective)),
  );
  const groups = [
    {
      label: t('with findings'),
      has: ({ feature, perspective }: Pair) => withFindings.has(keyOf(visibleLine(feature), perspective)),
    },
    ...pairStates.map((state) => ({
      label: pairStateLabel(state),
      has: ({ feature, perspective }: Pair) => progress.stateOf(feature, perspective) === state,
    })),
  ];
  return pickGroups(shown, t('Choose Pairs by State'), groups, false);
}

/** Offers groups of pairs that have any; where asked, with those checked of which all pairs are chosen. */
async function pickGroups(
  { passing, choice }: Pick<ShownFeatures, 'passing' | 'choice'>,
  title: string,
  groups: readonly { readonly label: string; readonly has: (pair: Pair) => boolean }[],
  areChecked: boolean,
): Promise<Picks> {
  const t = vscode.l10n.t;
  const pairs = pairsOf(passing);
  const items = groups.flatMap(({ label, has }) => {
    const own = pairs.filter(has);
    const chosen = own.filter((pair) => isChosen(choice, pair)).length;
    const description = t('{0} of {1}', formatNumber(chosen), formatNumber(own.length));
    return own.length === 0 ? [] : [{ label, description, picked: areChecked && chosen === own.length, has }];
  });
  const picked = await vscode.window.showQuickPick(items, {
    title,
    placeHolder: t('Select what to choose. All other pairs are excluded.'),
    canPickMany: true,
  });
  return picked && ((pair) => picked.some(({ has }) => has(pair)));
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
      placeHolder: vscode.l10n.t('Pairs with a higher priority are tested first'),
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

export async function filterFeatures(view: FeaturesView): Promise<void> {
  const t = vscode.l10n.t;
  const shown = view.shown();
  if (shown === undefined) return;
  const text = await vscode.window.showInputBox({
    title: t('Filter Features by Text'),
    prompt: t('Text to find in the name, method, URL, and description. Leave empty to show all features.'),
    value: shown.filter,
  });
  if (text !== undefined) view.filterBy(text.trim());
}

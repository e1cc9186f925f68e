import * as vscode from 'vscode';
import { hasFindings } from '../../core/findings/chooseRun.ts';
import type { FindingStore } from '../../core/findings/findingStore.ts';
import { missingFeatures, isChosen, type Pair, pairsOf, withPairs } from '../../core/features/chosenPairs.ts';
import { pairStates } from '../../core/features/scanProgress.ts';
import { normalKey } from '../../core/json.ts';
import { visibleLine } from '../../core/visibleText.ts';
import { prioritySchema } from '../../core/workflows/blackboxInput.ts';
import { perspectives } from '../../core/workflows/perspectives.ts';
import { formatNumber } from '../formats.ts';
import { readRun } from '../findings/findingArguments.ts';
import { type FeaturesNode, pairStateLabel, priorityLabel, type ShownFeatures } from './featureItems.ts';
import { type FeaturesView, pairsBelow } from './featuresView.ts';

const t = vscode.l10n.t;

export async function choosePairs(view: FeaturesView, findings: Pick<FindingStore, 'read'>): Promise<void> {
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
      placeHolder: t('Applies to the shown features: {0}', formatNumber(shown.passing.length)),
    },
  );
  const isPicked = await picked?.pick();
  if (isPicked === undefined) return;
  await view.choose(({ choice, list, passing }) => {
    const gone = pairsOf(missingFeatures(choice, list.features).map((name) => ({ name })));
    const { chosen = [], excluded = [] } = Object.groupBy(pairsOf(passing), (pair) =>
      isPicked(pair) ? 'chosen' : 'excluded',
    );
    return withPairs(withPairs(choice, [...gone, ...excluded], false), chosen, true);
  });
}

type Picks = ((pair: Pair) => boolean) | undefined;

function pickPerspectives(shown: ShownFeatures): Promise<Picks> {
  const groups = perspectives.map((perspective) => ({
    label: perspective,
    has: (pair: Pair) => pair.perspective === perspective,
  }));
  return pickGroups(shown, t('Choose Pairs by Perspective'), groups, true);
}

/** Pairs with findings come first, because users test them again after a fix. */
async function pickStates(
  { run, progress, ...shown }: ShownFeatures,
  findings: Pick<FindingStore, 'read'>,
): Promise<Picks> {
  const found = hasFindings(run) ? (await readRun(run, findings)).shown : [];
  const keyOf = (feature: string, perspective: string): string => `${normalKey(perspective)} ${feature}`;
  const withFindings = new Set(
    found.map(({ finding: { feature = '', perspective = '' } }) => keyOf(feature, perspective)),
  );
  // A finding without a perspective may be of any pair of its feature.
  const hasFinding = ({ feature, perspective }: Pair): boolean =>
    [perspective, ''].some((each) => withFindings.has(keyOf(visibleLine(feature), each)));
  const groups = [
    ...(hasFindings(run) ? [{ label: t('with findings'), has: hasFinding, isAlwaysOffered: true }] : []),
    ...pairStates.map((state) => ({
      label: pairStateLabel(state),
      has: ({ feature, perspective }: Pair) => progress.stateOf(feature, perspective) === state,
    })),
  ];
  return pickGroups(shown, t('Choose Pairs by State'), groups, false);
}

interface PairGroup {
  readonly label: string;
  readonly has: (pair: Pair) => boolean;
  readonly isAlwaysOffered?: boolean;
}

async function pickGroups(
  { passing, choice }: Pick<ShownFeatures, 'passing' | 'choice'>,
  title: string,
  groups: readonly PairGroup[],
  areChecked: boolean,
): Promise<Picks> {
  const pairs = pairsOf(passing);
  const items = groups.flatMap(({ label, has, isAlwaysOffered = false }) => {
    const members = pairs.filter(has);
    if (members.length === 0 && !isAlwaysOffered) return [];
    const chosen = members.filter((pair) => isChosen(choice, pair)).length;
    const description = t('{0} of {1}', formatNumber(chosen), formatNumber(members.length));
    return [{ label, description, picked: areChecked && chosen === members.length, has }];
  });
  const picked = await vscode.window.showQuickPick(items, {
    title,
    placeHolder: t('Select which pairs to choose. Other pairs of the shown features are excluded.'),
    canPickMany: true,
  });
  return picked && ((pair) => picked.some(({ has }) => has(pair)));
}

export async function togglePairs(view: FeaturesView, nodes: readonly FeaturesNode[]): Promise<void> {
  await view.choose(({ choice }) => {
    const areChosen = nodes.every(
      (node) => node.kind === 'gone' || pairsBelow(node).every((pair) => isChosen(choice, pair)),
    );
    return withPairs(choice, nodes.flatMap(pairsBelow), !areChosen);
  });
}

export async function setPriority(view: FeaturesView, nodes: readonly FeaturesNode[]): Promise<void> {
  const shown = view.shown();
  if (shown === undefined || nodes.length === 0) return;
  const picked = await vscode.window.showQuickPick(
    [...prioritySchema.options, null].map((priority) => ({ label: priorityLabel(priority), priority })),
    {
      title: t('Set Priority'),
      placeHolder: t('Pairs with a higher priority are tested first'),
    },
  );
  if (picked === undefined) return;
  await view.choose(({ choice }) => {
    const pairs = nodes.flatMap((node) => {
      const all = pairsBelow(node);
      const chosen = all.filter((pair) => isChosen(choice, pair));
      return chosen.length > 0 ? chosen : all;
    });
    return withPairs(choice, pairs, true, picked.priority);
  });
}

export async function filterFeatures(view: FeaturesView): Promise<void> {
  const shown = view.shown();
  if (shown === undefined) return;
  const text = await vscode.window.showInputBox({
    title: t('Filter Features by Text'),
    prompt: t('Text to find in the name, method, URL, and description. Leave empty to show all features.'),
    value: shown.filter,
  });
  if (text !== undefined) view.filterBy(text.trim());
}

import * as vscode from 'vscode';
import { countChosen, faultsOf, maxPairs } from '../../core/features/pairs.ts';
import { perspectives } from '../../core/workflows/application.ts';
import { formatNumber } from '../formats.ts';
import { runLabel } from '../labels.ts';
import type { ShownFeatures } from './featureItems.ts';

/** Writes message and description of the view, and returns what it shows, as the manifest's `whitebox.featuresView` conditions name it. A message would replace the welcome of an empty view. */
export function describeFeatures(
  view: vscode.TreeView<unknown>,
  shown: ShownFeatures,
): 'shown' | 'filtered' | 'none' {
  const { list, passing } = shown;
  const state = list.features.length === 0 ? 'none' : passing.length === 0 ? 'filtered' : 'shown';
  view.description = runLabel(shown.run);
  view.message = state === 'shown' ? [countOf(shown), ...notesOn(shown)].join(' ') : '';
  return state;
}

/** "58 of 374 pairs chosen", and why they cannot be sent. */
function countOf({ choice, list }: ShownFeatures): string {
  const t = vscode.l10n.t;
  const count = formatNumber(countChosen(choice, list.features));
  const total = formatNumber(list.features.length * perspectives.length);
  return faultsOf(choice, list.features).includes('tooMany')
    ? t(
        '{0} of {1} pairs chosen; at most {2} can be assessed, or all without priorities.',
        count,
        total,
        formatNumber(maxPairs),
      )
    : t('{0} of {1} pairs chosen.', count, total);
}

function notesOn({ choice, list, progress, filter, passing, isDamaged }: ShownFeatures): string[] {
  const t = vscode.l10n.t;
  const { features, repeated, unreadable, cut } = list;
  const notes: readonly (readonly [boolean, string])[] = [
    [
      filter !== '',
      t(
        'Filter “{0}”: {1} of {2} features.',
        filter,
        formatNumber(passing.length),
        formatNumber(features.length),
      ),
    ],
    [
      progress.tested + progress.notApplicable > 0,
      t(
        '{0} tested, {1} not applicable.',
        formatNumber(progress.tested),
        formatNumber(progress.notApplicable),
      ),
    ],
    [isDamaged, t('What was chosen before cannot be read: choose again.')],
    [
      faultsOf(choice, features).includes('gone'),
      t('Some of what was chosen is no longer among the features: uncheck it, or nothing is sent.'),
    ],
    [
      progress.problem === 'unreadable',
      t('The scan progress cannot be read, so it is not known what was tested.'),
    ],
    [
      progress.problem === 'partlyUnreadable',
      t(
        'Part of the scan progress cannot be read, so of some pairs it is not known whether they were tested.',
      ),
    ],
    [
      repeated > 0,
      t('Equal names are one feature; entries that repeat a name: {0}.', formatNumber(repeated)),
    ],
    [
      unreadable > 0,
      t('Entries without a usable name, which cannot be chosen: {0}.', formatNumber(unreadable)),
    ],
    [
      cut > 0,
      t('Features beyond those that are read, assessed only where all are chosen: {0}.', formatNumber(cut)),
    ],
  ];
  return notes.filter(([applies]) => applies).map(([, note]) => note);
}

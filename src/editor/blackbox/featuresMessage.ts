import * as vscode from 'vscode';
import { maxFeatures } from '../../core/features/features.ts';
import { countChosen, faultsOf, goneNames, maxPairs } from '../../core/features/pairs.ts';
import { perspectives } from '../../core/workflows/application.ts';
import { formatNumber } from '../formats.ts';
import { runLabel } from '../labels.ts';
import type { ShownFeatures } from './featureItems.ts';

/** Writes message and description of the view, and returns what it shows, as the manifest's `whitebox.featuresView` conditions name it. A message would replace the welcome of an empty view. */
export function describeFeatures(
  view: vscode.TreeView<unknown>,
  shown: ShownFeatures,
): 'shown' | 'filtered' | 'none' {
  const { choice, list, passing } = shown;
  const hasRows = passing.length > 0 || goneNames(choice, list.features).length > 0;
  const state = hasRows ? 'shown' : list.features.length === 0 ? 'none' : 'filtered';
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
  const found = formatNumber(passing.length);
  const all = formatNumber(features.length);
  const tested = formatNumber(progress.tested);
  const skipped = formatNumber(progress.notApplicable);
  const notes: string[] = [];
  if (filter !== '') notes.push(t('Filter “{0}”: {1} of {2} features.', filter, found, all));
  if (progress.problem === undefined) notes.push(t('{0} tested, {1} not applicable.', tested, skipped));
  else if (progress.problem !== 'absent')
    notes.push(
      t(
        'Not all of the scan progress can be read, so of some pairs it is not known whether they were tested.',
      ),
    );
  if (isDamaged) notes.push(t('What was chosen before cannot be read: choose again.'));
  if (faultsOf(choice, features).includes('gone'))
    notes.push(t('Some of what was chosen is no longer among the features: uncheck it, or nothing is sent.'));
  if (repeated > 0)
    notes.push(t('Equal names are one feature; entries that repeat a name: {0}.', formatNumber(repeated)));
  if (unreadable + cut > 0)
    notes.push(
      t(
        'Entries without a usable name or beyond the first {0}, assessed only where all pairs are chosen: {1}.',
        formatNumber(maxFeatures),
        formatNumber(unreadable + cut),
      ),
    );
  return notes;
}

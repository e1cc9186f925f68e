import * as vscode from 'vscode';
import {
  activeParts,
  driftOf,
  DRIFTS,
  type Filter,
  type FilterPart,
  filterSchema,
  foldersAbove,
} from '../../../core/findings/view/filter.ts';
import { SEVERITIES } from '../../../core/findings/finding.ts';
import type { FindingStore } from '../../../core/findings/findingStore.ts';
import type { ShownFinding } from '../../../core/findings/shownFinding.ts';
import { type Grouping, GROUPINGS } from '../../../core/findings/view/groups.ts';
import { TRIAGE_STATES } from '../../../core/findings/triage/triage.ts';
import {
  cweLabel,
  describePart,
  driftChoiceLabel,
  folderLabel,
  groupingLabel,
  partLabel,
} from './findingLabels.ts';
import type { FindingsLens } from './findingsLens.ts';
import { countFindings } from '../../formats.ts';
import { severityLabel, triageLabel } from '../../labels.ts';

/** Asks which part of the filter to change, shows what each part is now, and asks for its new value. */
export async function filterFindings(lens: FindingsLens, findings: FindingStore): Promise<void> {
  const part = await pickPart(lens.filter);
  if (part === 'clear') return lens.filterBy({});
  if (part === undefined) return;
  const value = await askFor(part, lens.filter, findings.all());
  if (value !== undefined) await lens.filterBy({ ...lens.filter, [part]: value });
}

/** Asks what the Findings view groups by. */
export async function groupFindings(lens: FindingsLens): Promise<void> {
  const t = vscode.l10n.t;
  const items = GROUPINGS.map((grouping) => ({
    label: groupingLabel(grouping),
    ...(grouping === lens.grouping ? { description: t('now') } : {}),
    grouping,
  }));
  const picked = await vscode.window.showQuickPick<{ label: string; grouping: Grouping }>(items, {
    title: t('Group Findings By'),
  });
  if (picked !== undefined) await lens.groupBy(picked.grouping);
}

async function pickPart(filter: Filter): Promise<FilterPart | 'clear' | undefined> {
  const t = vscode.l10n.t;
  const active = activeParts(filter);
  const parts = Object.keys(filterSchema.shape) as FilterPart[];
  const items: { label: string; description?: string; part: FilterPart | 'clear' }[] = parts.map((part) => ({
    label: partLabel(part),
    description: !active.includes(part) ? '' : part === 'onlyNew' ? t('on') : describePart(part, filter),
    part,
  }));
  if (active.length > 0) items.push({ label: t('Clear Filters'), part: 'clear' });
  const picked = await vscode.window.showQuickPick(items, {
    title: t('Filter Findings'),
    placeHolder: t('What to filter by; filters add up'),
  });
  return picked?.part;
}

/** The new value of a part; undefined when the person stops. */
function askFor(
  part: FilterPart,
  filter: Filter,
  all: readonly ShownFinding[],
): Thenable<Filter[FilterPart]> {
  switch (part) {
    case 'severities':
      return choose(
        part,
        filter.severities,
        count(all, ({ finding }) => [finding.severity]),
        severityLabel,
        SEVERITIES,
      );
    case 'triage':
      return choose(
        part,
        filter.triage,
        count(all, ({ triage }) => [triage.state]),
        triageLabel,
        TRIAGE_STATES,
      );
    case 'drift':
      return choose(
        part,
        filter.drift,
        count(all, (shown) => [driftOf(shown)]),
        driftChoiceLabel,
        DRIFTS,
      );
    case 'cwes': {
      const counts = count(all, ({ finding: { cwes } }) => (cwes.length === 0 ? [null] : cwes));
      const order = [...counts.keys()].sort((one, other) => (one ?? Infinity) - (other ?? Infinity));
      return choose(part, filter.cwes, counts, cweLabel, order);
    }
    case 'folders': {
      const counts = count(all, foldersAbove);
      return choose(part, filter.folders, counts, folderLabel, [...counts.keys()].sort());
    }
    case 'onlyNew':
      return Promise.resolve(filter.onlyNew !== true);
    case 'text':
      return vscode.window.showInputBox({
        title: vscode.l10n.t('Filter Findings by Text'),
        prompt: vscode.l10n.t(
          'Words to look for in title, description, path, CWE and ID; empty for all findings',
        ),
        value: filter.text ?? '',
      });
  }
}

function count<T>(
  all: readonly ShownFinding[],
  valuesOf: (shown: ShownFinding) => readonly T[],
): Map<T, number> {
  const counts = new Map<T, number>();
  for (const shown of all)
    for (const value of valuesOf(shown)) counts.set(value, (counts.get(value) ?? 0) + 1);
  return counts;
}

/** Values that nothing has are offered only where they are chosen; all of them together are no choice, except of triage, where settled ones are hidden without it. */
async function choose<T>(
  part: FilterPart,
  chosen: readonly T[] = [],
  counts: ReadonlyMap<T, number>,
  toLabel: (value: T) => string,
  order: readonly T[],
): Promise<T[] | undefined> {
  const offered = [...new Set([...order, ...chosen])].filter(
    (value) => counts.has(value) || chosen.includes(value),
  );
  const items = offered.map((value) => ({
    label: toLabel(value),
    description: countFindings(counts.get(value) ?? 0),
    picked: chosen.includes(value),
    value,
  }));
  const picked = await vscode.window.showQuickPick(items, {
    title: vscode.l10n.t('Filter Findings by {0}', partLabel(part)),
    placeHolder: vscode.l10n.t('Check what to show; nothing checked shows all'),
    canPickMany: true,
    matchOnDescription: false,
  });
  if (picked === undefined) return undefined;
  return picked.length === offered.length && part !== 'triage' ? [] : picked.map(({ value }) => value);
}

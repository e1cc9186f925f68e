import * as vscode from 'vscode';
import { VERDICTS } from '../../../core/findings/result/result.ts';
import { maxSummary, SEVERITIES } from '../../../core/findings/finding.ts';
import type { FindingStore } from '../../../core/findings/findingStore.ts';
import type { ShownFinding } from '../../../core/findings/shownFinding.ts';
import { ACCEPTANCE_ENDS } from '../../../core/findings/triage/currentDecision.ts';
import { TRIAGE_STATES } from '../../../core/findings/triage/triage.ts';
import type { BranchState } from '../../../core/findings/view/branchChanges.ts';
import {
  activeParts,
  DRIFTS,
  EVIDENCE_FILTERS,
  type Filter,
  type FilterPart,
  filterSchema,
  type ListPart,
  type ValueOf,
  valuesOf,
} from '../../../core/findings/view/filter.ts';
import { type Grouping, GROUPINGS } from '../../../core/findings/view/outline.ts';
import { countFindings, formatList, formatNumber } from '../../formats.ts';
import { severityLabel, triageLabel, verdictHeading } from '../../findingLabels.ts';
import { type BranchComparison, noBranchLabel } from '../changedOnBranch.ts';
import type { Filtering } from './filtering.ts';

const t = vscode.l10n.t;

type BranchFilter = Pick<BranchComparison, 'turnOn' | 'turnOff' | 'pickBranch'>;

type AnyValue = ValueOf<ListPart>;

interface ValueList<T> {
  readonly labelOf: (value: T) => string;
  readonly order?: readonly T[];
}

const valueLists: { readonly [P in ListPart]: ValueList<ValueOf<P>> } = {
  severities: { labelOf: severityLabel, order: SEVERITIES },
  triage: { labelOf: triageLabel, order: TRIAGE_STATES },
  drift: { labelOf: driftFilterLabel, order: DRIFTS },
  cwes: { labelOf: cweLabel },
  features: { labelOf: featureLabel },
  perspectives: { labelOf: (perspective) => perspective ?? t('No perspective') },
  verdicts: { labelOf: verdictHeading, order: VERDICTS },
  evidence: { labelOf: evidenceFilterLabel, order: EVIDENCE_FILTERS },
  owners: { labelOf: (owner) => ownersLabel(owner === null ? [] : [owner]) },
  acceptance: { labelOf: acceptanceLabel, order: ACCEPTANCE_ENDS },
  folders: { labelOf: folderLabel },
};

function compareValues(a: AnyValue, b: AnyValue): number {
  return typeof a === 'number' && typeof b === 'number'
    ? a - b
    : Number(a === null) - Number(b === null) || String(a).localeCompare(String(b));
}

export async function filterFindings(
  filtering: Filtering,
  findings: FindingStore,
  branch: BranchFilter,
): Promise<void> {
  const { filter } = filtering;
  const part = await pickPart(filtering);
  if (part === 'clear') return filtering.filterBy({});
  if (part === undefined) return;
  if (part === 'changedOnBranch')
    return filter.changedOnBranch === true ? changeBranchFilter(branch) : branch.turnOn();
  const all = [...findings.all(), ...findings.absent()];
  const value =
    part === 'text'
      ? await askForText(filter)
      : part === 'owners'
        ? await chooseOwners(filtering, all)
        : await chooseValues(part, filter, all);
  if (value !== undefined) await filtering.filterBy({ ...filter, [part]: value });
}

export async function groupFindings(filtering: Filtering): Promise<void> {
  const items = GROUPINGS.map((grouping) => ({
    label: groupingLabel(grouping),
    ...(grouping === filtering.grouping ? { description: t('current') } : {}),
    grouping,
  }));
  const picked = await vscode.window.showQuickPick<{ label: string; grouping: Grouping }>(items, {
    title: t('Group Findings By'),
  });
  if (picked !== undefined) await filtering.groupBy(picked.grouping);
}

async function changeBranchFilter(branch: BranchFilter): Promise<void> {
  const [another, off] = [t('Compare with Another Branch…'), t('Show Changed and Unchanged')];
  const picked = await vscode.window.showQuickPick([another, off], { title: partLabel('changedOnBranch') });
  if (picked === another) await branch.pickBranch();
  if (picked === off) await branch.turnOff();
}

async function pickPart(filtering: Filtering): Promise<FilterPart | 'clear' | undefined> {
  const { filter } = filtering;
  const active = activeParts(filter);
  const parts = Object.keys(filterSchema.shape) as FilterPart[];
  const items: { label: string; description?: string; part: FilterPart | 'clear' }[] = parts.map((part) => ({
    label: partLabel(part),
    description: active.includes(part) ? describePart(part, filtering) : '',
    part,
  }));
  if (active.length > 0) items.push({ label: t('Clear Filters'), part: 'clear' });
  const picked = await vscode.window.showQuickPick(items, {
    title: t('Filter Findings'),
    placeHolder: t('Choose what to filter by. Filters are combined.'),
  });
  return picked?.part;
}

function askForText({ text = '' }: Filter): Thenable<string | undefined> {
  return vscode.window.showInputBox({
    title: t('Filter Findings by Text'),
    prompt: t(
      'Words to find in the title, path, CWE, ID, feature, URL, and the first {0} characters of the description. Leave empty to show all findings.',
      formatNumber(maxSummary),
    ),
    value: text,
  });
}

async function chooseOwners(
  filtering: Filtering,
  all: readonly ShownFinding[],
): Promise<readonly AnyValue[] | undefined> {
  const mine = { label: t('Mine…'), description: filtering.handles };
  const others = { label: t('Choose Owners…') };
  const title = t('Filter Findings: {0}', partLabel('owners'));
  const picked = await vscode.window.showQuickPick<vscode.QuickPickItem>([mine, others], { title });
  if (picked === undefined) return undefined;
  if (picked === others) return chooseValues('owners', filtering.filter, all);
  const text = await vscode.window.showInputBox({
    title,
    prompt: t(
      'Enter the names that CODEOWNERS uses for you, separated by spaces: handle, teams, and email address.',
    ),
    placeHolder: '@ana @shop/payments',
    value: filtering.handles,
  });
  if (text === undefined) return undefined;
  await filtering.saveHandles(text.trim());
  return ownedBy(text, all);
}

/** Case doesn't matter in handles. Handles that own no finding are returned unchanged. */
function ownedBy(handles: string, all: readonly ShownFinding[]): string[] {
  const owners = all.flatMap((shown) => valuesOf.owners(shown)).filter((owner) => owner !== null);
  const known = new Map(owners.map((owner) => [owner.toLowerCase(), owner]));
  const names = handles.split(/\s+/).filter((name) => name !== '');
  return names.map((name) => known.get(name.toLowerCase()) ?? name);
}

/** A setting may hide closed findings, unless values of one of these parts are chosen. */
const showingClosed: ReadonlySet<ListPart> = new Set(['triage', 'acceptance']);

/**
 * Choosing all values is the same as choosing none, except in `showingClosed`: there, choosing none
 * may hide closed findings.
 */
async function chooseValues(
  part: ListPart,
  filter: Filter,
  all: readonly ShownFinding[],
): Promise<readonly AnyValue[] | undefined> {
  const { labelOf, order } = valueLists[part] as ValueList<AnyValue>;
  const chosen: readonly AnyValue[] = filter[part] ?? [];
  const counts = new Map(chosen.map((value) => [value, 0]));
  for (const value of all.flatMap<AnyValue>(valuesOf[part])) counts.set(value, (counts.get(value) ?? 0) + 1);
  const values = order?.filter((value) => counts.has(value)) ?? [...counts.keys()].sort(compareValues);
  const items = values.map((value) => ({
    label: labelOf(value),
    description: countFindings(counts.get(value) ?? 0),
    picked: chosen.includes(value),
    value,
  }));
  const picked = await vscode.window.showQuickPick(items, {
    title: t('Filter Findings: {0}', partLabel(part)),
    placeHolder: t('Select what to show. If nothing is selected, everything is shown.'),
    canPickMany: true,
    matchOnDescription: false,
  });
  const isEverything = picked?.length === items.length && !showingClosed.has(part);
  return isEverything ? [] : picked?.map(({ value }) => value);
}

export function describePart(
  part: FilterPart,
  { filter, branch }: Pick<Filtering, 'filter' | 'branch'>,
): string {
  if (part === 'changedOnBranch') return branchLabel(branch);
  if (part === 'text') return t('“{0}”', filter.text ?? '');
  const { labelOf } = valueLists[part] as ValueList<AnyValue>;
  return formatList((filter[part] ?? []).map(labelOf));
}

function branchLabel(branch: BranchState): string {
  switch (branch.kind) {
    case 'pending':
      return t('changed on this branch (still comparing, so nothing is hidden yet)');
    case 'unavailable':
      return t('changed on this branch, not available ({0})', noBranchLabel(branch.why));
    case 'known':
      return t('changed on this branch, compared with {0}', branch.base);
  }
}

export function cweLabel(cwe: number | null | undefined): string {
  return cwe === null || cwe === undefined ? t('No CWE') : `CWE-${String(cwe)}`;
}

export function featureLabel(feature: string | null | undefined): string {
  return feature ?? t('No feature');
}

export function ownersLabel(owners: readonly string[] | 'unknown'): string {
  if (owners === 'unknown') return t('Owner unknown');
  return owners.length === 0 ? t('No owner') : formatList(owners);
}

function partLabel(part: FilterPart): string {
  return {
    severities: t('Severity'),
    triage: t('Triage state'),
    drift: t('Code since the assessment'),
    cwes: t('CWE'),
    features: t('Feature'),
    perspectives: t('Perspective'),
    folders: t('Folder'),
    verdicts: t('Compared with earlier runs'),
    evidence: t('Quoted code'),
    owners: t('Owner'),
    acceptance: t('End of risk acceptance'),
    changedOnBranch: t('Changed on This Branch'),
    text: t('Text'),
  }[part];
}

function driftFilterLabel(drift: (typeof DRIFTS)[number]): string {
  return {
    same: t('Code unchanged'),
    moved: t('Code moved'),
    changed: t('Code changed'),
    gone: t('Code gone'),
    unknown: t('Unknown whether code changed'),
    none: t('No location in this workspace'),
  }[drift];
}

function acceptanceLabel(end: (typeof ACCEPTANCE_ENDS)[number]): string {
  return {
    ended: t('Acceptance ended'),
    soon: t('Acceptance ends within 14 days'),
    later: t('Acceptance ends later'),
  }[end];
}

function evidenceFilterLabel(evidence: (typeof EVIDENCE_FILTERS)[number]): string {
  return {
    quoteNotFound: t('Quoted code not found'),
    unchecked: t('Can’t be checked'),
    quoteFound: t('Quoted code found'),
    none: t('No quote'),
  }[evidence];
}

function folderLabel(folder: string): string {
  if (folder === '') return t('No location in this workspace');
  const uri = vscode.Uri.file(folder.slice(0, -1));
  const root = vscode.workspace.workspaceFolders?.find(({ uri: { path } }) => path === uri.path);
  return root?.name ?? vscode.workspace.asRelativePath(uri);
}

function groupingLabel(grouping: Grouping): string {
  return {
    severity: t('Severity'),
    file: t('File'),
    feature: t('Feature'),
    cwe: t('CWE'),
    triage: t('Triage state'),
    owner: t('Owner'),
  }[grouping];
}

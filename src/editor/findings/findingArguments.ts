import * as vscode from 'vscode';
import type { FindingStore } from '../../core/findings/findingStore.ts';
import { isObject } from '../../core/json.ts';
import type { ShownFinding, ShownRun } from '../../core/findings/shownFinding.ts';
import { extensionId, toLinkQuery } from '../runs/runLink.ts';
import type { RunStore } from '../../core/run/disk/runStore.ts';
import type { Run } from '../../core/run/state/run.ts';
import { withLateProgress } from '../progress.ts';
import { showInformation } from '../showMessage.ts';
import type { DisplayedFindings } from './code/displayedFindings.ts';
import type { DocumentPanels } from '../report/documentPanels.ts';

/** Code actions and message buttons pass a `finding`. Key bindings of views pass a `selection`. */
type FindingArgument =
  | { readonly kind: 'finding'; readonly runId: string; readonly name: string }
  | { readonly kind: 'selection' };

export interface FindingStores {
  readonly findings: FindingStore;
  readonly runs: RunStore;
}

export interface FindingSources {
  readonly findings: FindingStore;
  readonly displayed: DisplayedFindings;
  readonly findingsView: vscode.TreeView<unknown>;
  readonly details: Pick<DocumentPanels<ShownFinding>, 'active'>;
}

/** A menu passes the clicked row and all selected rows. */
export function findingsOf(args: readonly unknown[], sources: FindingSources): readonly ShownFinding[] {
  const [first, second] = args;
  if (first === undefined) return findingsHere(sources);
  const isSelection = isObject(first) && first['kind'] === 'selection';
  const chosen = Array.isArray(second) && second.length > 0 ? (second as unknown[]) : [first];
  const nodes = isSelection ? sources.findingsView.selection : chosen;
  const found = nodes.flatMap((node) => findingsOfNode(node, sources.findings));
  return [...new Map(found.map((shown) => [`${shown.run.id} ${shown.name}`, shown])).values()];
}

/** The clicked or focused row counts, whatever else is selected. */
export function findingOf([first]: readonly unknown[], sources: FindingSources): ShownFinding | undefined {
  return findingsOf([first], sources)[0];
}

export function readRun(run: Run, findings: Pick<FindingStore, 'read'>): Promise<ShownRun> {
  return withLateProgress(vscode.l10n.t('Reading the findings…'), (signal) => findings.read(run, signal));
}

export async function findInRun(
  run: Run,
  name: string,
  findings: FindingStore,
): Promise<ShownFinding | undefined> {
  return (
    findings.find(run.id, name) ?? (await readRun(run, findings)).shown.find((each) => each.name === name)
  );
}

export function showNoFinding(): void {
  const message = vscode.l10n.t(
    'There is no finding at the cursor. Put the cursor on a finding’s code, or select a finding in the Findings view.',
  );
  void showInformation(message);
}

export function toArgument({ run, name }: ShownFinding): FindingArgument {
  return { kind: 'finding', runId: run.id, name };
}

export function toAddress({ run, name, file, index, fingerprint }: ShownFinding): vscode.Uri {
  const query = toLinkQuery(run, { finding: name, file, index: String(index), print: fingerprint });
  return vscode.Uri.from({ scheme: vscode.env.uriScheme, authority: extensionId, path: '/finding', query });
}

/** Replaces the argument of a tree's key binding with the arguments that a menu would pass. */
export async function withFocusedRows(
  args: readonly unknown[],
  views: Readonly<Record<'findings' | 'features', { readonly view: vscode.TreeView<unknown> }>>,
): Promise<readonly unknown[]> {
  const [first] = args;
  if (!isObject(first) || first['kind'] !== 'selection') return args;
  const { view } = first['view'] === 'features' ? views.features : views.findings;
  const rows = await focusedRows(view);
  return [rows[0] ?? first, rows];
}

/**
 * VS Code's API doesn't tell which row is focused, but toggling the selection of that row reveals
 * it. If the focused row is selected, the other selected rows are returned, too.
 */
async function focusedRows(view: vscode.TreeView<unknown>): Promise<readonly unknown[]> {
  const before = view.selection;
  await vscode.commands.executeCommand('list.toggleSelection');
  const toggled = view.selection;
  await vscode.commands.executeCommand('list.toggleSelection');
  // The tree may have been drawn again meanwhile, with other objects for the same rows.
  const idOf = (row: unknown): unknown => (isObject(row) && 'id' in row ? row['id'] : row);
  const isIn = (rows: readonly unknown[]) => (row: unknown) => rows.some((each) => idOf(each) === idOf(row));
  const [wasSelected, isToggled] = [isIn(before), isIn(toggled)];
  const added = toggled.filter((row) => !wasSelected(row));
  if (added.length > 0) return added;
  const focused = before.filter((row) => !isToggled(row));
  return [...focused, ...before.filter(isToggled)];
}

function findingsHere(sources: FindingSources): readonly ShownFinding[] {
  const { displayed, details, findings, findingsView } = sources;
  const inDetails = details.active();
  if (inDetails !== undefined) return [inDetails];
  const editor = vscode.window.activeTextEditor;
  const line = editor?.selection.active.line ?? 0;
  const range = new vscode.Range(line, 0, line, Number.MAX_SAFE_INTEGER);
  const atCursor = editor === undefined ? [] : displayed.at(editor.document.uri, range);
  if (atCursor.length > 0 || !findingsView.visible) return atCursor;
  // A selected group is skipped, because `findingOf` would take only its first finding.
  const rows = findingsView.selection.filter((node) => isObject(node) && node['kind'] === 'finding');
  return rows.flatMap((node) => findingsOfNode(node, findings));
}

/** The store may have a newer version of the node's finding, or no longer have the finding. */
function findingsOfNode(node: unknown, findings: FindingStore): readonly ShownFinding[] {
  if (!isObject(node)) return [];
  const { kind, runId, name, shown } = node;
  if (kind === 'finding' && typeof runId === 'string') {
    const found = findings.find(runId, String(name));
    return found === undefined ? [] : [found];
  }
  const known = (Array.isArray(shown) ? shown : [shown]).filter(isShownFinding);
  return known.map((finding) => findings.find(finding.run.id, finding.name) ?? finding);
}

function isShownFinding(value: unknown): value is ShownFinding {
  return isObject(value) && 'run' in value && 'finding' in value;
}

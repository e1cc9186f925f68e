import * as vscode from 'vscode';
import type { FindingStore } from '../../core/findings/findingStore.ts';
import { isObject } from '../../core/json.ts';
import type { ShownFinding } from '../../core/findings/shownFinding.ts';
import { extensionId, toLinkQuery } from '../../core/run/state/runLink.ts';
import type { RunStore } from '../../core/run/disk/runStore.ts';
import type { Run } from '../../core/run/state/run.ts';
import { showInformation } from '../showMessage.ts';
import type { DisplayedFindings } from './code/displayedFindings.ts';
import type { DocumentPanels } from '../report/documentPanels.ts';

/** What a command on findings can be called on: a finding by name, as code actions and links do, or what is selected in the Findings view, as its keys do. */
export type FindingArgument =
  | { readonly kind: 'finding'; readonly runId: string; readonly index: number }
  | { readonly kind: 'selection' };

/** The runs that are known here, and what they found. */
export interface FindingStores {
  readonly findings: FindingStore;
  readonly runs: RunStore;
}

/** Where a command looks for findings that it was not given. */
export interface FindingSources {
  readonly findings: FindingStore;
  readonly displayed: DisplayedFindings;
  readonly findingsView: vscode.TreeView<unknown>;
  readonly details: Pick<DocumentPanels<ShownFinding>, 'active'>;
}

/**
 * The findings that a command was called on, each once: those of the nodes that a menu gives (the one that was clicked, all that are
 * selected; a group stands for its findings), those a `FindingArgument` names; called on nothing, as from
 * the palette, the one whose details have the focus, else those at the cursor, else those selected in the Findings view.
 */
export function findingsOf(args: readonly unknown[], sources: FindingSources): readonly ShownFinding[] {
  const [first, second] = args;
  if (first === undefined) return findingsHere(sources);
  const isSelection = isObject(first) && first['kind'] === 'selection';
  const chosen = Array.isArray(second) && second.length > 0 ? (second as unknown[]) : [first];
  const nodes = isSelection ? sources.findingsView.selection : chosen;
  const found = nodes.flatMap((node) => findingsOfNode(node, sources.findings));
  return [
    ...new Map(found.map((shown) => [`${shown.run.id}:${String(shown.finding.index)}`, shown])).values(),
  ];
}

/** The first of `findingsOf`, of the node that was clicked or has the focus, whatever else is selected. */
export function findingOf([first]: readonly unknown[], sources: FindingSources): ShownFinding | undefined {
  return findingsOf([first], sources)[0];
}

/** A finding of a run by its index, whether the run is shown or not. */
export async function findInRun(
  run: Run,
  index: number,
  findings: FindingStore,
): Promise<ShownFinding | undefined> {
  return (
    findings.find(run.id, index) ??
    (await findings.read(run)).shown.find(({ finding }) => finding.index === index)
  );
}

/** Says that a command was called where there is no finding. */
export function sayNoFinding(): void {
  const message = vscode.l10n.t(
    'There is no finding here. Put the cursor on a finding’s code, or select a finding in the Findings view.',
  );
  void showInformation(message);
}

/** How commands and code actions name a finding. */
export function toArgument({ run, finding }: ShownFinding): FindingArgument {
  return { kind: 'finding', runId: run.id, index: finding.index };
}

/** An address that shows a finding's details, as a link for others, or also by its position, for links where VS Code follows no command, such as that of a problem. */
export function toAddress({ run, finding, identity }: ShownFinding, isForOthers = false): vscode.Uri {
  const index = isForOthers ? undefined : String(finding.index);
  const query = toLinkQuery(run, { finding: identity.fingerprint, index });
  return vscode.Uri.from({ scheme: vscode.env.uriScheme, authority: extensionId, path: '/finding', query });
}

/** The arguments that a menu would give to a command, where a key of a tree gave `{ kind: 'selection' }`, with the view where it is not Findings. */
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
 * The rows that a key press means, the focused one first: all selected ones if it is among them, else it alone. The API gives the selection
 * but not the focus: toggling the selection of the focused row, and back, shows it.
 */
async function focusedRows(view: vscode.TreeView<unknown>): Promise<readonly unknown[]> {
  const before = view.selection;
  await vscode.commands.executeCommand('list.toggleSelection');
  const toggled = view.selection;
  await vscode.commands.executeCommand('list.toggleSelection');
  const added = toggled.filter((row) => !before.includes(row));
  if (added.length > 0) return added;
  const focused = before.filter((row) => !toggled.includes(row));
  return [...focused, ...before.filter((row) => toggled.includes(row))];
}

/**
 * The finding whose details have the focus; else those that are displayed in the line of the cursor, the narrowest first; else those selected in the Findings view
 * while it is visible.
 */
function findingsHere({
  displayed,
  details,
  findings,
  findingsView,
}: FindingSources): readonly ShownFinding[] {
  const detailed = details.active();
  if (detailed !== undefined) return [detailed];
  const editor = vscode.window.activeTextEditor;
  const line = editor?.selection.active.line ?? 0;
  const range = new vscode.Range(line, 0, line, Number.MAX_SAFE_INTEGER);
  const atCursor = editor === undefined ? [] : displayed.at(editor.document.uri, range);
  if (atCursor.length > 0 || !findingsView.visible) return atCursor;
  // A selected group is left to commands on several findings.
  const rows = findingsView.selection.filter((node) => isObject(node) && node['kind'] === 'finding');
  return rows.flatMap((node) => findingsOfNode(node, findings));
}

/** A node may be older than what the store knows of its finding; a finding that is not shown any more is taken as the node has it. */
function findingsOfNode(node: unknown, findings: FindingStore): readonly ShownFinding[] {
  if (!isObject(node)) return [];
  const { kind, runId, index, shown } = node;
  if (kind === 'finding' && typeof runId === 'string') {
    const found = findings.find(runId, Number(index));
    return found === undefined ? [] : [found];
  }
  const known = (Array.isArray(shown) ? shown : [shown]).filter(isShownFinding);
  return known.map((each) => findings.find(each.run.id, each.finding.index) ?? each);
}

function isShownFinding(value: unknown): value is ShownFinding {
  return isObject(value) && 'run' in value && 'finding' in value;
}

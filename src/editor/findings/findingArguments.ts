import * as vscode from 'vscode';
import type { FindingStore } from '../../core/findings/findingStore.ts';
import type { ShownFinding } from '../../core/findings/shownFinding.ts';
import { isObject } from '../../core/findings/parse/readValue.ts';
import type { FindingsByFile } from './code/findingsByFile.ts';
import { showInformation } from '../showMessage.ts';

/** What a command on findings can be called on: a finding by name, as code actions and links do, or what is selected in the Findings view, as its keys do. */
export type FindingArgument =
  | { readonly kind: 'finding'; readonly runId: string; readonly index: number }
  | { readonly kind: 'selection' };

/** Where findings that a command was not given are looked for. */
export interface FindingSources {
  readonly findings: FindingStore;
  readonly byFile: FindingsByFile;
  /** The finding whose details panel has the focus of its group. */
  readonly inDetails: () => ShownFinding | undefined;
  /** The nodes that are selected in the Findings view. */
  readonly selection: () => readonly unknown[];
}

/**
 * The findings that a command was called on, each once: those of the nodes that a menu gives (the one that was clicked, all that are
 * selected; a group stands for its findings), those a `FindingArgument` names; called on nothing, as from
 * the palette, the one whose details have the focus, else those at the cursor.
 */
export function findingsOf(args: readonly unknown[], sources: FindingSources): readonly ShownFinding[] {
  const [first, second] = args;
  if (first === undefined) return findingsHere(sources);
  const isSelection = isObject(first) && first['kind'] === 'selection';
  const chosen = Array.isArray(second) && second.length > 0 ? (second as unknown[]) : [first];
  const nodes = isSelection ? sources.selection() : chosen;
  const found = nodes.flatMap((node) => findingsOfNode(node, sources.findings));
  return [...new Map(found.map((shown) => [keyOf(shown), shown])).values()];
}

/** The first of `findingsOf`, of the node that was clicked or has the focus, whatever else is selected. */
export function findingOf([first]: readonly unknown[], sources: FindingSources): ShownFinding | undefined {
  return findingsOf([first], sources)[0];
}

/** What to say when a command was called where no finding is. */
export function sayNoFinding(): void {
  const message = vscode.l10n.t(
    'No finding is here. Put the cursor on its code, or select it in the Findings view.',
  );
  void showInformation(message);
}

/** How commands, code actions and links name a finding. */
export function toArgument({ run, finding }: ShownFinding): FindingArgument {
  return { kind: 'finding', runId: run.id, index: finding.index };
}

/** The finding whose details have the focus; else those that are displayed in the line of the cursor, the narrowest first. */
function findingsHere({ byFile, inDetails }: FindingSources): readonly ShownFinding[] {
  const detailed = inDetails();
  if (detailed !== undefined) return [detailed];
  const editor = vscode.window.activeTextEditor;
  if (editor === undefined) return [];
  const { line } = editor.selection.active;
  return byFile.at(editor.document.uri, new vscode.Range(line, 0, line, Number.MAX_SAFE_INTEGER));
}

/** A node may be older than what the store knows of its finding; a finding that is not shown any more is as the node has it. */
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

function keyOf({ run, finding }: ShownFinding): string {
  return `${run.id}:${String(finding.index)}`;
}

import * as vscode from 'vscode';
import { isObject } from '../core/findings/parse/readValue.ts';

/** The arguments of a command as a menu would give them, where a key of a tree gave `{ kind: 'selection' }`. */
export async function withFocusedRows(
  args: readonly unknown[],
  view: vscode.TreeView<unknown>,
): Promise<readonly unknown[]> {
  const [first] = args;
  if (!isObject(first) || first['kind'] !== 'selection') return args;
  const rows = await focusedRows(view);
  return [rows[0] ?? first, rows];
}

/**
 * The rows that a key press means: all that are selected where the focused row is among them, else that row alone. The API tells what is
 * selected, not what is focused: selecting the focused row, or not, and back does.
 */
async function focusedRows(view: vscode.TreeView<unknown>): Promise<readonly unknown[]> {
  const before = view.selection;
  await vscode.commands.executeCommand('list.toggleSelection');
  const added = view.selection.filter((row) => !before.includes(row));
  await vscode.commands.executeCommand('list.toggleSelection');
  return added.length > 0 ? added : before;
}

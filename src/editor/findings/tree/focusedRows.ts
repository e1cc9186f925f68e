import * as vscode from 'vscode';
import { isObject } from '../../../core/findings/parse/readValue.ts';

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
 * The rows that a key press means, the focused one first: all that are selected where it is among them, else it alone. The API tells what is
 * selected, not what is focused: selecting the focused row, or not, and back does.
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

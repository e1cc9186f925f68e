import * as vscode from 'vscode';
import { until } from './until.ts';

/** The folders of this window, once there are so many: a workspace file may be read after the extension host has started. */
export async function openFolders(count: number): Promise<string[]> {
  const folders = (): string[] => (vscode.workspace.workspaceFolders ?? []).map(({ uri }) => uri.fsPath);
  await until(vscode.workspace.onDidChangeWorkspaceFolders, () => folders().length === count, folders);
  return folders();
}

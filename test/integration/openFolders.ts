import { readFile, writeFile } from 'node:fs/promises';
import * as vscode from 'vscode';
import { eventually } from '../host/workbench/eventually.ts';

/**
 * The folders of this window, once there are so many. The web workbench forgets the folders of a workspace file that it gets to
 * read sooner than it expects, as from this machine, until the file changes.
 */
export async function openFolders(count: number): Promise<string[]> {
  const folders = (): string[] => (vscode.workspace.workspaceFolders ?? []).map(({ uri }) => uri.fsPath);
  const file = vscode.workspace.workspaceFile?.fsPath;
  let rewrittenAt = performance.now();
  const look = async (): Promise<string[]> => {
    if (file !== undefined && folders().length < count && performance.now() - rewrittenAt > 500) {
      await writeFile(file, await readFile(file));
      rewrittenAt = performance.now();
    }
    return folders();
  };
  return eventually(look, ({ length }) => length === count);
}

import { readFile, writeFile } from 'node:fs/promises';
import { before } from 'mocha';
import * as vscode from 'vscode';
import { eventually } from '../host/workbench/eventually.ts';

/** The second start has two folders. They are known before the first test. */
export let [folder, secondFolder] = ['', ''];

/**
 * The web workbench forgets the folders of a workspace file that it gets to read sooner than it
 * expects, as from this machine, until the file changes.
 */
before(async () => {
  const folders = (): string[] => (vscode.workspace.workspaceFolders ?? []).map(({ uri }) => uri.fsPath);
  const file = vscode.workspace.workspaceFile?.fsPath;
  const count = file === undefined ? 1 : 2;
  let rewrittenAt = performance.now();
  const look = async (): Promise<string[]> => {
    if (file !== undefined && folders().length < count && performance.now() - rewrittenAt > 500) {
      await writeFile(file, await readFile(file));
      rewrittenAt = performance.now();
    }
    return folders();
  };
  [folder = '', secondFolder = ''] = await eventually(look, ({ length }) => length === count);
});

import { readFile, writeFile } from 'node:fs/promises';
import { before } from 'mocha';
import * as vscode from 'vscode';
import { eventually } from '../host/workbench/eventually.ts';

/** Only the window `laterStart` has a second folder. A hook sets both before the first test. */
export let [folder, secondFolder] = ['', ''];

/**
 * If the web workbench gets a workspace file sooner than it expects, as it does from this machine,
 * it shows no folders until the file changes. So the file is written again.
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

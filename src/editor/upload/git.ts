import * as vscode from 'vscode';
import type { Target } from '../../core/run/state/run.ts';

/** The part of the API of VS Code's own git extension (`vscode.git`, version 1) that is used here. */
interface GitApi {
  getRepository(uri: vscode.Uri): {
    readonly state: {
      readonly HEAD?: { readonly commit?: string };
      readonly workingTreeChanges: readonly unknown[];
      readonly indexChanges: readonly unknown[];
      readonly mergeChanges: readonly unknown[];
      readonly untrackedChanges?: readonly unknown[];
    };
  } | null;
}

/** The commit a folder stands on and whether it has changes, as VS Code's own git extension already knows; undefined when it does not. */
export async function readCommit(folder: vscode.Uri): Promise<Target['commit']> {
  const git = vscode.extensions.getExtension<{ getAPI(version: 1): GitApi; readonly enabled: boolean }>(
    'vscode.git',
  );
  if (git === undefined) return undefined;
  const exports = await git.activate();
  if (!exports.enabled) return undefined;
  const state = exports.getAPI(1).getRepository(folder)?.state;
  const id = state?.HEAD?.commit;
  if (state === undefined || id === undefined) return undefined;
  const { workingTreeChanges, indexChanges, mergeChanges, untrackedChanges = [] } = state;
  const changes = [workingTreeChanges, indexChanges, mergeChanges, untrackedChanges];
  return { id, dirty: changes.some((list) => list.length > 0) };
}

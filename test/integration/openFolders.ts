import * as vscode from 'vscode';
import { until } from './until.ts';
import { report } from './events.ts';
import { readFileSync } from 'node:fs';

export async function openFolders(count: number): Promise<string[]> {
  const folders = (): string[] => (vscode.workspace.workspaceFolders ?? []).map(({ uri }) => uri.fsPath);
  const say = (t: string) => report({ kind: 'figure', text: `${t} ${performance.now()} ${vscode.workspace.name} ${vscode.workspace.workspaceFile} ${folders().length} ${JSON.stringify(vscode.workspace.getConfiguration('whitebox').inspect('report.language'))}` });
  say('start');
  vscode.workspace.onDidChangeWorkspaceFolders(() => say('event'));
  vscode.workspace.onDidChangeConfiguration(() => say('config'));
  try {
  await until(vscode.workspace.onDidChangeWorkspaceFolders, () => folders().length === count, folders);
  } catch (e) {say('end ' + (readFileSync(vscode.workspace.workspaceFile!.fsPath,'utf8')));  throw e;}
  return folders();
}

import path from 'node:path';
import type * as vscode from 'vscode';
import { RunStore } from '../../src/core/run/runStore.ts';
import { showRuns } from '../../src/editor/runsView.ts';
import { storageVariable } from './events.ts';
import { silent } from '../silentLog.ts';

const clock = { now: Date.now, monotonic: () => performance.now(), sleep: () => Promise.resolve() };

/** What a Runs view that reads the extension's storage says of a run: its own line first. Empty when there is no such run. */
export async function runLines(id: string): Promise<string[]> {
  const runs = new RunStore(path.join(process.env[storageVariable]!, 'runs'), { clock, log: silent });
  await runs.reload();
  if (runs.get(id) === undefined) return [];
  let tree: vscode.TreeDataProvider<unknown> | undefined;
  const view = { badge: undefined } as unknown as vscode.TreeView<unknown>;
  const shown = showRuns({ view, fill: (provider) => (tree = provider) }, { runs, now: Date.now });
  const lines: string[] = [];
  const node = { kind: 'run', id };
  for (const each of [node, ...((await tree?.getChildren(node)) ?? [])]) {
    const item = await tree?.getTreeItem(each);
    lines.push(`${item?.label as string}: ${item?.description as string}`);
  }
  shown.dispose();
  return lines;
}

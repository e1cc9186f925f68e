import path from 'node:path';
import * as vscode from 'vscode';
import { extensionId } from '../../src/editor/runs/runLink.ts';
import type { FindingStore } from '../../src/core/findings/findingStore.ts';
import type { Failure } from '../../src/core/run/state/run.ts';
import { RunStore } from '../../src/core/run/disk/runStore.ts';
import { type RunsNode, showRuns } from '../../src/editor/runs/runsView.ts';
import { storageVariable } from './events.ts';
import { silent } from '../silentLog.ts';

export const parseWorkerFile = path.join(
  vscode.extensions.getExtension(extensionId)!.extensionPath,
  'dist/parseWorker.cjs',
);

const clock = { now: Date.now, monotonic: () => performance.now(), sleep: () => Promise.resolve() };

/** A tracker whose journals are always saved. */
export const savedAlways = {
  onDidFailToKeep: () => ({ dispose: () => undefined }),
  nextCheckAt: (): number | undefined => undefined,
};

/** Findings of a window that cannot read any run. */
function findingsOf(unread: Failure | undefined): FindingStore {
  return {
    failureOf: () => unread,
    onDidChange: () => ({ dispose: () => undefined }),
  } satisfies Partial<FindingStore> as unknown as FindingStore;
}

/** The lines of a run in a Runs view on the extension's storage, its row first; empty if unknown. `unread` is why its findings are unreadable. */
export async function runLines(id: string, unread?: Failure): Promise<string[]> {
  const items = await runItems(id, unread);
  return items.map(({ label, description }) => `${label as string}: ${description as string}`);
}

/** The tree items of `runLines`. */
export async function runItems(id: string, unread?: Failure): Promise<vscode.TreeItem[]> {
  const runs = new RunStore(path.join(process.env[storageVariable]!, 'runs'), { clock, log: silent });
  await runs.reload();
  if (runs.get(id) === undefined) return [];
  let tree: vscode.TreeDataProvider<RunsNode> | undefined;
  const view = { badge: undefined } as unknown as vscode.TreeView<RunsNode>;
  const shown = showRuns(
    { view, fill: (provider) => (tree = provider) },
    {
      runs,
      findings: findingsOf(unread),
      clock,
      tracker: savedAlways,
      notes: { runIdFor: () => undefined },
      parseWorkerFile,
    },
  );
  const items: vscode.TreeItem[] = [];
  const node: RunsNode = { kind: 'run', id };
  for (const each of [node, ...((await tree?.getChildren(node)) ?? [])]) {
    const item = await tree?.getTreeItem(each);
    if (item !== undefined) items.push(item);
  }
  shown.dispose();
  return items;
}

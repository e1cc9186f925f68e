import path from 'node:path';
import * as vscode from 'vscode';
import type { FindingStore } from '../../src/core/findings/findingStore.ts';
import type { Clock } from '../../src/core/ports.ts';
import type { RunStore } from '../../src/core/run/disk/runStore.ts';
import { extensionId } from '../../src/editor/runs/runLink.ts';
import type { SignInState } from '../../src/editor/account/accounts.ts';
import { type RunsNode, showRuns } from '../../src/editor/runs/runsView.ts';
import { showStatus } from '../../src/editor/runs/statusBar.ts';
import { afterTest } from './dialogs.ts';
import { clockAt, never, storeOfFindings } from './doubles.ts';

const { extensionPath } = vscode.extensions.getExtension(extensionId)!;

export const dist = (name: string): string => path.join(extensionPath, 'dist', name);

interface Circumstances {
  readonly clock?: Clock;
  readonly findings?: FindingStore;
  readonly account?: SignInState;
  /** The run with this ID could not be saved. */
  readonly runId?: string;
  readonly nextCheckAt?: number;
}

/** The status item and the Runs view exist until the test ends. */
export function showOf(
  runs: RunStore,
  { clock = clockAt(0), findings, account = 'signedIn', runId, nextCheckAt }: Circumstances = {},
) {
  const item = {} as vscode.StatusBarItem;
  const view = { badge: undefined } as unknown as vscode.TreeView<RunsNode>;
  let tree: vscode.TreeDataProvider<RunsNode> | undefined;
  const deps = {
    runs,
    findings: findings ?? storeOfFindings(),
    clock,
    accounts: { state: account, onDidChangeState: never },
    tracker: { onDidFailToSave: never, nextCheckAt: () => nextCheckAt },
    notes: { runIdFor: () => runId },
    parseWorkerFile: dist('parseWorker.cjs'),
  };
  const shown = [showStatus(item, deps), showRuns({ view, fill: (filled) => (tree = filled) }, deps)];
  afterTest(() => void vscode.Disposable.from(...shown).dispose());
  return {
    item,
    view,
    tree: tree!,
    tooltip: (): string => (item.tooltip as vscode.MarkdownString).value.replaceAll('\\', ''),
    rowsOf: async (id: string): Promise<vscode.TreeItem[]> => {
      const node: RunsNode = { kind: 'run', id };
      const nodes = [node, ...((await tree!.getChildren(node)) ?? [])];
      return Promise.all(nodes.map(async (each) => tree!.getTreeItem(each)));
    },
  };
}

import assert from 'node:assert/strict';
import { describe, it } from 'mocha';
import type * as vscode from 'vscode';
import type { FindingStore } from '../../../../src/core/findings/findingStore.ts';
import type { RunStore } from '../../../../src/core/run/disk/runStore.ts';
import type { Run } from '../../../../src/core/run/state/run.ts';
import { formatTime } from '../../../../src/editor/formats.ts';
import { type RunsNode, showRuns } from '../../../../src/editor/runs/runsView.ts';
import { showStatus } from '../../../../src/editor/runs/statusBar.ts';
import { runOf } from '../../../unit/run/sampleRuns.ts';
import { parseWorkerFile, savedAlways } from '../../runLines.ts';

const minute = 60_000;
const hour = 60 * minute;
const [startedAt, now] = [1_000 * hour, 1_003 * hour + 12 * minute];
const nextCheckAt = now + 9 * minute;

const running = {
  ...runOf.running,
  id: 'running',
  createdAt: startedAt,
  dispatchedAt: startedAt,
  lastAnswerAt: now - minute,
} as Run;

/** An invented earlier run of the same folder that took so many hours. */
const finished = (hours: number): Run => {
  const exitedAt = hours * hour;
  const times = { createdAt: 0, dispatchedAt: 0, ranAt: exitedAt - minute, exitedAt };
  return { ...runOf.succeeded, id: `took-${String(hours)}`, ...times };
};

const never = { onDidChange: () => ({ dispose: () => undefined }) };
const storeOf = (...all: readonly Run[]): RunStore =>
  ({
    ...never,
    all: () => all,
    get: (id: string) => all.find((run) => run.id === id),
    reload: () => Promise.resolve(),
    foreign: () => [],
    onDidChangeOther: never.onDidChange,
  }) as unknown as RunStore;
const clock = { now: () => now, monotonic: () => now, sleep: () => Promise.resolve() };
const tracker = { ...savedAlways, nextCheckAt: () => nextCheckAt, checkNow: () => Promise.resolve() };
const findings = {
  ...never,
  all: () => [],
  failureOf: () => undefined,
  isComplete: () => true,
} as Partial<FindingStore> as FindingStore;

const tooltipOf = (...all: readonly Run[]): string => {
  const item = {} as vscode.StatusBarItem;
  const accounts = { state: 'signedIn', onDidChangeState: () => ({ dispose: () => undefined }) } as const;
  showStatus(item, { accounts, runs: storeOf(...all), findings, tracker, clock }).dispose();
  return (item.tooltip as vscode.MarkdownString).value.replaceAll('\\', '');
};

/** The row of a run, and the lines below it. */
const rowsOf = async (run: Run, ...others: readonly Run[]): Promise<readonly vscode.TreeItem[]> => {
  let tree: vscode.TreeDataProvider<RunsNode> | undefined;
  const view = { badge: undefined } as unknown as vscode.TreeView<RunsNode>;
  const notes = { runIdFor: () => undefined };
  const deps = { runs: storeOf(run, ...others), findings, tracker, notes, clock, parseWorkerFile };
  const shown = showRuns({ view, fill: (filled) => (tree = filled) }, deps);
  const node: RunsNode = { kind: 'run', id: run.id };
  const nodes = [node, ...((await tree?.getChildren(node)) ?? [])];
  const rows: vscode.TreeItem[] = [];
  for (const each of nodes) {
    const row = await tree?.getTreeItem(each);
    if (row !== undefined) rows.push(row);
  }
  shown.dispose();
  return rows;
};

describe('what is known of a run in progress', () => {
  const facts = [
    `Last response: ${formatTime(now - minute)}`,
    `Next check: ${formatTime(nextCheckAt)}`,
    'Earlier runs took 6h 0m to 9h 0m',
  ];
  const first = 'Whitebox assessment · shop: running, 3h 12m';

  it('is in the tooltip of the status item: elapsed, last response, next check, and earlier runs', () => {
    assert.equal(tooltipOf(running, finished(9), finished(6)), [first, ...facts].join('  \n'));
    assert.doesNotMatch(tooltipOf(running), /Earlier runs|%/);
  });

  it('is in the tooltip of its row in the Runs view, and in the lines below the row', async () => {
    const [row, ...lines] = await rowsOf(running, finished(9), finished(6));
    for (const fact of facts) {
      assert.ok((row?.tooltip as string).includes(`\n${fact}`), fact);
      assert.ok(
        lines.some(({ label }) => label === fact),
        fact,
      );
    }
    assert.deepEqual(
      (await rowsOf(finished(9), finished(6))).filter(({ label }) => facts.includes(label as string)),
      [],
    );
  });

  it('is only how long it was watched, for a run that was started elsewhere', () => {
    const tracked = { ...running, confirmedAt: undefined } as Run;
    assert.match(tooltipOf(tracked), /: running, watched for 3h 12m {2}\n/);
  });
});

import * as vscode from 'vscode';
import { AssessmentError } from '../../core/errors.ts';
import { readFeatures } from '../../core/features/features.ts';
import {
  type Choice,
  everyPair,
  goneNames,
  type Pair,
  pairsOf,
  readChoice,
  withPairs,
  writeChoice,
} from '../../core/features/pairs.ts';
import { readScanProgress } from '../../core/features/scanProgress.ts';
import type { Disposable } from '../../core/ports.ts';
import type { RunStore } from '../../core/run/disk/runStore.ts';
import { isLive, type Run } from '../../core/run/state/run.ts';
import { focusView, type LazyView } from '../../lazyView.ts';
import type { Attempt } from '../errors/remedies.ts';
import { hasOpenFolder } from '../folders.ts';
import { describeFeatures } from './featuresMessage.ts';
import { type FeaturesNode, type ShownFeatures, toItem } from './featureItems.ts';

/** The Features view: what a crawl found, and which pairs of feature and perspective to assess. */
export interface FeaturesView extends Disposable {
  /** Shows the features of a run; throws `badFeatures` where it has none that can be read. */
  show(run: Run): Promise<void>;
  /** What is shown; undefined while the view is hidden. */
  shown(): ShownFeatures | undefined;
  /** Changes which pairs are chosen, and keeps that with the run. */
  choose(change: (shown: ShownFeatures) => Choice): Promise<void>;
  /** Shows only features that contain a text. */
  filterBy(text: string): void;
  /** Resolves when what was chosen is kept, or could not be. */
  settled(): Promise<unknown>;
  /** Hides the view. */
  close(): void;
}

/** More rows would take seconds to show. */
const maxRows = 2_000;

/** Fills the Features view, which is hidden until a run is shown in it; a crawl that ends in success is shown by itself. */
export function createFeaturesView(
  lazy: LazyView,
  { runs, attempt }: { runs: RunStore; attempt: Attempt },
): FeaturesView {
  const changed = new vscode.EventEmitter<undefined>();
  let shown: ShownFeatures | undefined;
  let written: Promise<unknown> = Promise.resolve();

  const render = (next: ShownFeatures | undefined): void => {
    shown = next;
    const state = next === undefined ? undefined : describeFeatures(lazy.view, next);
    void vscode.commands.executeCommand('setContext', 'whitebox.featuresView', state);
    changed.fire(undefined);
  };
  const read = async (run: Run): Promise<Pick<ShownFeatures, 'run' | 'list' | 'progress'>> => {
    const folder = runs.folderOf(run.id);
    return { run, list: await readFeatures(run, folder), progress: await readScanProgress(run, folder) };
  };
  const show = async (run: Run): Promise<void> => {
    await written.catch(() => undefined);
    written = Promise.resolve();
    const { list, ...facts } = await read(run);
    let choice: Choice | undefined = new Map();
    let isDamaged = false;
    try {
      choice = await readChoice(runs.folderOf(run.id));
    } catch (error) {
      if (!(error instanceof AssessmentError)) throw error;
      isDamaged = true;
    }
    render(toShown({ ...facts, list, choice: choice ?? everyPair(list.features), isDamaged, filter: '' }));
  };
  const choose: FeaturesView['choose'] = async (change) => {
    if (shown === undefined) return;
    const { run } = shown;
    const choice = change(shown);
    render({ ...shown, choice, isDamaged: false });
    const write = (): Promise<void> => writeChoice(runs.folderOf(run.id), choice);
    const writing = written.then(write, write);
    written = writing; // a start that waits for it fails as well
    await writing;
  };

  lazy.fill({
    onDidChangeTreeData: changed.event,
    getChildren: (node) => (shown === undefined ? [] : childrenOf(node as FeaturesNode | undefined, shown)),
    getTreeItem: (node) =>
      shown === undefined ? new vscode.TreeItem('') : toItem(node as FeaturesNode, shown),
  });
  const checkboxes = lazy.view.onDidChangeCheckboxState(({ items }) => {
    const changes = items as [FeaturesNode, vscode.TreeItemCheckboxState][];
    void attempt('whitebox.choosePairs', () =>
      choose(({ choice }) =>
        changes.reduce(
          (next, [node, state]) =>
            withPairs(next, pairsBelow(node), state === vscode.TreeItemCheckboxState.Checked),
          choice,
        ),
      ),
    );
  });
  const live = new Set<string>();
  const changes = runs.onDidChange((run) => {
    if (run.id === shown?.run.id) {
      if (runs.get(run.id) === undefined) render(undefined);
      else
        void attempt('whitebox.showFeatures', async () => {
          const facts = await read(run);
          if (shown?.run.id === run.id) render(toShown({ ...shown, ...facts }));
        });
    }
    if (isLive(run)) live.add(run.id);
    else if (live.delete(run.id) && isEndedCrawl(run) && hasOpenFolder(run))
      void attempt('whitebox.showFeatures', () => show(run));
  });

  return {
    show: async (run) => {
      await show(run);
      await focusView('features');
    },
    shown: () => shown,
    choose,
    filterBy: (filter) => {
      if (shown !== undefined) render(toShown({ ...shown, filter }));
    },
    settled: () => written,
    close: () => render(undefined),
    dispose: () => {
      checkboxes.dispose();
      changes.dispose();
      changed.dispose();
    },
  };
}

/** True for a crawl that has ended in success. */
function isEndedCrawl({ workflow, state }: Run): boolean {
  return workflow === 'blackbox-crawl' && state === 'succeeded';
}

function toShown(all: Omit<ShownFeatures, 'passing'>): ShownFeatures {
  const words = all.filter.toLowerCase();
  const passing = all.list.features.filter(({ name, method, url, description }) =>
    [name, method, url, description].some((text) => text?.toLowerCase().includes(words)),
  );
  return { ...all, passing };
}

function childrenOf(node: FeaturesNode | undefined, shown: ShownFeatures): FeaturesNode[] {
  if (node === undefined) {
    const { choice, list, passing } = shown;
    const rows: FeaturesNode[] = [
      ...goneNames(choice, list.features).map((name) => ({ kind: 'gone' as const, name })),
      ...passing.map((feature) => ({ kind: 'feature' as const, feature })),
    ];
    return rows.length <= maxRows
      ? rows
      : [...rows.slice(0, maxRows), { kind: 'more', count: rows.length - maxRows }];
  }
  return node.kind === 'feature' ? pairsOf([node.feature]).map((pair) => ({ kind: 'pair', pair })) : [];
}

/** The pairs that a row stands for. */
export function pairsBelow(node: FeaturesNode): readonly Pair[] {
  switch (node.kind) {
    case 'feature':
      return pairsOf([node.feature]);
    case 'gone':
      return pairsOf([node]);
    case 'pair':
      return [node.pair];
    case 'more':
      return [];
  }
}

import * as vscode from 'vscode';
import { AssessmentError } from '../../core/errors.ts';
import { maxFeatures, readFeatures } from '../../core/features/features.ts';
import {
  askedPairs,
  type Choice,
  defaultChoice,
  countChosen,
  faultsOf,
  missingFeatures,
  maxPairs,
  type Pair,
  pairsOf,
  readChoice,
  withPairs,
  writeChoice,
} from '../../core/features/chosenPairs.ts';
import { readScanProgress } from '../../core/features/scanProgress.ts';
import type { RunStore } from '../../core/run/disk/runStore.ts';
import { isLive, type Run } from '../../core/run/state/run.ts';
import { perspectives } from '../../core/workflows/perspectives.ts';
import { focusView, type LazyView, maxRows } from '../../lazyView.ts';
import type { Attempt } from '../errors/errorActions.ts';
import { hasOpenFolder } from '../folders.ts';
import { formatNumber } from '../formats.ts';
import { runLabel } from '../runs/runLabels.ts';
import { type FeaturesNode, isUntested, type ShownFeatures, toItem } from './featureItems.ts';

const t = vscode.l10n.t;

interface FeaturesDeps {
  readonly runs: RunStore;
  readonly attempt: Attempt;
  readonly parseWorkerFile: string;
}

/** The view is hidden until a run is shown, by a command or when a crawl finishes. */
export class FeaturesView implements vscode.Disposable {
  readonly #view: vscode.TreeView<FeaturesNode>;
  readonly #deps: FeaturesDeps;
  readonly #changes = new vscode.EventEmitter<undefined>();
  readonly #subscriptions: vscode.Disposable;
  readonly #liveIds = new Set<string>();
  #shown: ShownFeatures | undefined;
  #saved: Promise<unknown> = Promise.resolve();

  constructor(lazy: LazyView<FeaturesNode>, deps: FeaturesDeps) {
    this.#view = lazy.view;
    this.#deps = deps;
    lazy.fill({
      onDidChangeTreeData: this.#changes.event,
      getChildren: (node) => (this.#shown === undefined ? [] : childrenOf(node, this.#shown)),
      getTreeItem: (node) =>
        this.#shown === undefined ? new vscode.TreeItem('') : toItem(node, this.#shown),
    });
    this.#subscriptions = vscode.Disposable.from(
      this.#changes,
      lazy.view.onDidChangeCheckboxState(({ items }) => this.#check(items)),
      deps.runs.onDidChange((changed) => changed.forEach((run) => this.#showChange(run))),
    );
  }

  shown(): ShownFeatures | undefined {
    return this.#shown;
  }

  async show(run: Run): Promise<void> {
    await this.#show(run);
    await focusView('features');
  }

  async choose(change: (shown: ShownFeatures) => Choice): Promise<void> {
    if (this.#shown === undefined) return;
    const { run } = this.#shown;
    const choice = change(this.#shown);
    this.#render({ ...this.#shown, choice });
    const save = (): Promise<void> => writeChoice(this.#deps.runs.folderOf(run.id), choice);
    const saving = this.#saved.then(save, save);
    this.#saved = saving;
    await saving;
  }

  filterBy(filter: string): void {
    if (this.#shown !== undefined) this.#render(toShown({ ...this.#shown, filter }));
  }

  /** Rejects if the choice couldn't be saved, so that no run starts with an older choice. */
  async whenSaved(): Promise<void> {
    await this.#saved;
  }

  close(): void {
    this.#render(undefined);
  }

  dispose(): void {
    this.#subscriptions.dispose();
  }

  #render(shown: ShownFeatures | undefined): void {
    this.#shown = shown;
    const state = shown === undefined ? undefined : describeFeatures(this.#view, shown);
    void vscode.commands.executeCommand('setContext', 'whitebox.featuresView', state);
    this.#changes.fire(undefined);
  }

  async #show(run: Run): Promise<void> {
    await this.#saved.catch(() => undefined);
    this.#saved = Promise.resolve();
    const facts = await this.#read(run);
    const saved = await readUndamaged(this.#deps.runs.folderOf(run.id));
    const choice = saved ?? defaultChoice(run, facts.list.features);
    this.#render(toShown({ ...facts, choice, filter: '' }));
  }

  async #read(run: Run): Promise<Pick<ShownFeatures, 'run' | 'list' | 'progress'>> {
    const { runs, parseWorkerFile } = this.#deps;
    const folder = runs.folderOf(run.id);
    const list = await readFeatures(run, folder, parseWorkerFile);
    return { run, list, progress: await readScanProgress(run, folder, parseWorkerFile) };
  }

  #check(items: readonly (readonly [FeaturesNode, vscode.TreeItemCheckboxState])[]): void {
    const { Checked } = vscode.TreeItemCheckboxState;
    void this.#deps.attempt('whitebox.choosePairs', () =>
      this.choose(({ choice }) =>
        items.reduce((next, [node, state]) => withPairs(next, pairsBelow(node), state === Checked), choice),
      ),
    );
  }

  #showChange(run: Run): void {
    const { runs, attempt } = this.#deps;
    if (run.id === this.#shown?.run.id) {
      if (runs.get(run.id) === undefined) this.close();
      else
        void attempt('whitebox.showFeatures', async () => {
          const facts = await this.#read(run);
          if (this.#shown?.run.id === run.id) this.#render(toShown({ ...this.#shown, ...facts }));
        });
    }
    if (isLive(run)) this.#liveIds.add(run.id);
    else if (this.#liveIds.delete(run.id)) {
      const isNewCrawl = run.workflow === 'blackbox-crawl' && run.state === 'succeeded';
      if (isNewCrawl && hasOpenFolder(run)) void attempt('whitebox.showFeatures', () => this.#show(run));
    }
  }
}

async function readUndamaged(folder: string): Promise<Choice | undefined> {
  try {
    return await readChoice(folder);
  } catch (error) {
    if (!(error instanceof AssessmentError)) throw error;
    return new Map();
  }
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
      ...missingFeatures(choice, list.features).map((name) => ({ kind: 'gone' as const, name })),
      ...passing.map((feature) => ({ kind: 'feature' as const, feature })),
    ];
    return rows.length <= maxRows
      ? rows
      : [...rows.slice(0, maxRows), { kind: 'more', count: rows.length - maxRows }];
  }
  return node.kind === 'feature' ? pairsOf([node.feature]).map((pair) => ({ kind: 'pair', pair })) : [];
}

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

/** A message would hide the welcome of an empty view. */
function describeFeatures(
  view: vscode.TreeView<unknown>,
  shown: ShownFeatures,
): 'shown' | 'filtered' | 'none' {
  const { choice, list, passing } = shown;
  const hasRows = passing.length > 0 || missingFeatures(choice, list.features).length > 0;
  const state = hasRows ? 'shown' : list.features.length === 0 ? 'none' : 'filtered';
  view.description = runLabel(shown.run);
  view.message = state === 'shown' ? [countOf(shown), ...notesOn(shown)].join(' ') : '';
  return state;
}

function countOf({ choice, list }: ShownFeatures): string {
  const count = formatNumber(countChosen(choice, list.features));
  const total = formatNumber(list.features.length * perspectives.length);
  return faultsOf(choice, list.features).includes('tooMany')
    ? t(
        '{0} of {1} pairs chosen. You can assess at most {2}, or all of them without priorities.',
        count,
        total,
        formatNumber(maxPairs),
      )
    : t('{0} of {1} pairs chosen.', count, total);
}

function notesOn(shown: ShownFeatures): string[] {
  const { run, choice, list, progress, filter, passing } = shown;
  const { features, repeated, unreadable, cut } = list;
  const found = formatNumber(passing.length);
  const all = formatNumber(features.length);
  const tested = formatNumber(progress.tested);
  const skipped = formatNumber(progress.notApplicable);
  const notes: string[] = [];
  if (filter !== '') notes.push(t('Filter “{0}”: {1} of {2} features.', filter, found, all));
  if (isUntested(shown)) notes.push(t('No pairs have been tested yet.'));
  else if (progress.problem === undefined) notes.push(t('{0} tested, {1} not applicable.', tested, skipped));
  else if (progress.problem !== 'absent')
    notes.push(t('VS Code can’t read part of the assessment progress. Some pairs may have been tested.'));
  if (choice.size === 0 && askedPairs(run) === 'unknown')
    notes.push(t('VS Code doesn’t know which pairs were chosen for this run.'));
  if (faultsOf(choice, features).includes('gone'))
    notes.push(t('Some chosen features no longer exist. Until you clear their checkboxes, nothing is sent.'));
  if (repeated > 0)
    notes.push(
      t('Entries with the same name count as one feature. Repeated entries: {0}.', formatNumber(repeated)),
    );
  if (unreadable + cut > 0)
    notes.push(
      t(
        'Entries without a usable name or beyond the first {0}: {1}. They’re assessed only when all pairs are chosen.',
        formatNumber(maxFeatures),
        formatNumber(unreadable + cut),
      ),
    );
  return notes;
}

import * as vscode from 'vscode';
import type { FindingStore } from '../../../core/findings/findingStore.ts';
import type { FindingsChange, ShownFinding } from '../../../core/findings/shownFinding.ts';
import { toChangeGroups, toGroups } from '../../../core/findings/view/groups.ts';
import { Outline, type OutlineNode } from '../../../core/findings/view/outline.ts';
import { sift, type Sifted } from '../../../core/findings/view/sift.ts';
import { isSettled } from '../../../core/findings/triage/triage.ts';
import type { Run } from '../../../core/run/state/run.ts';
import type { RunStore } from '../../../core/run/disk/runStore.ts';
import { toItem } from './findingItems.ts';
import type { FindingsLens } from './findingsLens.ts';
import {
  describeFilter,
  describeHidden,
  describeOnlyHere,
  describeRuns,
  type FindingsState,
  stateOf,
} from './findingsMessage.ts';
import { formatNumber } from '../../formats.ts';
import type { LazyView } from '../../../lazyView.ts';
import { readDisplaySettings } from '../../settings.ts';

/** With more findings than this, files are closed until a person opens them. */
const mostOpen = 300;

/** What the Findings view is made from. */
export interface FindingsViewDeps {
  readonly findings: FindingStore;
  readonly runs: RunStore;
  readonly lens: FindingsLens;
  /** Whether a run assesses a folder that this window has open. */
  readonly isOpenHere: (run: Run) => boolean;
}

/** What is left of the findings, or of two compared runs, after the settings and the filter; who compares or filters by triage wants to see what triage settled. */
function siftFindings({ findings, lens }: FindingsViewDeps): Sifted {
  const { minimumSeverity, hideTriaged } = readDisplaySettings();
  const comparison = findings.comparison();
  const asksForTriage = comparison !== undefined || (lens.filter.triage ?? []).length > 0;
  const display = { minimumSeverity, hideTriaged: hideTriaged && !asksForTriage };
  const passes = (shown: ShownFinding): boolean => lens.passes(shown);
  if (comparison === undefined) return sift(findings.all(), display, passes);
  const found = findings.all().filter(({ run }) => run.id === comparison.run.id);
  return sift([...found, ...comparison.fixed], display, passes);
}

/** Fills the Findings view: groups, files, findings; its message names runs, what settings hide and the filter. */
export function showFindings(lazy: LazyView, deps: FindingsViewDeps): vscode.Disposable {
  const { findings, runs, lens } = deps;
  const changed = new vscode.EventEmitter<OutlineNode[] | undefined>();
  const outline = new Outline();
  let sifted = siftFindings(deps);
  lazy.fill({
    onDidChangeTreeData: changed.event,
    getChildren: (node) => [...outline.children(node as OutlineNode | undefined)],
    getParent: (node) => (node as OutlineNode).parent,
    getTreeItem: (node) => toItem(node as OutlineNode, sifted.passing.length > mostOpen),
  });
  const say = (): void => {
    const state = stateOf(findings.folders(), sifted, runs.all().filter(deps.isOpenHere));
    describe(lazy.view, state, sifted, deps);
    setContext('findingsView', state);
    setContext('findingsShown', findings.folders().length > 0);
    setContext('filtered', lens.isFiltering());
    setContext('comparing', findings.comparison() !== undefined);
  };
  const render = (change: FindingsChange): void => {
    sifted = siftFindings(deps);
    const comparison = findings.comparison();
    const groups =
      comparison === undefined
        ? toGroups(sifted.passing, lens.grouping)
        : toChangeGroups(sifted.passing, comparison.baseline.id);
    let redrawn: readonly OutlineNode[] | undefined;
    if (change.kind === 'files') redrawn = outline.update(groups, change.files);
    else outline.reset(groups);
    say();
    if (redrawn === undefined) changed.fire(undefined);
    else if (redrawn.length > 0) changed.fire([...redrawn]);
  };
  const renderAll = (): void => render({ kind: 'all' });
  renderAll();
  const subscription = findings.onDidChange(render);
  const runSubscription = runs.onDidChange(say);
  return vscode.Disposable.from(
    changed,
    lens.onDidChange(renderAll),
    vscode.workspace.onDidChangeWorkspaceFolders(say),
    vscode.workspace.onDidChangeConfiguration((change) => {
      if (change.affectsConfiguration('whitebox.findings')) renderAll();
    }),
    { dispose: () => subscription.dispose() },
    { dispose: () => runSubscription.dispose() },
  );
}

/** An empty view has no message, which would take the place of its welcome: what there is to say stands beside its title. */
function describe(
  view: vscode.TreeView<unknown>,
  state: FindingsState,
  sifted: Sifted,
  { findings, lens }: FindingsViewDeps,
): void {
  const lines = [
    ...describeRuns(findings),
    ...describeHidden(sifted),
    ...(findings.comparison() === undefined ? describeOnlyHere(sifted) : []),
    ...describeFilter(lens, sifted),
  ];
  const isSaid = state === 'shown';
  view.message = isSaid ? lines.join(' — ') : '';
  // Of a long one only the start is seen: the filter matters most then.
  view.description = isSaid ? '' : lines.reverse().join(' · ');
  const baseline = findings.comparison()?.baseline;
  const open = sifted.displayed.filter(
    ({ run, triage }) => run.id !== baseline?.id && !isSettled(triage.state),
  ).length;
  view.badge =
    open === 0
      ? undefined
      : { value: open, tooltip: vscode.l10n.t('Open findings: {0}', formatNumber(open)) };
}

function setContext(key: string, value: unknown): void {
  void vscode.commands.executeCommand('setContext', `whitebox.${key}`, value);
}

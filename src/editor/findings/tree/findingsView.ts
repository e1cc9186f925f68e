import * as vscode from 'vscode';
import type { FindingStore } from '../../../core/findings/findingStore.ts';
import type { ShownFinding } from '../../../core/findings/shownFinding.ts';
import { toGroups, toVerdictGroups } from '../../../core/findings/view/groups.ts';
import { childNodes, type OutlineNode, rootNodes } from '../../../core/findings/view/outline.ts';
import { applyFilter, type FilteredFindings } from '../../../core/findings/view/filter.ts';
import type { RunStore } from '../../../core/run/disk/runStore.ts';
import type { Run } from '../../../core/run/state/run.ts';
import type { LazyView } from '../../../lazyView.ts';
import { readDisplaySettings } from '../../settings.ts';
import type { DisplayedFindings } from '../code/displayedFindings.ts';
import type { Filtering } from './filtering.ts';
import { toItem } from './findingItems.ts';
import { describeFindings, stateOf } from './findingsMessage.ts';

/** With more findings than this, files are collapsed at first. */
const maxExpanded = 300;

/** What the Findings view is made from. */
export interface FindingsViewDeps {
  readonly findings: FindingStore;
  readonly displayed: DisplayedFindings;
  readonly runs: RunStore;
  readonly filtering: Filtering;
  /** Whether a run assesses a folder that this window has open. */
  readonly isOpenHere: (run: Run) => boolean;
}

/** Fills the Findings view: groups, files, findings; its message names runs, what settings hide and the filter. */
export function showFindings(lazy: LazyView, deps: FindingsViewDeps): vscode.Disposable {
  const { findings, runs, filtering } = deps;
  const changed = new vscode.EventEmitter<undefined>();
  let filtered = readFiltered(deps);
  lazy.fill({
    onDidChangeTreeData: changed.event,
    getChildren: (node) => [
      ...(node === undefined ? roots(filtered, deps) : childNodes(node as OutlineNode)),
    ],
    getTreeItem: (node) => toItem(node as OutlineNode, filtered.passing.length <= maxExpanded),
  });
  const describe = (): void => {
    const state = stateOf(findings.folders(), filtered, runs.all().filter(deps.isOpenHere));
    describeFindings(lazy.view, state, filtered, deps);
    setContext('findingsView', state);
    setContext('findingsShown', findings.folders().length > 0);
    setContext('filtered', filtering.isActive());
    setContext('comparing', findings.comparison() !== undefined);
  };
  const render = (): void => {
    filtered = readFiltered(deps);
    describe();
    changed.fire(undefined);
  };
  render();
  return vscode.Disposable.from(
    changed,
    filtering.onDidChange(render),
    deps.displayed.onDidChange(render),
    runs.onDidChange(describe),
    vscode.workspace.onDidChangeWorkspaceFolders(describe),
  );
}

/** The findings, or those of two compared runs, after the settings and the filter. A comparison and a filter by triage also show settled findings. */
function readFiltered({ findings, filtering }: FindingsViewDeps): FilteredFindings {
  const { minimumSeverity, hideTriaged } = readDisplaySettings();
  const comparison = findings.comparison();
  const asksForTriage = comparison !== undefined || (filtering.filter.triage ?? []).length > 0;
  const display = { minimumSeverity, hideTriaged: hideTriaged && !asksForTriage };
  const passes = (shown: ShownFinding): boolean => filtering.passes(shown);
  const { shown, absent = [] } = comparison ?? { shown: findings.all(), absent: findings.absent() };
  return applyFilter([...shown, ...absent], display, passes);
}

function roots(
  { passing }: FilteredFindings,
  { findings, filtering }: FindingsViewDeps,
): readonly OutlineNode[] {
  const comparison = findings.comparison();
  return rootNodes(
    comparison === undefined ? toGroups(passing, filtering.grouping) : toVerdictGroups(passing),
  );
}

function setContext(key: string, value: unknown): void {
  void vscode.commands.executeCommand('setContext', `whitebox.${key}`, value);
}

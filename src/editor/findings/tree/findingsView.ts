import { basename } from 'node:path';
import * as vscode from 'vscode';
import { hasFindings, testsOnePair } from '../../../core/findings/chooseRun.ts';
import { isSample } from '../../../core/findings/importExport/sample.ts';
import { countVerdicts, isReported } from '../../../core/findings/result/result.ts';
import type { FindingStore } from '../../../core/findings/findingStore.ts';
import type { Cut } from '../../../core/findings/parse/parseFindings.ts';
import type { ShownFinding } from '../../../core/findings/shownFinding.ts';
import { acceptanceEnd } from '../../../core/findings/triage/currentDecision.ts';
import { isClosed } from '../../../core/findings/triage/triage.ts';
import type { TriageStore } from '../../../core/findings/triage/triageStore.ts';
import { activeParts, applyFilter, type FilteredFindings } from '../../../core/findings/view/filter.ts';
import type { BranchChange } from '../../../core/findings/view/branchChanges.ts';
import { childNodes, type OutlineNode, rootNodes } from '../../../core/findings/view/outline.ts';
import { isInPart } from '../../../core/findings/view/zeroFindings.ts';
import type { OwnersGap } from '../../../core/findings/location/owners.ts';
import { hiddenFromProblems } from '../../../core/findings/view/problems.ts';
import type { RunStore } from '../../../core/run/disk/runStore.ts';
import { continuationsOf, hasHitCreditLimit } from '../../../core/features/continuedRuns.ts';
import { endedEarly, isFinal, isLive, type Run } from '../../../core/run/state/run.ts';
import { isOffline, waitsForToken } from '../../../core/run/state/trouble.ts';
import type { LazyView } from '../../../lazyView.ts';
import { hasOpenFolder } from '../../folders.ts';
import { compact, countFiles, countFindings, describeZero, formatList, formatNumber } from '../../formats.ts';
import { commitLabel, runLabel, titleOf } from '../../runs/runLabels.ts';
import { proposalsLabel, verdictLabel } from '../../findingLabels.ts';
import { readDisplaySettings } from '../../settings.ts';
import type { DisplayedFindings } from '../code/displayedFindings.ts';
import type { Filtering } from './filtering.ts';
import { describePart } from './filterPicks.ts';
import { toItem } from './findingItems.ts';

const t = vscode.l10n.t;

/** With more findings, files are initially collapsed. */
const maxExpanded = 300;

interface FindingsViewDeps {
  readonly findings: FindingStore;
  readonly displayed: DisplayedFindings;
  readonly runs: RunStore;
  readonly filtering: Filtering;
  readonly triage: TriageStore;
}

/**
 * Rows, message, badge, and welcome use the same filtered findings, so that they agree. The
 * manifest has a welcome for each `FindingsState` but `shown`.
 */
export function showFindings(lazy: LazyView<OutlineNode>, deps: FindingsViewDeps): vscode.Disposable {
  const { findings, runs, filtering } = deps;
  const changes = new vscode.EventEmitter<undefined>();
  let filtered = readFiltered(deps);
  let drawnRuns = findings.shownRuns();
  const roots = (): readonly OutlineNode[] => {
    const grouping = findings.comparison() === undefined ? filtering.grouping : 'verdict';
    const nodes = rootNodes(filtered.passing, grouping);
    // A row in an empty view would replace its welcome.
    return nodes.length === 0 ? nodes : [...proposalsIn(deps.findings), ...nodes];
  };
  lazy.fill({
    onDidChangeTreeData: changes.event,
    getChildren: (node) => {
      if (node !== undefined) return [...childNodes(node)];
      draw();
      return [...roots()];
    },
    getTreeItem: (node) => toItem(node, filtered.passing.length <= maxExpanded),
  });
  const describe = (): void => {
    const state = stateOf(findings, filtered, runs.all().filter(hasOpenFolder));
    describeFindings(lazy.view, state, filtered, deps);
    setContext('findingsView', state);
    setContext('findingsShown', findings.shownRuns().length > 0);
    setContext('filtered', activeParts(filtering.filter).length > 0);
    setContext('onlyChanged', filtering.filter.changedOnBranch === true);
    setContext('comparing', findings.comparison() !== undefined);
  };
  const draw = (): void => {
    filtered = readFiltered(deps);
    drawnRuns = findings.shownRuns();
    describe();
  };
  const render = (): void => {
    // VS Code reads the rows of a visible view some time later: message and badge wait for them.
    if (!lazy.view.visible) draw();
    changes.fire(undefined);
  };
  // With findings that are not drawn yet, a run would seem to have none.
  const update = (): void => (drawnRuns === findings.shownRuns() ? describe() : render());
  render();
  return vscode.Disposable.from(
    changes,
    filtering.onDidChange(render),
    deps.triage.onDidChange(render),
    deps.displayed.onDidChange(render),
    runs.onDidChange(update),
    vscode.workspace.onDidChangeWorkspaceFolders(update),
  );
}

function readFiltered({ findings, filtering }: FindingsViewDeps): FilteredFindings {
  const { minimumSeverity, hideTriaged } = readDisplaySettings();
  const comparison = findings.comparison();
  const isActive = (part: 'triage' | 'acceptance'): boolean => (filtering.filter[part] ?? []).length > 0;
  const asksForTriage = comparison !== undefined || isActive('triage') || isActive('acceptance');
  const display = { minimumSeverity, hideTriaged: hideTriaged && !asksForTriage };
  const { shown, absent = [] } = comparison ?? { shown: findings.all(), absent: findings.absent() };
  return applyFilter([...shown, ...absent], display, filtering.passes);
}

/** A decision without a finding here can't be accepted, so it isn't counted. */
function proposalsIn(findings: FindingStore) {
  return [...findings.sharedDecisions()].flatMap(([folder, decisions]) => {
    const count = decisions.filter(({ about }) => about !== undefined).length;
    return count === 0 ? [] : [{ kind: 'proposals' as const, id: `proposals:${folder}`, folder, count }];
  });
}

function setContext(key: string, value: unknown): void {
  void vscode.commands.executeCommand('setContext', `whitebox.${key}`, value);
}

type FindingsState =
  | 'shown'
  | 'reading'
  | 'unreadable'
  | 'zero'
  | 'zeroInPart'
  | 'hidden'
  | 'filtered'
  | 'preparing'
  | 'unconfirmed'
  | 'running'
  | 'offline'
  | 'unavailable'
  | 'signIn'
  | 'tokenCommand'
  | 'crawled'
  | 'limited'
  | 'cleared'
  | 'none';

export function stateOf(
  findings: Pick<FindingStore, 'shownRuns' | 'reading'>,
  filtered: FilteredFindings,
  runs: readonly Run[],
): FindingsState {
  const folders = findings.shownRuns();
  if (filtered.passing.length > 0) return 'shown';
  if (findings.reading().length > 0) return 'reading';
  if (folders.some(({ failure }) => failure !== undefined)) return 'unreadable';
  if (filtered.displayed.length > 0) return 'filtered';
  if (filtered.belowMinimum + filtered.closed > 0) return 'hidden';
  if (folders.some(({ run }) => mayContinue(run))) return 'limited';
  if (folders.length > 0) return folders.some(({ run }) => isInPart(run)) ? 'zeroInPart' : 'zero';
  return stateOfRuns(runs.filter((run) => !isFinal(run))) ?? stateOfEnded(runs);
}

function stateOfEnded(runs: readonly Run[]): FindingsState {
  const [latest] = runs;
  if (latest !== undefined && mayContinue(latest)) return 'limited';
  const isCrawl = latest?.workflow === 'blackbox-crawl';
  if (isCrawl && continuationsOf(latest).get('assessPairs') === true) return 'crawled';
  return runs.some(hasFindings) ? 'cleared' : 'none';
}

function mayContinue(run: Run): boolean {
  return hasHitCreditLimit(run) && continuationsOf(run).get('continueAssessment') === true;
}

/** States in which a run waits for the user come first. */
function stateOfRuns(runs: readonly Run[]): FindingsState | undefined {
  const live = runs.filter(isLive);
  const troubles = live.flatMap(({ trouble }) => trouble ?? []);
  if (troubles.some(waitsForToken)) return 'signIn';
  if (troubles.some(({ kind }) => kind === 'tokenCommand')) return 'tokenCommand';
  if (runs.some(({ state }) => state === 'unknown')) return 'unconfirmed';
  if (troubles.some(({ kind }) => kind === 'secretStorage')) return 'unavailable';
  if (live.some(isOffline)) return 'offline';
  if (live.length > 0) return 'running';
  return runs.length > 0 ? 'preparing' : undefined;
}

/** A message would replace the welcome of an empty view. */
export function describeFindings(
  view: vscode.TreeView<unknown>,
  state: FindingsState,
  filtered: FilteredFindings,
  { findings, filtering }: { findings: FindingStore; filtering: Filtering },
): void {
  const proposed = proposalsIn(findings).reduce((sum, { count }) => sum + count, 0);
  const lines = compact(
    findings.shownRuns().some(({ run }) => isSample(run)) &&
      t(
        'These sample findings are invented. To assess your own code, open its folder and run “Start Assessment…”',
      ),
    ...describeRuns(findings),
    ...describeHidden(filtered),
    describeEnds([...findings.all(), ...findings.absent()]),
    findings.comparison() === undefined && describeOnlyHere(filtered),
    ...describeFilter(filtering, filtered),
    proposed > 0 && proposalsLabel(proposed),
  );
  view.message = state === 'shown' ? lines.join(' — ') : '';
  // VS Code cuts the end of a long description, so shared decisions and the filter come first.
  view.description = state === 'shown' ? '' : lines.reverse().join(' · ');
  const open = filtered.displayed.filter(
    ({ verdict, triage }) => isReported(verdict) && !isClosed(triage.state),
  ).length;
  view.badge = open === 0 ? undefined : { value: open, tooltip: t('Open findings: {0}', formatNumber(open)) };
}

export function describeRuns(findings: FindingStore): string[] {
  const comparison = findings.comparison();
  if (comparison !== undefined) {
    const { run, baseline, shown, absent = [], cut, baselineCut } = comparison;
    const counts = countVerdicts([...shown, ...absent])
      .filter(({ count }) => count > 0)
      .map(({ verdict, count }) => `${verdictLabel(verdict)}: ${formatNumber(count)}`);
    return [
      t('{0}: {1} compared with {2}', titleOf(run), runLabel(run), runLabel(baseline)),
      counts.join(' · '),
      ...compact(
        describeGap(run),
        cut && t('not all of its findings are shown, so a missing finding isn’t necessarily fixed'),
        describeCut(run, cut),
        describeCut(baseline, baselineCut),
      ),
    ];
  }
  const reading = findings.reading().map((run) => t('{0}: VS Code is reading the findings…', titleOf(run)));
  return findings
    .shownRuns()
    .map(({ run, shown, failure, cut, changedFiles = 0, unlisted = 0, ownersGaps = [], unread = [] }) => {
      const facts = compact(
        shown.length === 0 && failure === undefined && describeZero(run),
        titleOf(run),
        runLabel(run),
        endedEarly(run) && t('incomplete'),
        ...run.targets.map(({ commit }) => commit && t('commit {0}', commitLabel(commit))),
        cut && t('the {0} most severe of {1}', formatNumber(cut.shown), countFindings(cut.total)),
        changedFiles > 0 && t('changed since then: {0}', countFiles(changedFiles)),
        unlisted > 0 && t('not listed, from earlier runs: {0}', countFindings(unlisted)),
        unread.length > 0 &&
          t('not yet compared with the files in {0}', formatList(unread.map((folder) => basename(folder)))),
        ...ownersGaps.map(ownersGapLabel),
      ).join(' · ');
      return failure === undefined ? facts : `${facts}: ${t('findings can’t be read')}`;
    })
    .concat(reading);
}

function describeGap(run: Run): string | undefined {
  if (endedEarly(run)) return t('the run didn’t finish, so a missing finding isn’t necessarily fixed');
  if (testsOnePair(run))
    return t('the run tested only one pair, so a missing finding isn’t necessarily fixed');
  return undefined;
}

function ownersGapLabel({ file, lines }: OwnersGap): string {
  const name = vscode.workspace.asRelativePath(file);
  if (lines === 'unreadable')
    return t('{0} can’t be read or is larger than 3 MB, so owners are unknown', name);
  if (lines === 'tooComplex') return t('{0} is too complex, so owners are unknown', name);
  const first = formatList(lines.slice(0, 5).map(formatNumber));
  return t('VS Code can’t use these lines of {0}: {1}', name, lines.length > 5 ? `${first}, …` : first);
}

function describeCut(run: Run, cut: Cut | undefined): string | undefined {
  if (cut === undefined) return undefined;
  const counts = [formatNumber(cut.shown), countFindings(cut.total)] as const;
  return t('of {0}, only the {1} most severe of {2} are compared', runLabel(run), ...counts);
}

function describeHidden({ belowMinimum, closed }: FilteredFindings): string[] {
  return compact(
    belowMinimum > 0 && t('Hidden by minimum severity: {0}', countFindings(belowMinimum)),
    closed > 0 && t('Hidden because triage closed them: {0}', countFindings(closed)),
  );
}

function describeEnds(all: readonly ShownFinding[]): string | undefined {
  const now = Date.now();
  const soon = all.filter(({ triage }) => acceptanceEnd(triage, now) === 'soon').length;
  return soon === 0 ? undefined : t('Acceptance ends within 14 days: {0}', countFindings(soon));
}

function describeOnlyHere({ displayed }: FilteredFindings): string | undefined {
  const { showInProblems, ...display } = readDisplaySettings();
  const reported = displayed.filter(({ verdict }) => isReported(verdict));
  const absent = displayed.length - reported.length;
  const count = showInProblems ? hiddenFromProblems(reported, display) + absent : 0;
  return count === 0 ? undefined : t('In this view, but not in Problems: {0}', countFindings(count));
}

function describeFilter(filtering: Filtering, { displayed, passing }: FilteredFindings): string[] {
  const parts = activeParts(filtering.filter).map((part) => describePart(part, filtering));
  if (parts.length === 0) return [];
  const counts = [formatNumber(passing.length), formatNumber(displayed.length)] as const;
  return [
    ...describeBranch(filtering, displayed),
    t('Filter: {0} ({1} of {2})', parts.join(' · '), ...counts),
  ];
}

function describeBranch({ filter, branch }: Filtering, displayed: readonly ShownFinding[]): string[] {
  if (filter.changedOnBranch !== true || branch.kind !== 'known') return [];
  const counts = Map.groupBy(displayed, (shown) => branch.changeOf(shown));
  const count = (change: BranchChange): string => countFindings(counts.get(change)?.length ?? 0);
  return compact(
    counts.has('unchanged') && t('Hidden because unchanged on this branch: {0}', count('unchanged')),
    counts.has('noFile') && t('Hidden because they have no location in this workspace: {0}', count('noFile')),
    counts.has('unknown') && t('Shown, but not compared: {0}', count('unknown')),
  );
}

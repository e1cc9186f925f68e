import { join } from 'node:path';
import { atOrBelow, isSamePath } from '../../paths.ts';
import type { RunStore } from '../../run/disk/runStore.ts';
import type { Run } from '../../run/state/run.ts';
import { canShareNames, folderSubjectKey, subjectOf } from '../chooseRun.ts';
import { allNamesOf, namesOf } from '../identity.ts';
import { asLocated } from '../location/evidence.ts';
import { locationsOf } from '../location/locateFindings.ts';
import { isReported, type ResultFinding, type ResultHead, type Verdict } from '../result/result.ts';
import type { RunView } from '../runView.ts';
import { countOpen, folderOf, mainLocationOf, type ShownFinding, type ShownRun } from '../shownFinding.ts';
import { isClosed } from '../triage/triage.ts';

export type Decide = (
  found: ResultFinding,
  run: Run,
  known: Pick<Known, 'locations' | 'names'>,
) => Pick<ShownFinding, 'triage' | 'decidedBefore' | 'verdict'>;

export interface ShowSource {
  readonly runs: Pick<RunStore, 'get'>;
  readonly decide: Decide;
}

/** `open` is undefined if not all findings of the run are shown. */
export interface FindingCounts extends Pick<ResultHead, 'cut'> {
  readonly findings: number;
  readonly open: number | undefined;
}

export function toCounts({ cut, counts }: ResultHead, shown: readonly ShownFinding[]): FindingCounts {
  const { findings } = counts;
  return { findings, cut, open: shown.length === findings ? countOpen(shown) : undefined };
}

export function show(
  views: readonly RunView[],
  runIds: ReadonlyMap<string, string | undefined>,
  source: ShowSource,
): readonly ShownRun[] {
  const all = views.map((view) => toShownRun(view, source));
  return all.map((each) => withoutOtherFolders(each, runIds, all));
}

export function toShownRun(view: RunView, source: ShowSource): ShownRun {
  const { head, found, failure, owners, unread } = view;
  const { runs } = source;
  const run = runs.get(view.run.id) ?? view.run;
  if (head === undefined) return { run, shown: [], failure };
  const all = findingsOf(view, source);
  const shown = all.filter(({ verdict }) => isReported(verdict));
  const changedFiles = new Set<string>();
  for (const { locations } of shown)
    for (const { file, isChanged } of locations) if (isChanged === true) changedFiles.add(file);
  return {
    run,
    shown,
    cut: head.cut,
    changedFiles: changedFiles.size,
    absent: all.filter(
      ({ run: { id }, verdict, triage: { state } }) =>
        !isReported(verdict) && (id === head.baseline?.id || !isClosed(state)),
    ),
    baseline: head.baseline && runs.get(head.baseline.id),
    baselineCut: head.baseline?.cut,
    unreadRuns: head.skipped.flatMap(({ id }) => runs.get(id) ?? []),
    unlisted: head.unlisted + found.length - all.length,
    ownersGaps: owners === 'unknown' ? [] : owners.ownersGaps,
    unread: [...unread],
  };
}

export function findingsOf(view: RunView, { runs, decide }: ShowSource): readonly ShownFinding[] {
  const { run, found, owners, unread } = view;
  return found.flatMap((each) => {
    const of = runs.get(each.run) ?? (each.run === run.id ? run : undefined);
    if (of === undefined) return [];
    const locations = locationsOf(each, view);
    const main = mainLocationOf({ finding: each.finding, locations });
    const isUnknown = owners === 'unknown' || unread.has(main?.folder ?? '');
    const ofMain = main && (isUnknown ? 'unknown' : owners.owners.get(main.file));
    return toShownFinding(each, of, { locations, owners: ofMain, names: view.names }, decide);
  });
}

type Known = Pick<ShownFinding, 'locations' | 'owners'> & Partial<Pick<RunView, 'names'>>;

export function toShownFinding(found: ResultFinding, run: Run, known: Known, decide: Decide): ShownFinding {
  const { locations, owners } = known;
  const isHere = (at: number): boolean =>
    locations.some(({ reported }) => reported === found.finding.locations[at]);
  const evidence = asLocated(found.evidence, isHere);
  // A second spread would take five times as long.
  const { triage, decidedBefore, verdict } = decide(found, run, known);
  return { ...found, run, locations, owners, triage, decidedBefore, verdict, evidence };
}

/**
 * Excludes findings in folders for which another run or none is chosen. If folders of two runs of
 * the same subject overlap, the later run shows the files in both.
 */
function withoutOtherFolders(
  shownRun: ShownRun,
  runIds: ReadonlyMap<string, string | undefined>,
  all: readonly ShownRun[],
): ShownRun {
  const { run, shown, absent = [] } = shownRun;
  // A finding of an earlier run may be in a folder that this run doesn't have.
  const folders = new Set([...shown, ...absent].map(folderOf));
  const hiddenFolders = new Set(
    [...folders].filter((folder) => {
      const key = folderSubjectKey(run, folder ?? '');
      return runIds.has(key) && runIds.get(key) !== run.id;
    }),
  );
  const later = foldersOfLater(shownRun, all);
  if (hiddenFolders.size === 0 && later.length === 0) return shownRun;
  const isOfLater = atOrBelow(later);
  const isShown = (finding: ShownFinding): boolean =>
    !hiddenFolders.has(folderOf(finding)) && !isOfLater(fileOf(finding));
  return { ...shownRun, shown: shown.filter(isShown), absent: absent.filter(isShown) };
}

function foldersOfLater({ run }: ShownRun, all: readonly ShownRun[]): readonly string[] {
  const own = run.targets.map(({ folder }) => folder);
  const [isBelowOwn, later] = [atOrBelow(own), all.filter((each) => each.run.createdAt > run.createdAt)];
  return later
    .filter((each) => each.failure === undefined && subjectOf(each.run) === subjectOf(run))
    .flatMap((each) => each.run.targets.map(({ folder }) => folder))
    .filter((folder) => !own.some((each) => isSamePath(each, folder)))
    .filter((folder) => isBelowOwn(folder) || own.some(atOrBelow([folder])));
}

function fileOf(shown: ShownFinding): string {
  return mainLocationOf(shown)?.file ?? join(folderOf(shown) ?? '', shown.finding.locations[0]?.path ?? '');
}

/** Compares what the run and baseline report. The run's result tells why a finding is absent. */
export function compareViews(view: RunView, baseline: RunView): RunView {
  const { head, run } = view;
  if (head === undefined || baseline.head === undefined) return view;
  const [reported, before] = [reportedIn(view), reportedIn(baseline)];
  const [now, then] = [allNamesOf(reported), allNamesOf(before)];
  const recorded = new Map(view.found.slice(reported.length).map(({ name, verdict }) => [name, verdict]));
  const isKnown = baseline.head.cut === undefined && canShareNames(run, baseline.run);
  const again = run.workflow === 'blackbox-assessment' ? 'reportedAgain' : 'stillPresent';
  const verdictOf = (found: ResultFinding): Verdict | undefined => {
    if (!namesOf(found).some((name) => then.has(name))) return isKnown ? 'new' : undefined;
    return found.verdict === 'carriedOver' ? found.verdict : again;
  };
  // If this run's findings were cut, no finding is known to be absent.
  const absent = head.cut === undefined ? before.filter(({ name }) => !now.has(name)) : [];
  const [owners, ownersBefore] = [view.owners, baseline.owners];
  const isUnknown = owners === 'unknown' || ownersBefore === 'unknown';
  return {
    ...view,
    head: { ...head, baseline: { id: baseline.run.id, cut: baseline.head.cut }, skipped: [], unlisted: 0 },
    found: [
      ...reported.map((each) => ({ ...each, verdict: verdictOf(each) })),
      ...absent.map((each) => ({ ...each, verdict: recorded.get(each.name) ?? 'unknown' })),
    ],
    locations: new Map([...baseline.locations, ...view.locations]),
    unread: new Set([...baseline.unread, ...view.unread]),
    owners: isUnknown
      ? 'unknown'
      : { ...owners, owners: new Map([...ownersBefore.owners, ...owners.owners]) },
  };
}

function reportedIn({ found }: RunView): readonly ResultFinding[] {
  return found.filter(({ verdict }) => isReported(verdict));
}

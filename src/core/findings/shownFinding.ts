import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { atOrBelow, isSamePath } from '../paths.ts';
import type { Failure, Run } from '../run/state/run.ts';
import { folderSubjectKey, subjectOf } from './chooseRun.ts';
import type { ResultFinding } from './result/result.ts';
import type { Drift } from './drift/followLines.ts';
import type { Finding, Place, WithDetails } from './finding.ts';
import { identityOf } from './identity.ts';
import type { TriageSubject } from './triage/triageStore.ts';
import type { Cut } from './parse/parseFindings.ts';
import type { SentFile } from './place/sentFiles.ts';
import type { TriageDecision } from './triage/triage.ts';
import type { OwnersGap } from './place/owners.ts';

/** A place in a file of this machine. Lines are 1-based, those of the present text as far as the code can be followed; columns of a changed line are absent. */
export interface ShownPlace {
  /** Absolute. */
  readonly file: string;
  /** As the run's target names it. */
  readonly folder: string;
  /** The position of the target. */
  readonly target: number;
  /** Relative to its folder, with `/`. */
  readonly path: string;
  readonly startLine?: number | undefined;
  readonly endLine?: number | undefined;
  readonly startColumn?: number | undefined;
  readonly endColumn?: number | undefined;
  /** What was sent of the file, if known. */
  readonly sent?: SentFile | undefined;
  /** As the result has it. */
  readonly reported: Place;
  /** How the code there changed since it was scanned. */
  readonly drift: Drift;
  /** True if the text of the file differs from the one that was sent. */
  readonly isChanged?: boolean;
}

/** A finding as its run's result has it, as people see it now. */
export interface ShownFinding extends Omit<ResultFinding, 'run'> {
  readonly run: Run;
  /** Those with a file on this machine, in their order. The first stands for the finding, even if it isn't the main one. */
  readonly places: readonly ShownPlace[];
  readonly triage: TriageDecision;
  /** An earlier decision that may be about another finding, or may no longer hold: the finding is open, and a person has to check. */
  readonly decidedBefore?: TriageDecision | undefined;
  /** Of the main place's file, by CODEOWNERS. Absent until known, and where no such file covers it. */
  readonly owners?: readonly string[] | undefined;
}

/** A run with its findings, or why they cannot be read. In the view, only findings of the folders that show this run. */
export interface ShownRun {
  readonly run: Run;
  readonly shown: readonly ShownFinding[];
  readonly cut?: Cut | undefined;
  readonly failure?: Failure | undefined;
  /** The number of files with findings that differ from what was scanned. */
  readonly changedFiles?: number | undefined;
  /** Those with a verdict that only earlier runs report, as far as these runs are here. Settled ones only if the baseline reports them. */
  readonly absent?: readonly ShownFinding[] | undefined;
  /** The run that it is compared with first, and how many of that run's findings are known, if not all. */
  readonly baseline?: Run | undefined;
  readonly baselineCut?: Cut | undefined;
  /** Earlier runs whose findings could not be read, so that they are missing in the comparison. */
  readonly unreadRuns?: readonly Run[] | undefined;
  /** How many findings that are not reported are not listed: those of removed runs, and those beyond the limit. */
  readonly unlisted?: number | undefined;
  readonly ownersGaps?: readonly OwnersGap[] | undefined;
}

export type DetailedFinding = ShownFinding & WithDetails;

export type DetailedRun = Omit<ShownRun, 'shown' | 'absent'> & {
  readonly shown: readonly DetailedFinding[];
  readonly absent?: readonly DetailedFinding[] | undefined;
};

type Placed = Pick<ShownFinding, 'run' | 'folder' | 'places'> & { readonly finding: Pick<Finding, 'places'> };

export function localPlaceOf(
  place: Place | undefined,
  { places }: Pick<ShownFinding, 'places'>,
): ShownPlace | undefined {
  return places.find(({ reported }) => reported === place);
}

/** What was sent of the file of a place. Where a person has mapped its path, only the local place knows it. */
export function sentFileOf(place: Place, shown: ShownFinding): SentFile | undefined {
  return shown.sent[shown.finding.places.indexOf(place)] ?? localPlaceOf(place, shown)?.sent;
}

/** The main place, if its file is on this machine. */
export function mainPlaceOf(shown: Pick<Placed, 'finding' | 'places'>): ShownPlace | undefined {
  return localPlaceOf(shown.finding.places[0], shown);
}

/** True if the main place has no file on this machine, though other places may have one. */
export function lacksMainPlace(shown: ShownFinding): boolean {
  return shown.finding.places.length > 0 && mainPlaceOf(shown) === undefined;
}

/** The folder that a finding is about, else the folder of its main place. */
export function folderOf(shown: Placed): string | undefined {
  return shown.folder ?? mainPlaceOf(shown)?.folder;
}

/** The folders whose decisions count for a finding: its own folder, or all folders of its run if it is in none of them. */
export function decisionFolders(shown: Placed): readonly string[] {
  const folders = shown.run.targets.map(({ folder }) => folder);
  const folder = folderOf(shown);
  return folder !== undefined && folders.some((each) => isSamePath(each, folder)) ? [folder] : folders;
}

/** What a decision about a finding is stored for: one subject in each folder whose decisions count. */
export function toTriageSubjects(shown: ShownFinding): readonly TriageSubject[] {
  const { finding, places } = shown;
  const path = places[0]?.path ?? finding.places[0]?.path ?? '';
  const subject = { ...identityOf(shown), title: finding.title, path };
  return decisionFolders(shown).map((folder) => ({ folder, ...subject }));
}

/**
 * A run without the findings in folders that show another run. `runIds` has the run that each folder shows, by `folderSubjectKey`. Of two runs in `all`
 * whose folders contain each other, the later one shows the files in both.
 */
export function withoutOtherFolders(
  shownRun: ShownRun,
  runIds: ReadonlyMap<string, string | undefined>,
  all: readonly ShownRun[] = [],
): ShownRun {
  const { run, shown, absent = [] } = shownRun;
  // A finding of an earlier run may lie in a folder that this run does not have.
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

/** The folders of later runs of the same subject that contain a folder of this run, or are in one. */
function foldersOfLater({ run }: ShownRun, all: readonly ShownRun[]): readonly string[] {
  const own = run.targets.map(({ folder }) => folder);
  const [isBelowOwn, later] = [atOrBelow(own), all.filter((each) => each.run.createdAt > run.createdAt)];
  return later
    .filter((each) => each.failure === undefined && subjectOf(each.run) === subjectOf(run))
    .flatMap((each) => each.run.targets.map(({ folder }) => folder))
    .filter((folder) => !own.some((each) => isSamePath(each, folder)))
    .filter((folder) => isBelowOwn(folder) || own.some(atOrBelow([folder])));
}

/** Where its main place is, or was. */
function fileOf(shown: ShownFinding): string {
  return mainPlaceOf(shown)?.file ?? join(folderOf(shown) ?? '', shown.finding.places[0]?.path ?? '');
}

/** True if people see no difference. A finding that looks the same is the same object. */
export function areSameShown(former: readonly ShownRun[], present: readonly ShownRun[]): boolean {
  const findingsIn = (runs: readonly ShownRun[]): readonly ShownFinding[] =>
    runs.flatMap(({ shown, absent = [] }) => [...shown, ...absent]);
  return (
    isSameList(findingsIn(former), findingsIn(present)) &&
    isDeepStrictEqual(former.map(seenFacts), present.map(seenFacts))
  );
}

/** Of the runs, only their names are seen. */
function seenFacts({ shown, absent = [], run, baseline, unreadRuns = [], ...facts }: ShownRun): unknown {
  const names = [run, baseline, ...unreadRuns].map((each) => each && [each.id, each.label]);
  return { ...facts, names, counts: [shown.length, absent.length] };
}

export function isSameList(one: readonly unknown[], other: readonly unknown[]): boolean {
  return one.length === other.length && one.every((each, at) => each === other[at]);
}

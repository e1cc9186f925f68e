import { isSamePath } from '../paths.ts';
import type { Failure, Run } from '../run/state/run.ts';
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
  /** Of the main place's file, by CODEOWNERS. Undefined where no such file covers it. */
  readonly owners?: readonly string[] | 'unknown' | undefined;
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
  /** Folders whose files could not be compared with what was uploaded. */
  readonly unread?: readonly string[] | undefined;
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

import { isSamePath } from '../paths.ts';
import type { Failure, Run } from '../run/state/run.ts';
import type { ResultFinding } from './result/result.ts';
import type { Drift } from './drift/followLines.ts';
import type { Finding, Location, WithDetails } from './finding.ts';
import { identityOf } from './identity.ts';
import type { TriageSubject } from './triage/triageStore.ts';
import type { Cut } from './parse/parseFindings.ts';
import type { UploadedFile } from './location/uploadedFiles.ts';
import { isClosed, type TriageDecision } from './triage/triage.ts';
import type { OwnersGap } from './location/owners.ts';

/**
 * A location in a file of this machine, with the lines of the present text as far as the code can
 * be followed; columns of a changed line are absent.
 */
export interface ShownLocation {
  /** Absolute. */
  readonly file: string;
  /** As the run's target names it. */
  readonly folder: string;
  readonly target: number;
  /** Relative to its folder, with `/`. */
  readonly path: string;
  readonly startLine?: number | undefined;
  readonly endLine?: number | undefined;
  readonly startColumn?: number | undefined;
  readonly endColumn?: number | undefined;
  /** What was uploaded of the file, if known. */
  readonly uploaded?: UploadedFile | undefined;
  readonly reported: Location;
  readonly drift: Drift;
  /** The text of the file differs from the one that was uploaded. */
  readonly isChanged?: boolean;
}

/** A finding of a result, as people see it now. */
export interface ShownFinding extends Omit<ResultFinding, 'run'> {
  readonly run: Run;
  /**
   * Those with a file on this machine. The first stands for the finding, even if it isn't the main
   * one.
   */
  readonly locations: readonly ShownLocation[];
  readonly triage: TriageDecision;
  /**
   * It may be about another finding, or no longer hold: the finding is open, and a user has to
   * check.
   */
  readonly decidedBefore?: TriageDecision | undefined;
  /** Undefined where no CODEOWNERS file covers the main location's file. */
  readonly owners?: readonly string[] | 'unknown' | undefined;
}

/**
 * With findings, or why they cannot be read. In the view, only those of folders that show this run.
 */
export interface ShownRun {
  readonly run: Run;
  readonly shown: readonly ShownFinding[];
  readonly cut?: Cut | undefined;
  readonly failure?: Failure | undefined;
  /** The number of files with findings that differ from what was scanned. */
  readonly changedFiles?: number | undefined;
  /** Only earlier runs report them. Settled ones only if the baseline reports them. */
  readonly absent?: readonly ShownFinding[] | undefined;
  /**
   * The run that it is compared with, and how many of that run's findings are known, if not all.
   */
  readonly baseline?: Run | undefined;
  readonly baselineCut?: Cut | undefined;
  /** Their findings could not be read, and are missing in the comparison. */
  readonly unreadRuns?: readonly Run[] | undefined;
  /** How many absent findings are not listed: those of removed runs, and beyond the limit. */
  readonly unlisted?: number | undefined;
  readonly ownersGaps?: readonly OwnersGap[] | undefined;
  /** Folders whose files could not be compared with what was uploaded. */
  readonly unread?: readonly string[] | undefined;
}

export function countOpen(shown: readonly ShownFinding[]): number {
  return shown.filter(({ triage }) => !isClosed(triage.state)).length;
}

export type DetailedFinding = ShownFinding & WithDetails;

export type DetailedRun = Omit<ShownRun, 'shown' | 'absent'> & {
  readonly shown: readonly DetailedFinding[];
  readonly absent?: readonly DetailedFinding[] | undefined;
};

type WithLocations = Pick<ShownFinding, 'run' | 'uploadedFolder' | 'locations'> & {
  readonly finding: Pick<Finding, 'locations'>;
};

export function localLocationOf(
  location: Location | undefined,
  { locations }: Pick<ShownFinding, 'locations'>,
): ShownLocation | undefined {
  return locations.find(({ reported }) => reported === location);
}

/** Only the local location knows it where a user has mapped its path. */
export function uploadedFileOf(location: Location, shown: ShownFinding): UploadedFile | undefined {
  return (
    shown.uploaded[shown.finding.locations.indexOf(location)] ?? localLocationOf(location, shown)?.uploaded
  );
}

export function mainLocationOf(
  shown: Pick<WithLocations, 'finding' | 'locations'>,
): ShownLocation | undefined {
  return localLocationOf(shown.finding.locations[0], shown);
}

/** Other locations may have a file. */
export function lacksMainLocation(shown: ShownFinding): boolean {
  return shown.finding.locations.length > 0 && mainLocationOf(shown) === undefined;
}

export function folderOf(shown: WithLocations): string | undefined {
  return shown.uploadedFolder ?? mainLocationOf(shown)?.folder;
}

/** Those whose decisions count: its own, or all of its run if it is in none of them. */
export function decisionFolders(shown: WithLocations): readonly string[] {
  const folders = shown.run.targets.map(({ folder }) => folder);
  const folder = folderOf(shown);
  return folder !== undefined && folders.some((each) => isSamePath(each, folder)) ? [folder] : folders;
}

/** A decision is stored in each folder whose decisions count. */
export function toTriageSubjects(shown: ShownFinding): readonly TriageSubject[] {
  const { finding, locations } = shown;
  const path = locations[0]?.path ?? finding.locations[0]?.path ?? '';
  const subject = { ...identityOf(shown), title: finding.title, path };
  return decisionFolders(shown).map((folder) => ({ folder, ...subject }));
}

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
 * Lines are those of the present text, if the code can be followed. A changed line has no columns.
 * `file` is absolute, `folder` is spelled as in the run's target, and `path` is relative to
 * `folder`, with `/`.
 */
export interface ShownLocation {
  readonly file: string;
  readonly folder: string;
  readonly target: number;
  readonly path: string;
  readonly startLine?: number | undefined;
  readonly endLine?: number | undefined;
  readonly startColumn?: number | undefined;
  readonly endColumn?: number | undefined;
  readonly uploaded?: UploadedFile | undefined;
  readonly reported: Location;
  readonly drift: Drift;
  readonly isChanged?: boolean;
}

export interface ShownFinding extends Omit<ResultFinding, 'run'> {
  readonly run: Run;
  /**
   * In folders that have been read, locations whose file was never found are missing. The first
   * location in this list stands for the finding, even if it isn't the main location.
   */
  readonly locations: readonly ShownLocation[];
  readonly triage: TriageDecision;
  /**
   * This decision may be about another finding, or no longer hold. The finding is open, and a user
   * has to check.
   */
  readonly decidedBefore?: TriageDecision | undefined;
  /** It is empty if CODEOWNERS names no owner. */
  readonly owners?: readonly string[] | 'unknown' | undefined;
}

export interface ShownRun {
  readonly run: Run;
  readonly shown: readonly ShownFinding[];
  readonly cut?: Cut | undefined;
  readonly failure?: Failure | undefined;
  readonly changedFiles?: number | undefined;
  /** The run doesn't report these. Closed findings are here only if the baseline has them. */
  readonly absent?: readonly ShownFinding[] | undefined;
  readonly baseline?: Run | undefined;
  /** If it is present, not all findings of the baseline are known. */
  readonly baselineCut?: Cut | undefined;
  readonly unreadRuns?: readonly Run[] | undefined;
  /** Counts absent findings of removed runs, and those beyond the limit of a result. */
  readonly unlisted?: number | undefined;
  readonly ownersGaps?: readonly OwnersGap[] | undefined;
  /** Some files in these folders have not been compared with the upload. */
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

type LocatedFinding = Pick<ShownFinding, 'run' | 'uploadedFolder' | 'locations'> & {
  readonly finding: Pick<Finding, 'locations'>;
};

export function localLocationOf(
  location: Location | undefined,
  { locations }: Pick<ShownFinding, 'locations'>,
): ShownLocation | undefined {
  return locations.find(({ reported }) => reported === location);
}

/** If a user has mapped the path, only the local location knows the uploaded file. */
export function uploadedFileOf(location: Location, shown: ShownFinding): UploadedFile | undefined {
  return (
    shown.uploaded[shown.finding.locations.indexOf(location)] ?? localLocationOf(location, shown)?.uploaded
  );
}

export function mainLocationOf(
  shown: Pick<LocatedFinding, 'finding' | 'locations'>,
): ShownLocation | undefined {
  return localLocationOf(shown.finding.locations[0], shown);
}

export function lacksMainLocation(shown: ShownFinding): boolean {
  return shown.finding.locations.length > 0 && mainLocationOf(shown) === undefined;
}

export function folderOf(shown: LocatedFinding): string | undefined {
  return shown.uploadedFolder ?? mainLocationOf(shown)?.folder;
}

export function decisionFolders(shown: LocatedFinding): readonly string[] {
  const folders = shown.run.targets.map(({ folder }) => folder);
  const folder = folderOf(shown);
  return folder !== undefined && folders.some((each) => isSamePath(each, folder)) ? [folder] : folders;
}

export function toTriageSubjects(shown: ShownFinding): readonly TriageSubject[] {
  const { finding, locations } = shown;
  const path = locations[0]?.path ?? finding.locations[0]?.path ?? '';
  const subject = { ...identityOf(shown), title: finding.title, path };
  return decisionFolders(shown).map((folder) => ({ folder, ...subject }));
}

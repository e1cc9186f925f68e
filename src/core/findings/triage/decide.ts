import type { Run } from '../../run/state/run.ts';
import { isReported } from '../result/verdict.ts';
import type { Finding } from '../finding.ts';
import { type Identity, isSameByTitle } from '../identity.ts';
import type { ResultFinding } from '../result/result.ts';
import { decisionFolders, type ShownFinding, type ShownPlace } from '../shownFinding.ts';
import type { TriageEntry } from './book.ts';
import { isAcceptanceEnded, isUndecided, undecided } from './triage.ts';
import type { TriageStore } from './triageStore.ts';

type Decisions = Pick<TriageStore, 'get'>;

/** What a decision about a finding depends on, besides the decisions. */
interface Subject {
  /** As its journal is now. */
  readonly run: Run;
  readonly found: Pick<ResultFinding, 'identity' | 'folder' | 'verdict' | 'sameAs'> &
    Partial<Pick<ResultFinding, 'likely'>> & {
      readonly finding: Pick<Finding, 'places' | 'toolDecision'>;
    };
  readonly places: readonly ShownPlace[];
}

/** What people said about a finding, and what that means for its verdict. */
export function decide(
  { run, found, places }: Subject,
  decisions: Decisions,
): Pick<ShownFinding, 'triage' | 'decidedBefore' | 'verdict'> {
  const { identity, sameAs, likely = [], finding } = found;
  const folders = decisionFolders({ run, folder: found.folder, finding, places });
  const latest = decisionAbout([identity, ...sameAs], folders, decisions);
  // A finding was not fixed if a later run reports it again.
  const isReportedAgain = found.verdict !== 'carriedOver' && 'dispatchedAt' in run;
  const isRefuted = (decision: TriageEntry | undefined): boolean =>
    isReportedAgain && decision?.state === 'fixed' && decision.at < startOf(run);
  const isOutdated = isRefuted(latest) && latest?.identity.run !== identity.run;
  const untouched = finding.toolDecision ?? undecided;
  const triage = isOutdated ? untouched : (latest ?? untouched);
  const doubtful = isOutdated ? latest : earlierDecision(identity, likely, folders, decisions);
  const decidedBefore = isUndecided(triage) ? doubtful : undefined;
  const isBack = isRefuted(decidedBefore) && isReported(found.verdict);
  return { triage, decidedBefore, verdict: isBack ? 'backAgain' : found.verdict };
}

/** The latest decision about any of these identities, in the folders whose decisions count for the finding. */
function decisionAbout(
  identities: readonly Identity[],
  folders: readonly string[],
  decisions: Decisions,
): TriageEntry | undefined {
  let latest: TriageEntry | undefined;
  for (const identity of identities)
    for (const folder of folders) {
      const entry = decisions.get(folder, identity);
      if (entry !== undefined && entry.at > (latest?.at ?? -Infinity)) latest = entry;
    }
  return latest;
}

/** A decision that a person has to check: about a finding that is likely the same, or about one with the same title that was not compared. */
function earlierDecision(
  own: Identity,
  likely: readonly Identity[],
  folders: readonly string[],
  decisions: Decisions,
): TriageEntry | undefined {
  for (const identity of likely) {
    const entry = decisionAbout([identity], folders, decisions);
    if (isStillDecided(entry)) return entry;
  }
  for (const folder of folders) {
    const entry = decisions.get(folder, own, isSameByTitle);
    if (isStillDecided(entry)) return entry;
  }
  return undefined;
}

function isStillDecided(entry: TriageEntry | undefined): entry is TriageEntry {
  return entry !== undefined && !isUndecided(entry) && !isAcceptanceEnded(entry);
}

/** The latest time at which a run's source may have been packed. */
function startOf(run: Run): number {
  return ('dispatchedAt' in run ? run.dispatchedAt : undefined) ?? run.createdAt;
}

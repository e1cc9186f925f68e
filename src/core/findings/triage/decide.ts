import type { Run } from '../../run/state/run.ts';
import { isReported } from '../result/verdict.ts';
import type { Finding } from '../finding.ts';
import { type Identity, isSameByTitle } from '../identity.ts';
import type { PlacedFinding } from '../place/placement.ts';
import type { ResultFinding } from '../result/result.ts';
import { decisionFolders, type ShownFinding, type ShownPlace } from '../shownFinding.ts';
import type { TriageEntry } from './book.ts';
import { isAcceptanceEnded, isUndecided, undecided } from './triage.ts';
import type { TriageStore } from './triageStore.ts';

type Decisions = Pick<TriageStore, 'get'>;

type Decided = Pick<ShownFinding, 'triage' | 'decidedBefore' | 'verdict'>;

/** `owners` are those of the file of its main place. */
export type ShowFinding = (placed: PlacedFinding, run: Run, owners?: readonly string[]) => ShownFinding;

/** Shows findings with what people decided about them. While nothing about a finding changes, it is the same object. */
export function showDecided(triage: Pick<TriageStore, 'get' | 'version'>): ShowFinding {
  const lastShown = new WeakMap<
    Finding,
    { readonly placed: PlacedFinding; readonly version: number; readonly shown: ShownFinding }
  >();
  return (placed, run, owners) => {
    const { version } = triage;
    const { found, places, evidence } = placed;
    const last = lastShown.get(found.finding);
    const isDecided = last?.placed === placed && last.version === version;
    if (isDecided && last.shown.owners === owners && last.shown.run.label === run.label) return last.shown;
    const {
      triage: decision,
      decidedBefore,
      verdict,
    } = isDecided ? last.shown : decide({ run, found, places }, triage);
    const { finding, folder, identity, sent, sameAs } = found;
    const present: ShownFinding = {
      run,
      finding,
      places,
      folder,
      identity,
      sent,
      triage: decision,
      decidedBefore,
      verdict,
      sameAs: sameAs.length === 0 ? undefined : sameAs,
      evidence,
      owners,
    };
    const shown = last !== undefined && isSameShown(last.shown, present) ? last.shown : present;
    lastShown.set(finding, { placed, version, shown });
    return shown;
  };
}

function isSameShown(last: ShownFinding, present: ShownFinding): boolean {
  const keys = ['places', 'triage', 'decidedBefore', 'verdict', 'owners'] as const;
  return last.run.label === present.run.label && keys.every((key) => last[key] === present[key]);
}

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
export function decide({ run, found, places }: Subject, decisions: Decisions): Decided {
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

import type { AcrossRuns } from '../compare/history.ts';
import { isReported } from '../compare/verdict.ts';
import { type Identity, isSameByTitle } from '../identity.ts';
import type { EvidenceOfPlaces } from '../place/evidence.ts';
import { decisionFolders, type ShownFinding } from '../shownFinding.ts';
import type { TriageEntry } from './book.ts';
import { isAcceptanceEnded, isUndecided, undecided } from './triage.ts';
import type { TriageStore } from './triageStore.ts';

type Decisions = Pick<TriageStore, 'get'>;

/** Applies triage, verdict, and evidence to a finding; returns the same object if nothing changed. `history` is undefined until runs are compared. */
export function decide(
  shown: ShownFinding,
  history: AcrossRuns | undefined,
  evidence: EvidenceOfPlaces | undefined,
  decisions: Decisions,
): ShownFinding {
  const sameAs = history?.sameAs.length === 0 ? undefined : history?.sameAs;
  const latest = decisionAbout(shown, [shown.identity, ...(sameAs ?? [])], decisions);
  // A finding was not fixed if a later run reports it again.
  const isReportedAgain = history?.verdict !== 'carriedOver' && 'dispatchedAt' in shown.run;
  const isRefuted = (decision: TriageEntry | undefined): boolean =>
    isReportedAgain && decision?.state === 'fixed' && decision.at < startOf(shown.run);
  const isOutdated = isRefuted(latest) && latest?.identity.run !== shown.identity.run;
  const untouched = shown.finding.toolDecision ?? undecided;
  const triage = isOutdated ? untouched : (latest ?? untouched);
  const doubtful = isOutdated ? latest : earlierDecision(shown, history, decisions);
  const decidedBefore = isUndecided(triage) ? doubtful : undefined;
  const isBack = isRefuted(decidedBefore) && isReported(history?.verdict);
  const verdict = isBack ? 'backAgain' : history?.verdict;
  return triage === shown.triage &&
    decidedBefore === shown.decidedBefore &&
    verdict === shown.verdict &&
    sameAs === shown.sameAs &&
    evidence === shown.evidence
    ? shown
    : { ...shown, triage, decidedBefore, verdict, sameAs, evidence };
}

/** The latest decision about any of these identities, in the folders whose decisions count for the finding. */
function decisionAbout(
  shown: ShownFinding,
  identities: readonly Identity[],
  decisions: Decisions,
): TriageEntry | undefined {
  let latest: TriageEntry | undefined;
  for (const identity of identities)
    for (const folder of decisionFolders(shown)) {
      const entry = decisions.get(folder, identity);
      if (entry !== undefined && entry.at > (latest?.at ?? -Infinity)) latest = entry;
    }
  return latest;
}

/** A decision that a person has to check: about a finding that is likely the same, or about one with the same title that was not compared. */
function earlierDecision(
  shown: ShownFinding,
  history: AcrossRuns | undefined,
  decisions: Decisions,
): TriageEntry | undefined {
  for (const identity of history?.likely ?? []) {
    const entry = decisionAbout(shown, [identity], decisions);
    if (isStillDecided(entry)) return entry;
  }
  for (const folder of decisionFolders(shown)) {
    const entry = decisions.get(folder, shown.identity, isSameByTitle);
    if (isStillDecided(entry)) return entry;
  }
  return undefined;
}

function isStillDecided(entry: TriageEntry | undefined): entry is TriageEntry {
  return entry !== undefined && !isUndecided(entry) && !isAcceptanceEnded(entry);
}

/** The latest time at which a run's source may have been packed. */
function startOf(run: ShownFinding['run']): number {
  return ('dispatchedAt' in run ? run.dispatchedAt : undefined) ?? run.createdAt;
}

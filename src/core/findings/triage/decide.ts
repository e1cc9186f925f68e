import type { AcrossRuns } from '../compare/history.ts';
import { isReported } from '../compare/verdict.ts';
import { type Identity, isSameByTitle } from '../identity.ts';
import type { EvidenceOfPlaces } from '../place/evidence.ts';
import { decisionFolders, type ShownFinding } from '../shownFinding.ts';
import { hasEnded, isUndecided, type TriageDecision, type TriageEntry, undecided } from './triage.ts';
import type { TriageStore } from './triageStore.ts';

type Decisions = Pick<TriageStore, 'of'>;

/** Applies triage, verdict and evidence to a finding; returns the same object if nothing changed. Without a history, it is not compared yet. */
export function decide(
  shown: ShownFinding,
  history: AcrossRuns | undefined,
  evidence: EvidenceOfPlaces | undefined,
  decisions: Decisions,
): ShownFinding {
  const compared = history?.verdict;
  const sameAs = history?.sameAs.length === 0 ? undefined : history?.sameAs;
  const startedAt = startOf(shown.run);
  const found = decisionAbout(shown, [shown.identity, ...(sameAs ?? [])], decisions);
  // What was fixed before a later run reports it again is not.
  const isReportedAgain = compared !== 'carriedOver' && 'dispatchedAt' in shown.run;
  const isOver =
    isReportedAgain &&
    found?.state === 'fixed' &&
    found.identity.run !== shown.identity.run &&
    found.at < startedAt;
  const triage = isOver ? undecided : (found ?? undecided);
  const unsure = isOver ? found : earlierDecision(shown, history, decisions);
  const decidedBefore = isUndecided(triage) ? unsure : undefined;
  const isBack =
    isReportedAgain &&
    decidedBefore?.state === 'fixed' &&
    decidedBefore.at < startedAt &&
    isReported(compared);
  const verdict = isBack ? 'backAgain' : compared;
  return triage === shown.triage &&
    decidedBefore === shown.decidedBefore &&
    verdict === shown.verdict &&
    sameAs === shown.sameAs &&
    evidence === shown.evidence
    ? shown
    : { ...shown, triage, decidedBefore, verdict, sameAs, evidence };
}

/** What is decided about a finding, going by these decisions. */
export function decisionOf(shown: ShownFinding, decisions: Decisions): TriageDecision {
  return decisionAbout(shown, [shown.identity, ...(shown.sameAs ?? [])], decisions) ?? undecided;
}

/** The latest decision about any of these identities, in a folder whose decisions count for the finding. */
function decisionAbout(
  shown: ShownFinding,
  identities: readonly Identity[],
  decisions: Decisions,
): TriageEntry | undefined {
  let latest: TriageEntry | undefined;
  for (const identity of identities)
    for (const folder of decisionFolders(shown)) {
      const entry = decisions.of(folder, identity);
      if (entry !== undefined && entry.at > (latest?.at ?? -Infinity)) latest = entry;
    }
  return latest;
}

/** A decision that may not hold: about a finding of an earlier run that is only likely the same, or that has the title and was not compared. */
function earlierDecision(
  shown: ShownFinding,
  history: AcrossRuns | undefined,
  decisions: Decisions,
): TriageEntry | undefined {
  for (const identity of history?.likely ?? []) {
    const entry = decisionAbout(shown, [identity], decisions);
    if (entry !== undefined && !hasEnded(entry)) return entry;
  }
  for (const folder of decisionFolders(shown)) {
    const entry = decisions.of(folder, shown.identity, isSameByTitle);
    if (entry !== undefined && !hasEnded(entry)) return entry;
  }
  return undefined;
}

/** When a run's source was packed, at the latest. */
function startOf(run: ShownFinding['run']): number {
  return ('dispatchedAt' in run ? run.dispatchedAt : undefined) ?? run.createdAt;
}

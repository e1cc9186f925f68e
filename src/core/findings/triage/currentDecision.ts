import type { Run } from '../../run/state/run.ts';
import { isReported, type ResultFinding } from '../result/result.ts';
import type { RunView } from '../runView.ts';
import { decisionFolders, type ShownFinding, type ShownLocation } from '../shownFinding.ts';
import { countsIn, type Decidable, type TriageEntry } from './book.ts';
import { dayAfter, isAcceptanceEnded, isUndecided, type TriageDecision, undecided } from './triage.ts';
import type { TriageStore } from './triageStore.ts';

type Decisions = Pick<TriageStore, 'get' | 'byFingerprint'>;

export function decide(
  found: ResultFinding,
  run: Run,
  { locations, names }: { readonly locations: readonly ShownLocation[]; readonly names?: RunView['names'] },
  decisions: Decisions,
): Pick<ShownFinding, 'triage' | 'decidedBefore' | 'verdict'> {
  const { finding, possibleNames, verdict } = found;
  const folders = decisionFolders({ run, uploadedFolder: found.uploadedFolder, finding, locations });
  const about = (one: Decidable): readonly TriageEntry[] =>
    folders.flatMap((folder) => decisions.get(folder, one, run.id) ?? []);
  const all = about(found);
  const latest = latestOf(all.filter((each) => countsIn(each, run.id)));
  // A finding that a later run reports again was not fixed. A run is later if it was dispatched
  // after the decision, since its source may have been packaged right before the dispatch.
  const packedUntil = 'dispatchedAt' in run ? (run.dispatchedAt ?? run.createdAt) : -Infinity;
  const isRefuted = (decision: TriageEntry | undefined): boolean =>
    verdict !== 'carriedOver' &&
    decision?.state === 'fixed' &&
    decision.file !== found.file &&
    decision.at < packedUntil;
  const untouched = finding.toolDecision ?? undecided;
  const isOutdated = isRefuted(latest);
  const triage = isOutdated ? untouched : (latest ?? untouched);
  const byFingerprint = (): readonly TriageEntry[] =>
    folders.flatMap((folder) => decisions.byFingerprint(folder, found.fingerprint) ?? []);
  // These decisions are under names that this result doesn't have. The runs of their findings may
  // have been removed.
  const ofLost = names === undefined ? [] : byFingerprint().filter(({ name }) => !names().has(name));
  const earlier = isOutdated
    ? latest
    : [latestOf(all), ...possibleNames.map((name) => latestOf(about({ name }))), ...ofLost].find(
        isStillDecided,
      );
  // A user who opened the finding again has checked the earlier decision.
  const isNewer = isOutdated || (earlier?.at ?? -Infinity) > (latest?.at ?? -Infinity);
  const decidedBefore = isUndecided(triage) && isNewer ? earlier : undefined;
  const isBack = isRefuted(decidedBefore) && isReported(verdict);
  return { triage, decidedBefore, verdict: isBack ? 'foundAgain' : verdict };
}

function latestOf(entries: readonly TriageEntry[]): TriageEntry | undefined {
  return entries.toSorted((one, other) => other.at - one.at)[0];
}

function isStillDecided(entry: TriageEntry | undefined): entry is TriageEntry {
  return entry !== undefined && !isUndecided(entry) && !isAcceptanceEnded(entry);
}

export const ACCEPTANCE_ENDS = ['ended', 'soon', 'later'] as const;

export function acceptanceEnd(
  decision: TriageDecision,
  now: number,
): (typeof ACCEPTANCE_ENDS)[number] | undefined {
  if (decision.until === undefined) return undefined;
  if (isAcceptanceEnded(decision)) return 'ended';
  return decision.until <= dayAfter(now, 14) ? 'soon' : 'later';
}

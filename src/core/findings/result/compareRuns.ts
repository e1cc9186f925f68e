import type { PairState, ScanProgress } from '../../features/scanProgress.ts';
import { normalKey } from '../../json.ts';
import { isContinued } from '../../features/continuedRuns.ts';
import { perspectives } from '../../workflows/perspectives.ts';
import { hasAllFindings, isOfService } from '../chooseRun.ts';
import type { Finding } from '../finding.ts';
import { allNamesOf, maxPossibleNames, namesOf } from '../identity.ts';
import type { Cut } from '../parse/parseFindings.ts';
import { type UploadedFile, uploadedIn } from '../location/uploadedFiles.ts';
import { type LaterRun, pairFindings, type Pairs } from './match.ts';
import type { FoundByRun, ResultFinding, Verdict } from './result.ts';

export interface ComparedRun extends LaterRun {
  readonly cut: Cut | undefined;
  /** Every blackbox assessment has one, even if the file cannot be read. Other runs have none. */
  readonly progress: ScanProgress | undefined;
  readonly progressBefore: ScanProgress | undefined;
}

export interface FoundBefore extends FoundByRun {
  readonly former: FoundByRun;
  /** True if all findings of a baseline are known. Otherwise, no finding is `new`. */
  readonly hasBaseline: boolean;
}

export async function compareFindings(
  run: ComparedRun,
  own: readonly ResultFinding[],
  before: FoundBefore,
): Promise<FoundByRun> {
  const { createdAt } = run.run;
  const { former, hasBaseline } = before;
  const known = allNamesOf([...before.findings, ...before.absent]);
  const isUnknown = ({ name }: ResultFinding): boolean => !known.has(name);
  // This run's former result may have findings of a run that has been removed.
  const absentBefore = [...before.absent, ...former.absent.filter(isUnknown)];
  const earlier = [...before.findings, ...absentBefore];
  const formerPairs = await pairFindings(run, own, former.findings);
  const named = nameFindings(own, [formerPairs, await pairFindings(run, own, earlier)]);
  if (!isOfService(run.run)) return { findings: named, absent: [] };
  const wasReported = new Set(before.findings);
  const byName = new Map<string, ResultFinding>();
  for (const each of earlier.toReversed()) for (const name of each.possibleNames) byName.set(name, each);
  for (const each of earlier.toReversed()) byName.set(each.name, each);
  const findings = named.map((finding): ResultFinding => {
    const same = namesOf(finding).flatMap((name) => byName.get(name) ?? [])[0];
    if (same === undefined) return { ...finding, verdict: hasBaseline ? 'new' : undefined };
    const statusSince = wasReported.has(same) ? same.statusSince : createdAt;
    return { ...finding, verdict: reportedVerdict(finding, same, run), statusSince };
  });
  const reported = allNamesOf(findings);
  // The progress has the state of each pair, even in a run that ended early.
  const canMiss = isComplete(run) === true || (run.progress !== undefined && run.cut === undefined);
  const absent = new Map<string, ResultFinding>();
  for (const finding of earlier)
    if (!reported.has(finding.name) && !absent.has(finding.name))
      absent.set(finding.name, {
        ...finding,
        verdict: canMiss ? absenceOf(finding, run) : undefined,
        statusSince: wasReported.has(finding) ? createdAt : finding.statusSince,
        missed: isComplete(run) || finding.missed,
      });
  // An earlier findings file of the run had these.
  for (const finding of former.findings)
    if (!reported.has(finding.name) && isUnknown(finding))
      absent.set(finding.name, { ...finding, verdict: undefined, statusSince: createdAt });
  // The latest come first, because absent findings beyond a limit are not listed.
  return { findings, absent: [...absent.values()].sort((one, other) => other.statusSince - one.statusSince) };
}

function nameFindings(own: readonly ResultFinding[], pairings: readonly Pairs[]): readonly ResultFinding[] {
  const taken = new Set<string>();
  const names = new Map<ResultFinding, string>();
  for (const pairs of pairings)
    for (const finding of own) {
      const pair = pairs.get(finding);
      if (pair?.isSure !== true || names.has(finding) || taken.has(pair.earlier.name)) continue;
      names.set(finding, pair.earlier.name);
      taken.add(pair.earlier.name);
    }
  return own.map((finding) => {
    const name = names.get(finding) ?? finding.name;
    const paired = pairings.toReversed().flatMap((pairs) => pairs.get(finding)?.earlier ?? []);
    const others = new Set(paired.flatMap(namesOf).filter((each) => each !== name));
    return { ...finding, name, possibleNames: [...others].slice(0, maxPossibleNames) };
  });
}

function reportedVerdict({ finding }: ResultFinding, { missed }: ResultFinding, run: ComparedRun): Verdict {
  if (run.progress !== undefined) return pairVerdict(true, finding, run);
  return missed === true ? 'foundAgain' : 'stillPresent';
}

function isComplete({ run, cut }: ComparedRun): true | undefined {
  return (hasAllFindings(run) && cut === undefined) || undefined;
}

function absenceOf({ finding, uploaded }: ResultFinding, run: ComparedRun): Verdict {
  if (run.progress !== undefined) return pairVerdict(false, finding, run);
  const changes = uploaded.map((file) => changeOf(file, run));
  const [main = 'unknown'] = changes;
  if (main === 'unknown' || main === 'notUploaded') return main;
  return (['codeChanged', 'notUploaded', 'unknown'] as const).find((each) => changes.includes(each)) ?? main;
}

function changeOf(uploaded: UploadedFile | undefined, later: LaterRun): Verdict {
  const uploadedLater = uploaded && uploadedIn(later, uploaded.folder, later.laterPathOf(uploaded));
  if (uploaded === undefined || uploadedLater === 'unknown') return 'unknown';
  if (uploadedLater === undefined) return 'notUploaded';
  return uploadedLater.sha256 === uploaded.sha256 ? 'fileUnchanged' : 'codeChanged';
}

/**
 * A pair that was tested or not applicable in the run that this one continues was not tested again.
 */
function pairVerdict(
  isFound: boolean,
  { feature, perspective }: Finding,
  { run, progress, progressBefore }: ComparedRun,
): Verdict {
  const known = perspectives.find((each) => normalKey(each) === normalKey(perspective ?? ''));
  const stateIn = (scan: ScanProgress | undefined): PairState =>
    feature === undefined || known === undefined ? 'unknown' : (scan?.stateOf(feature, known) ?? 'unknown');
  const state = stateIn(progress);
  const carried = isContinued(run) ? stateIn(progressBefore) : undefined;
  const isCarried = carried === 'tested' || carried === 'notApplicable';
  if (isFound) return isCarried ? 'carriedOver' : 'reportedAgain';
  if (isCarried || state === 'notTested') return 'pairNotTested';
  if (state === 'tested') return carried === 'unknown' ? 'unknown' : 'pairTested';
  return state;
}

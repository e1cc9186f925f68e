import type { Run } from '../run/state/run.ts';
import { hasAllFindings, subjectOf } from './chooseRun.ts';
import { type Identity, isSameFinding } from './identity.ts';
import type { Cut } from './parse/parse.ts';
import type { ShownFinding } from './shownFinding.ts';

/** What a run has found, compared with a run before it. */
export interface Comparison {
  readonly run: Run;
  readonly baseline: Run;
  /** Of the run. */
  readonly added: readonly ShownFinding[];
  /** Of the baseline: they are not found any more. None of a run that may not have reached them. */
  readonly fixed: readonly ShownFinding[];
  /** Of the run. */
  readonly unchanged: readonly ShownFinding[];
  /** Where not all findings of a run are known: what is beyond them is neither new nor fixed. */
  readonly cuts: Cuts;
}

/** How many findings of a run, and of the one that it is compared with, are known of how many. */
export interface Cuts {
  readonly run?: Cut | undefined;
  readonly baseline?: Cut | undefined;
}

/** What tells a finding from others across runs; equal code in two folders is two findings. */
export interface FindingName {
  readonly folder: string | undefined;
  readonly identity: Identity;
}

/** How many findings came, went and stayed. */
export interface ChangeCounts {
  readonly added: number;
  /** Undefined for a run that may not have reached them, or whose findings are not all known. */
  readonly fixed: number | undefined;
  readonly unchanged: number;
}

/** In how many findings a run differs from the one before it. */
export interface Changes extends ChangeCounts {
  readonly baseline: Run;
}

/** Counts what `compareFindings` lists. */
export function countChanges(
  run: Run,
  found: readonly FindingName[],
  before: readonly FindingName[],
  cut: Cut | undefined,
): ChangeCounts {
  const unchanged = pairsOf(found, before).size;
  const fixed = hasAllFindings(run) && cut === undefined ? before.length - unchanged : undefined;
  return { added: found.length - unchanged, fixed, unchanged };
}

/** Whether a finding is new since a baseline that had these. */
export function changesSince<T extends FindingName>(
  found: readonly T[],
  before: readonly FindingName[],
): (name: T) => 'new' | 'unchanged' {
  const pairs = pairsOf(found, before);
  return (name) => (pairs.has(name) ? 'unchanged' : 'new');
}

/** Compares the findings of two runs. */
export function compareFindings(
  run: Run,
  found: readonly ShownFinding[],
  baseline: Run,
  before: readonly ShownFinding[],
  cuts: Cuts = {},
): Comparison {
  const pairs = pairsOf(found, before);
  const left = new Set(pairs.values());
  return {
    run,
    baseline,
    added: found.filter((shown) => !pairs.has(shown)).map((shown) => ({ ...shown, change: 'new' })),
    cuts,
    fixed: hasAllFindings(run) && cuts.run === undefined ? before.filter((shown) => !left.has(shown)) : [],
    unchanged: found.filter((shown) => pairs.has(shown)).map((shown) => ({ ...shown, change: 'unchanged' })),
  };
}

/**
 * The former finding of each finding, each at most once: first those with the same key and title, then those with the same key,
 * then those that are surely the same although one quotes more.
 */
function pairsOf(
  found: readonly FindingName[],
  before: readonly FindingName[],
): ReadonlyMap<FindingName, FindingName> {
  const pairs = new Map<FindingName, FindingName>();
  const pairBy = (
    keyOf: (name: FindingName) => string,
    isPair: (one: Identity, other: Identity) => boolean = () => true,
  ): void => {
    const paired = new Set(pairs.values());
    const free = Map.groupBy(
      before.filter((name) => !paired.has(name)),
      keyOf,
    );
    for (const name of found.filter((each) => !pairs.has(each))) {
      const candidates = free.get(keyOf(name)) ?? [];
      const at = candidates.findIndex(({ identity }) => isPair(name.identity, identity));
      const [former] = at < 0 ? [] : candidates.splice(at, 1);
      if (former !== undefined) pairs.set(name, former);
    }
  };
  pairBy(({ folder = '', identity }) => `${identity.fingerprint}\0${folder}\0${identity.title}`);
  pairBy(({ folder = '', identity }) => `${identity.fingerprint}\0${folder}`);
  pairBy(({ folder = '', identity }) => `${identity.spot}\0${folder}`, isSameFinding);
  return pairs;
}

/** The latest run before one that has all findings of the same subject in the same folders; `runs` come newest first. Findings of unknown origin are compared only when a person says so. */
export function baselineAmong(runs: readonly Run[], run: Run): Run | undefined {
  if (!isOfService(run)) return undefined;
  const runId = runIdOf(run);
  // A run may be here twice, tracked and imported: it is not compared with itself.
  const isOther = (other: Run): boolean => runId === undefined || runIdOf(other) !== runId;
  // A run and the one that it goes on with are one assessment.
  const predecessor = runsBefore(runs, run).find((other) => goesOnWith(run, other));
  if (predecessor !== undefined) return baselineAmong(runs, predecessor);
  return runsBefore(runs, run).find((other) => isOther(other) && hasAllFindings(other) && isOfService(other));
}

/** The runs before one, of the same subject in the same folders, in the order of `runs`. */
export function runsBefore(runs: readonly Run[], run: Run): readonly Run[] {
  const folders = foldersOf(run);
  return runs.filter(
    (other) =>
      (other.createdAt < run.createdAt || (other.createdAt === run.createdAt && other.id < run.id)) &&
      foldersOf(other) === folders,
  );
}

function isOfService(run: Run): boolean {
  return run.state !== 'imported' || run.runId !== undefined;
}

/** The service's ID of a run, where it is known. */
export function runIdOf(run: Run): string | undefined {
  return 'runId' in run ? run.runId : undefined;
}

function foldersOf(run: Run): string {
  const folders = [...new Set(run.targets.map(({ folder }) => folder))].sort();
  return JSON.stringify([subjectOf(run), ...folders]);
}

/** True for a run that goes on with another one: both are one assessment (API reference, section 2.7). */
function goesOnWith({ input }: Run, other: Run): boolean {
  const resume = input?.resume;
  if (resume === undefined || !('continue_assessment' in resume)) return false;
  return resume.continue_assessment.workflow_run_id === runIdOf(other);
}

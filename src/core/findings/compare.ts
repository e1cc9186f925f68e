import type { Run } from '../run/run.ts';
import type { ShownFinding } from './shownFinding.ts';
import { hasAllFindings } from './folderRuns.ts';

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
}

/** What tells a finding from others across runs; equal code in two folders is two findings. */
export interface FindingName {
  readonly folder: string | undefined;
  readonly fingerprint: string;
}

/** The name of a finding that is shown. */
export function nameOf({ folder, fingerprint }: ShownFinding): FindingName {
  return { folder, fingerprint };
}

/** How many findings came, went and stayed. */
export interface ChangeCounts {
  readonly added: number;
  /** Undefined for a run that may not have reached them. */
  readonly fixed: number | undefined;
  readonly unchanged: number;
}

/** Counts what `compareFindings` lists. */
export function countChanges(
  run: Run,
  found: readonly FindingName[],
  before: readonly FindingName[],
): ChangeCounts {
  const added = countNew(found, before);
  const fixed = hasAllFindings(run) ? countNew(before, found) : undefined;
  return { added, fixed, unchanged: found.length - added };
}

function countNew(names: readonly FindingName[], baseline: readonly FindingName[]): number {
  const changeOf = changeSince(baseline);
  return names.filter((name) => changeOf(name) === 'new').length;
}

/** Tells which findings are new since a baseline that had these. */
export function changeSince(baseline: readonly FindingName[]): (name: FindingName) => 'new' | 'unchanged' {
  const keyOf = ({ folder = '', fingerprint }: FindingName): string => `${fingerprint}\0${folder}`;
  const known = new Set(baseline.map(keyOf));
  return (name) => (known.has(keyOf(name)) ? 'unchanged' : 'new');
}

/** Compares the findings of two runs by their fingerprints. */
export function compareFindings(
  run: Run,
  found: readonly ShownFinding[],
  baseline: Run,
  before: readonly ShownFinding[],
): Comparison {
  const changeOf = changeSince(before.map(nameOf));
  const sinceFound = changeSince(found.map(nameOf));
  const marked = found.map((shown) => ({ ...shown, change: changeOf(nameOf(shown)) }));
  return {
    run,
    baseline,
    added: marked.filter(({ change }) => change === 'new'),
    fixed: hasAllFindings(run) ? before.filter((shown) => sinceFound(nameOf(shown)) === 'new') : [],
    unchanged: marked.filter(({ change }) => change === 'unchanged'),
  };
}

/** The latest run before one that has all findings of the same folders; `runs` come newest first. Findings of unknown origin are compared only when a person says so. */
export function baselineAmong(runs: readonly Run[], run: Run): Run | undefined {
  if (!isOfService(run)) return undefined;
  const runId = runIdOf(run);
  // A run that was imported or tracked, and is here already, differs in nothing from itself.
  const isOther = (other: Run): boolean => runId === undefined || runIdOf(other) !== runId;
  return runsBefore(runs, run).find((other) => isOther(other) && hasAllFindings(other) && isOfService(other));
}

/** The runs before one, of the same folders, in the order of `runs`. */
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

function runIdOf(run: Run): string | undefined {
  return 'runId' in run ? run.runId : undefined;
}

function foldersOf({ targets }: Run): string {
  return JSON.stringify([...new Set(targets.map(({ folder }) => folder))].sort());
}

import { AssessmentError } from '../errors.ts';
import { isObject } from '../json.ts';
import type { Run } from '../run/state/run.ts';
import { type Perspective, perspectives } from '../workflows/perspectives.ts';
import { type ArtifactReader, maxFeatures, readArtifact } from './features.ts';

/**
 * The service lists a pair as completed, as skipped, or not at all (docs/api.md, section 2.4).
 * `unknown` means that the lists are missing or can't be fully read, so the pair may have been
 * tested.
 */
export const pairStates = ['tested', 'notApplicable', 'notTested', 'unknown'] as const;
export type PairState = (typeof pairStates)[number];

export interface ScanProgress {
  readonly tested: number;
  readonly notApplicable: number;
  readonly problem?: 'absent' | 'unreadable' | 'partlyUnreadable' | undefined;
  readonly stateOf: (featureName: string, perspective: Perspective) => PairState;
}

export interface ListedProgress {
  readonly tested: readonly string[];
  readonly notApplicable: readonly string[];
  readonly problem: 'unreadable' | 'partlyUnreadable' | undefined;
}

const maxListed = maxFeatures * perspectives.length;

export async function readScanProgress(
  run: Run,
  folder: string,
  reader: ArtifactReader,
): Promise<ScanProgress> {
  try {
    const listed = await readArtifact<ListedProgress>(run, folder, 'scan_progress', reader);
    return listed === undefined
      ? progressWithout('absent', run.workflow === 'blackbox-crawl' ? 'notTested' : 'unknown')
      : toScanProgress(listed);
  } catch (error) {
    if (error instanceof AssessmentError) return progressWithout('unreadable');
    throw error;
  }
}

/** Reads the lists of docs/api.md, section 2.4. A pair in both lists counts as tested. */
export function listProgress(value: unknown): ListedProgress {
  const { completed, skipped } = isObject(value) ? value : {};
  if (!Array.isArray(completed) && !Array.isArray(skipped))
    return { tested: [], notApplicable: [], problem: 'unreadable' };
  const [tested, notApplicable] = [new Set<string>(), new Set<string>()];
  let problem: ListedProgress['problem'];
  for (const [list, keys] of [[completed, tested] as const, [skipped, notApplicable] as const])
    for (const pair of Array.isArray(list) ? (list as unknown[]) : [list]) {
      const key = keyOfPair(pair);
      if (key === undefined || tested.size + notApplicable.size >= maxListed) problem = 'partlyUnreadable';
      else if (!tested.has(key)) keys.add(key);
    }
  return { tested: [...tested], notApplicable: [...notApplicable], problem };
}

export function toScanProgress(listed: ListedProgress): ScanProgress {
  const [tested, notApplicable] = [new Set(listed.tested), new Set(listed.notApplicable)];
  const { problem } = listed;
  return {
    tested: tested.size,
    notApplicable: notApplicable.size,
    problem,
    stateOf: (feature, perspective) => {
      const key = keyOf(feature, perspective);
      if (tested.has(key)) return 'tested';
      if (notApplicable.has(key)) return 'notApplicable';
      return problem === undefined ? 'notTested' : 'unknown';
    },
  };
}

function progressWithout(problem: 'absent' | 'unreadable', state: PairState = 'unknown'): ScanProgress {
  return { tested: 0, notApplicable: 0, problem, stateOf: () => state };
}

function keyOfPair(pair: unknown): string | undefined {
  const { feature_name: feature, perspective } = isObject(pair) ? pair : {};
  const known = perspectives.find((each) => each === perspective);
  return typeof feature === 'string' && known !== undefined ? keyOf(feature, known) : undefined;
}

function keyOf(feature: string, perspective: Perspective): string {
  return `${perspective} ${feature}`;
}

import { AssessmentError } from '../errors.ts';
import { firstHit, isObject, type KeyPath, keyPaths, normalKey, present, valueAt } from '../json.ts';
import type { Run } from '../run/state/run.ts';
import { perspectives } from '../workflows/application.ts';
import { readArtifact, toText } from './features.ts';

/** A perspective that a feature is tested from. */
export type Perspective = (typeof perspectives)[number];

/** What is known of a pair: `completed`, `skipped` or neither (API reference, section 2.4), or nothing. */
export const pairStates = ['tested', 'notApplicable', 'notTested', 'unknown'] as const;
/** What is known of a pair. */
export type PairState = (typeof pairStates)[number];

/** A scan_progress artifact as read. */
export interface ScanProgress {
  /** How many pairs were tested, and how many were not applicable. */
  readonly tested: number;
  readonly notApplicable: number;
  /** Why not every state is known: there is no artifact, none that can be read, or entries in it that cannot be. */
  readonly problem?: 'absent' | 'unreadable' | 'partlyUnreadable' | undefined;
  /** The state of a pair; one that is not listed is `unknown` where there is a problem. */
  readonly stateOf: (featureName: string, perspective: Perspective) => PairState;
}

const WRAPPER = keyPaths('scan_progress progress data result');
const TESTED = keyPaths('completed tested completed_pairs tested_pairs');
const SKIPPED = keyPaths('skipped not_applicable skipped_pairs');
const FEATURE = keyPaths('feature_name feature.name feature name');
const PERSPECTIVE = keyPaths('perspective.name perspective perspectives');

const perspectiveBy = new Map(perspectives.map((each) => [normalKey(each), each]));

/** Reads which pairs a run has tested from its folder; what cannot be read is a problem of the answer, not a failure. */
export async function readScanProgress(run: Run, folder: string): Promise<ScanProgress> {
  try {
    return toScanProgress(await readArtifact(run, folder, 'scan_progress'));
  } catch (error) {
    if (error instanceof AssessmentError) return without('unreadable');
    throw error;
  }
}

/** The pairs in the parsed artifact: two lists, bare or wrapped, each of objects, of arrays, or a map by feature. */
export function toScanProgress(value: unknown): ScanProgress {
  if (value === undefined) return without('absent');
  const root = hasLists(value) ? value : firstHit(value, WRAPPER, (hit) => (hasLists(hit) ? hit : undefined));
  if (root === undefined) return without('unreadable');
  const states = new Map<string, PairState>();
  let unreadable = 0;
  const add = (paths: readonly KeyPath[], state: PairState): number => {
    const before = states.size;
    for (const { feature, perspective } of present(root, paths).flatMap((path) =>
      toPairs(valueAt(root, path)),
    )) {
      if (feature === undefined || perspective === undefined) unreadable += 1;
      else if (!states.has(keyOf(feature, perspective))) states.set(keyOf(feature, perspective), state);
    }
    return states.size - before;
  };
  return {
    // A pair in both lists was tested.
    tested: add(TESTED, 'tested'),
    notApplicable: add(SKIPPED, 'notApplicable'),
    problem: unreadable > 0 ? 'partlyUnreadable' : undefined,
    stateOf: (feature, perspective) =>
      states.get(keyOf(feature, perspective)) ?? (unreadable > 0 ? 'unknown' : 'notTested'),
  };
}

function hasLists(value: unknown): boolean {
  return present(value, [...TESTED, ...SKIPPED]).length > 0;
}

function without(problem: NonNullable<ScanProgress['problem']>): ScanProgress {
  return { tested: 0, notApplicable: 0, problem, stateOf: () => 'unknown' };
}

interface ListedPair {
  readonly feature: string | undefined;
  readonly perspective: Perspective | undefined;
}

function toPairs(list: unknown): readonly ListedPair[] {
  if (Array.isArray(list)) return list.flatMap(pairsOfEntry);
  if (isObject(list)) return Object.entries(list).flatMap(pairsOfEntry);
  return [{ feature: undefined, perspective: undefined }];
}

/** One pair, or those of one feature with several perspectives. */
function pairsOfEntry(entry: unknown): readonly ListedPair[] {
  const [feature, held]: readonly unknown[] = Array.isArray(entry)
    ? (entry as unknown[])
    : [firstHit(entry, FEATURE, toText), firstHit(entry, PERSPECTIVE, (hit) => hit)];
  return [held].flat().map((word) => ({
    feature: toText(feature),
    perspective: perspectiveBy.get(normalKey(toText(word) ?? '')),
  }));
}

function keyOf(feature: string, perspective: Perspective): string {
  return `${perspective} ${feature}`;
}

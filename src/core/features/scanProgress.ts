import { AssessmentError } from '../errors.ts';
import { firstHit, isObject, keyPaths, normalKey, present, valueAt } from '../findings/parse/json.ts';
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
const PAIRS = keyPaths('pairs items');
const FEATURE = keyPaths('feature_name feature.name feature name');
const PERSPECTIVE = keyPaths('perspective perspectives perspective.name');
const STATE = keyPaths('status state result');

const perspectiveBy = new Map(perspectives.map((each) => [normalKey(each), each]));
const stateBy = new Map<unknown, PairState>([
  ...TESTED.map(([key]) => [key, 'tested'] as const),
  ...SKIPPED.map(([key]) => [key, 'notApplicable'] as const),
]);

/** Reads which pairs a run has tested from its folder; what cannot be read is a problem of the answer, not a failure. */
export async function readScanProgress(run: Run, folder: string): Promise<ScanProgress> {
  try {
    return toScanProgress(await readArtifact(run, folder, 'scan_progress'));
  } catch (error) {
    if (error instanceof AssessmentError) return without('unreadable');
    throw error;
  }
}

/** The pairs in the parsed artifact: two lists, each of objects, of arrays, or a map by feature; or one list whose entries say their state. */
export function toScanProgress(value: unknown): ScanProgress {
  if (value === undefined) return without('absent');
  const states = new Map<string, PairState>();
  let unreadable = 0;
  const add = (entries: readonly Entry[], stateOf: (entry: unknown) => PairState | undefined): void => {
    for (const { feature, perspective, entry } of entries) {
      const state = stateOf(entry);
      if (state === undefined || feature === undefined || perspective === undefined) unreadable += 1;
      // A pair in both lists was tested.
      else if (states.get(keyOf(feature, perspective)) !== 'tested')
        states.set(keyOf(feature, perspective), state);
    }
  };
  const root = unwrapped(value);
  const lists = [
    ...present(root, TESTED).map((path) => ({ path, state: 'tested' as const })),
    ...present(root, SKIPPED).map((path) => ({ path, state: 'notApplicable' as const })),
  ];
  for (const { path, state } of lists) add(entriesOf(valueAt(root, path)), () => state);
  if (lists.length === 0) {
    const list = Array.isArray(root)
      ? root
      : firstHit(root, PAIRS, (hit) => (Array.isArray(hit) ? hit : undefined));
    if (list === undefined) return without('unreadable');
    add(entriesOf(list), (entry) =>
      firstHit(entry, STATE, (word) => (typeof word === 'string' ? stateBy.get(normalKey(word)) : undefined)),
    );
  }
  const counted = (state: PairState): number => [...states.values()].filter((each) => each === state).length;
  return {
    tested: counted('tested'),
    notApplicable: counted('notApplicable'),
    problem: unreadable > 0 ? 'partlyUnreadable' : undefined,
    stateOf: (feature, perspective) =>
      states.get(keyOf(feature, perspective)) ?? (unreadable > 0 ? 'unknown' : 'notTested'),
  };
}

function without(problem: NonNullable<ScanProgress['problem']>): ScanProgress {
  return { tested: 0, notApplicable: 0, problem, stateOf: () => 'unknown' };
}

interface Entry {
  readonly feature: string | undefined;
  readonly perspective: Perspective | undefined;
  readonly entry: unknown;
}

function unwrapped(value: unknown): unknown {
  const held =
    present(value, [...TESTED, ...SKIPPED, ...PAIRS]).length > 0
      ? undefined
      : firstHit(value, WRAPPER, (hit) => hit);
  return held ?? value;
}

function entriesOf(list: unknown): readonly Entry[] {
  if (Array.isArray(list)) return list.flatMap(toEntries);
  if (!isObject(list)) return [{ feature: undefined, perspective: undefined, entry: list }];
  return Object.entries(list).flatMap(([feature, held]) => toEntries([feature, held]));
}

/** One pair, or those of one feature with several perspectives. */
function toEntries(entry: unknown): readonly Entry[] {
  const [feature, held]: readonly unknown[] = Array.isArray(entry)
    ? (entry as unknown[])
    : [
        firstHit(entry, FEATURE, toText),
        firstHit(entry, PERSPECTIVE, (hit) => (isObject(hit) ? undefined : hit)),
      ];
  const words: readonly unknown[] = Array.isArray(held) ? held : [held];
  return words.map((word) => ({
    feature: toText(feature),
    perspective: typeof word === 'string' ? perspectiveBy.get(normalKey(word)) : undefined,
    entry,
  }));
}

function keyOf(feature: string, perspective: Perspective): string {
  return `${perspective} ${feature}`;
}

import { AssessmentError } from '../errors.ts';
import {
  type Fields,
  fieldsOf,
  firstHit,
  hitsAt,
  isObject,
  type KeyPath,
  keyPaths,
  normalKey,
} from '../json.ts';
import type { Run } from '../run/state/run.ts';
import { perspectives } from '../workflows/blackboxInput.ts';
import { type ArtifactReader, maxFeatures, readArtifact, nonEmptyText } from './features.ts';

export type Perspective = (typeof perspectives)[number];

/** `completed`, `skipped`, or neither (docs/api.md, section 2.4); `unknown` without a readable artifact. */
export const pairStates = ['tested', 'notApplicable', 'notTested', 'unknown'] as const;
export type PairState = (typeof pairStates)[number];

export interface ScanProgress {
  readonly tested: number;
  readonly notApplicable: number;
  /** Why not every state is known; `partlyUnreadable` if entries cannot be read or are too many. */
  readonly problem?: 'absent' | 'unreadable' | 'partlyUnreadable' | undefined;
  /** A pair that is not listed is `unknown` if there is a problem. A crawl without progress has tested none. */
  readonly stateOf: (featureName: string, perspective: Perspective) => PairState;
}

export interface ListedProgress {
  readonly tested: readonly string[];
  readonly notApplicable: readonly string[];
  readonly problem: 'unreadable' | 'partlyUnreadable' | undefined;
}

const maxListed = maxFeatures * perspectives.length;

const WRAPPER = keyPaths('scan_progress progress data result');
const TESTED = keyPaths('completed tested completed_pairs tested_pairs');
const SKIPPED = keyPaths('skipped not_applicable skipped_pairs');
const FEATURE = keyPaths('feature_name feature.name feature name');
const PERSPECTIVE = keyPaths('perspective.name perspective perspectives');

const perspectiveBy = new Map(perspectives.map((each) => [normalKey(each), each]));

/** What cannot be read is a `problem` of the answer, not an error. */
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

/** Accepts two lists, under known keys or wrapped, of objects, of arrays, or as a map by feature. A pair in both lists was tested. */
export function listProgress(value: unknown): ListedProgress {
  const root =
    listsIn(fieldsOf(value)) ?? firstHit(fieldsOf(value), WRAPPER, (hit) => listsIn(fieldsOf(hit)));
  if (root === undefined) return { tested: [], notApplicable: [], problem: 'unreadable' };
  const [tested, notApplicable] = [new Set<string>(), new Set<string>()];
  let unread = 0;
  const add = (paths: readonly KeyPath[], keys: Set<string>): void => {
    for (const { feature, perspective } of hitsAt(root, paths).flatMap(({ value: list }) => toPairs(list))) {
      const isRead = feature !== undefined && perspective !== undefined;
      if (!isRead || tested.size + notApplicable.size >= maxListed) unread += 1;
      else if (!tested.has(keyOf(feature, perspective))) keys.add(keyOf(feature, perspective));
    }
  };
  add(TESTED, tested);
  add(SKIPPED, notApplicable);
  const problem = unread > 0 ? 'partlyUnreadable' : undefined;
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

function listsIn(fields: Fields): Fields | undefined {
  return [...TESTED, ...SKIPPED].some(([key = '']) => fields.has(key)) ? fields : undefined;
}

function progressWithout(problem: 'absent' | 'unreadable', state: PairState = 'unknown'): ScanProgress {
  return { tested: 0, notApplicable: 0, problem, stateOf: () => state };
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

/** An entry may have several perspectives of one feature. */
function pairsOfEntry(entry: unknown): readonly ListedPair[] {
  const [feature, held]: readonly unknown[] = Array.isArray(entry)
    ? (entry as unknown[])
    : [
        firstHit(fieldsOf(entry), FEATURE, nonEmptyText),
        firstHit(fieldsOf(entry), PERSPECTIVE, (hit) => hit),
      ];
  return [held].flat().map((word) => ({
    feature: nonEmptyText(feature),
    perspective: perspectiveBy.get(normalKey(nonEmptyText(word) ?? '')),
  }));
}

function keyOf(feature: string, perspective: Perspective): string {
  return `${perspective} ${feature}`;
}

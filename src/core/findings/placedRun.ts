import { basename, dirname } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { AssessmentError } from '../errors.ts';
import { atOrBelow } from '../paths.ts';
import type { Logger } from '../ports.ts';
import type { RunStore } from '../run/disk/runStore.ts';
import { type Failure, type Run, toFailure } from '../run/state/run.ts';
import { isOfService } from './chooseRun.ts';
import type { Place } from './finding.ts';
import { allNamesOf, namesOf } from './identity.ts';
import { keepSeen, type KnownTexts, type PlacesOfFile, seenKey } from './place/currentPlaces.ts';
import { OWNERS_FILES } from './place/owners.ts';
import {
  fileKey,
  firstSeen,
  type LocatedPlace,
  type PlacedFinding,
  toLocatedPlaces,
} from './place/placement.ts';
import { placeFiles, type PlacedResult, readResult, type ResultSource } from './result/readResult.ts';
import { type ResultFinding, resultKeyOf, type ResultHead } from './result/result.ts';
import type { Verdict } from './result/verdict.ts';
import type { Placing } from './result/resultWorker.ts';
import { mainPlaceOf, type ShownFinding, type ShownRun } from './shownFinding.ts';
import type { ShowFinding } from './triage/decide.ts';
import { isSettled } from './triage/triage.ts';

/** The result of a run, with the places of its findings, or why it cannot be read. It is replaced as a whole. */
export interface PlacedRun {
  /** As it was when its result was read. */
  readonly run: Run;
  /** The earlier runs that its result takes into account. */
  readonly earlier: readonly Run[];
  readonly result: PlacedResult | undefined;
  /** All names in the result, once it is complete. */
  readonly names?: ReadonlySet<string> | undefined;
  readonly failure: Failure | undefined;
}

interface PlacedListeners {
  readonly onPlaced?: (placed: readonly PlacedFinding[]) => void;
  readonly onSome?: ((early: PlacedRun) => void) | undefined;
}

/** Reads the result of a run, and places its findings. `onPlaced` gets these as they come, and `onSome` the run before all is known. */
export async function readPlaced(
  run: Run,
  earlier: readonly Run[],
  source: ResultSource & { readonly log: Logger },
  placing: Placing,
  { onPlaced, onSome }: PlacedListeners = {},
): Promise<PlacedRun> {
  const toRun = (result: PlacedResult): PlacedRun => ({ run, earlier, result, failure: undefined });
  try {
    const result = await readResult(run, source, {
      placing,
      onPlaced,
      onSome: onSome && ((head, findings) => onSome(toRun({ ...nothingPlaced, head, findings }))),
    });
    const names = allNamesOf([...result.findings, ...result.absent].map(({ found }) => found));
    return { ...toRun(result), names };
  } catch (error) {
    const failure = toFailure(
      error instanceof AssessmentError
        ? error
        : new AssessmentError('storage', { detail: String(error) }, { cause: error }),
    );
    source.log.warn(`The findings of run ${run.id} cannot be read: ${failure.kind} ${failure.detail ?? ''}`);
    return { run, earlier, result: undefined, failure };
  }
}

const nothingPlaced: Omit<PlacedResult, 'head' | 'findings'> = {
  absent: [],
  missing: new Set(),
  changed: new Set(),
  seen: new Map(),
  owners: new Map(),
  ownersGaps: [],
  removed: 0,
};

/** True unless the run, or what its result takes into account, has changed, or its findings cannot be read. */
export function isCurrent(placed: PlacedRun, run: Run, earlier: readonly Run[]): boolean {
  if (placed.failure !== undefined) return false;
  const former = new Map(placed.earlier.map((each) => [each.id, each]));
  return (
    isSameInResult(placed.run, run) && earlier.every((each) => isSameInResult(former.get(each.id), each))
  );
}

function isSameInResult(one: Run | undefined, other: Run): boolean {
  return one === other || (one?.id === other.id && resultKeyOf(one) === resultKeyOf(other));
}

/** True if a finding without a place may be in one of these files and folders, or if these may change owners. */
export function mustReadAgain(
  { result }: PlacedRun,
  changed: ReadonlySet<string>,
  createdOrDeleted: ReadonlySet<string>,
): boolean {
  if (result === undefined) return false;
  const ofOwners = [...changed, ...createdOrDeleted].filter((path) => ownersNames.has(basename(path)));
  if (createdOrDeleted.size === 0 && ofOwners.length === 0) return false;
  const files = new Set(allPlaces(result).map(({ file }) => file));
  const isPlaced = atOrBelow(files);
  const missing = new Set([...result.missing].map(caseless));
  return (
    [...createdOrDeleted].some((path) => !isPlaced(path) && missing.has(caseless(basename(path)))) ||
    // A CODEOWNERS file is in the folder whose files it covers, or in a folder there.
    ofOwners.some((path) => [...files].some(atOrBelow([dirname(dirname(path))])))
  );
}

/** CODEOWNERS, and the names of the folders that may hold it. */
const ownersNames = new Set(OWNERS_FILES.flatMap((file) => file.split('/')));

function allPlaces({ findings, absent }: PlacedResult): readonly LocatedPlace[] {
  return [...findings, ...absent].flatMap(({ places }) => places);
}

/** Whether a file is missing may depend on its letter case, and a name alone does not tell where. */
function caseless(name: string): string {
  return name.normalize('NFC').toLowerCase();
}

/** Places findings by the present text of files. The run itself if it has none in these. */
export async function placeAgain(
  placed: PlacedRun,
  isWanted: (file: string) => boolean,
  edited: ReadonlyMap<string, string>,
  source: ResultSource,
): Promise<PlacedRun> {
  const { run, result } = placed;
  if (result === undefined) return placed;
  const files = filesWith([...result.findings, ...result.absent], isWanted);
  if (files.length === 0) return placed;
  const current = await placeFiles(run, files, { edited, seen: seenOf(files, result.seen) }, source);
  const places = new Map<Place, LocatedPlace>();
  const changed = new Set(result.changed);
  for (const [at, { file, places: reported, run: reportedBy }] of files.entries()) {
    const now = current[at];
    if (now === undefined) continue;
    for (const place of toLocatedPlaces(file, reported, now)) places.set(place.reported, place);
    if (reportedBy !== run.id) continue;
    if (now.isChanged) changed.add(file.file);
    else changed.delete(file.file);
  }
  const isMoved = (place: LocatedPlace): boolean => {
    const now = places.get(place.reported);
    return now !== undefined && !isDeepStrictEqual(now, place);
  };
  const replace = (each: PlacedFinding): PlacedFinding =>
    each.places.some(isMoved)
      ? { ...each, places: each.places.map((place) => places.get(place.reported) ?? place) }
      : each;
  return {
    ...placed,
    result: {
      ...result,
      findings: result.findings.map(replace),
      absent: result.absent.map(replace),
      changed,
      seen: keepSeen(result.seen, firstSeen(files, current)),
    },
  };
}

function filesWith(
  findings: readonly PlacedFinding[],
  isWanted: (file: string) => boolean,
): readonly PlacesOfFile[] {
  const places = findings.flatMap(({ found, places: all }) =>
    all.filter(({ file }) => isWanted(file)).map((place) => ({ run: found.run, place })),
  );
  const byFile = Map.groupBy(places, ({ run, place }) => `${run} ${fileKey(place)}`);
  return [...byFile.values()].flatMap((inFile) => {
    const [first] = inFile;
    if (first === undefined) return [];
    const { file, folder, path, target, sent } = first.place;
    const reported = inFile.map(({ place }) => place.reported);
    return [{ run: first.run, file: { file, folder, path, target, sent }, places: reported }];
  });
}

/** Only the texts of these files: the others need not be sent to the worker. */
function seenOf(files: readonly PlacesOfFile[], seen: KnownTexts['seen']): KnownTexts['seen'] {
  const keys = new Set(files.map(({ run, file }) => seenKey(run, file.file)));
  return new Map([...seen].filter(([key]) => keys.has(key)));
}

/**
 * A run compared with another one: the difference of what they report. Why it does not report a finding is the verdict of its own result, if that has one.
 */
export function comparePlaced(placed: PlacedRun, baseline: PlacedRun): PlacedRun {
  const [{ result }, { result: before }] = [placed, baseline];
  if (result === undefined || before === undefined) return placed;
  const [now, then] = [result, before].map(({ findings }) => allNamesOf(findings.map(({ found }) => found)));
  const recorded = new Map(result.absent.map(({ found: { name, verdict } }) => [name, verdict]));
  // Runs of the service and imported files of unknown origin have no names in common.
  const isKnown = before.head.cut === undefined && isOfService(placed.run) === isOfService(baseline.run);
  const again = placed.run.workflow === 'blackbox-assessment' ? 'reportedAgain' : 'stillThere';
  const verdictOf = (found: ResultFinding): Verdict | undefined => {
    if (!namesOf(found).some((name) => then?.has(name))) return isKnown ? 'new' : undefined;
    return found.verdict === 'carriedOver' ? found.verdict : again;
  };
  const judge = (each: PlacedFinding, verdict: Verdict | undefined): PlacedFinding => ({
    ...each,
    found: { ...each.found, verdict },
  });
  return {
    ...placed,
    result: {
      ...result,
      head: {
        ...result.head,
        baseline: { id: baseline.run.id, cut: before.head.cut },
        earlier: [],
        unlisted: 0,
      },
      findings: result.findings.map((each) => judge(each, verdictOf(each.found))),
      // Beyond a cut, nothing is known to be absent.
      absent: before.findings
        .filter(({ found: { name } }) => result.head.cut === undefined && now?.has(name) === false)
        .map((each) => judge(each, recorded.get(each.found.name) ?? 'unknown')),
      owners: new Map([...before.owners, ...result.owners]),
      removed: 0,
    },
  };
}

/** A run as people decided about its findings. */
export function toShownRun(
  placed: PlacedRun,
  runs: Pick<RunStore, 'get'>,
  showFinding: ShowFinding,
): ShownRun {
  const { run: read, result, failure } = placed;
  const run = runs.get(read.id) ?? read;
  if (result === undefined) return { run, shown: [], failure };
  const { head, changed, ownersGaps, removed } = result;
  const { shown, absent } = toShownFindings(placed, runs, showFinding);
  return {
    run,
    shown,
    cut: head.cut,
    changedFiles: changed.size,
    // Settled ones are listed only if the baseline reports them.
    absent: absent.filter(
      ({ run: { id }, triage: { state } }) => id === head.baseline?.id || !isSettled(state),
    ),
    // It may have been removed.
    baseline: head.baseline && runs.get(head.baseline.id),
    baselineCut: head.baseline?.cut,
    unreadRuns: unreadOf(head).flatMap((id) => runs.get(id) ?? []),
    unlisted: removed + head.unlisted + result.absent.length - absent.length,
    ownersGaps,
  };
}

/** What a run reports, and what only earlier runs that are still here report. */
export function toShownFindings(
  { run, result, names }: PlacedRun,
  runs: Pick<RunStore, 'get'>,
  showFinding: ShowFinding,
): Record<'shown' | 'absent', readonly ShownFinding[]> {
  const toShown = (placed: PlacedFinding, of: Run): ShownFinding => {
    const main = mainPlaceOf({ finding: placed.found.finding, places: placed.places });
    return showFinding(placed, of, { owners: main && result?.owners.get(main.file), names });
  };
  const present = runs.get(run.id) ?? run;
  return {
    shown: (result?.findings ?? []).map((each) => toShown(each, present)),
    absent: (result?.absent ?? []).flatMap((each) => {
      const of = runs.get(each.found.run);
      return of === undefined ? [] : [toShown(each, of)];
    }),
  };
}

/** The number of earlier runs that are still here, and whose findings could not be read. */
export function countUnread({ result }: PlacedRun, runs: Pick<RunStore, 'get'>): number {
  return result === undefined ? 0 : unreadOf(result.head).filter((id) => runs.get(id) !== undefined).length;
}

function unreadOf(head: ResultHead): readonly string[] {
  return head.earlier.filter(({ isUnread }) => isUnread).map(({ id }) => id);
}

import { basename, dirname, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { AssessmentError } from '../errors.ts';
import { markOf } from '../files.ts';
import { atOrBelow, pathInside, pathKey } from '../paths.ts';
import type { Logger } from '../ports.ts';
import type { RunStore } from '../run/disk/runStore.ts';
import { type Failure, type Run, toFailure } from '../run/state/run.ts';
import { canShareNames } from './chooseRun.ts';
import type { Place } from './finding.ts';
import { allNamesOf, namesOf } from './identity.ts';
import { type EditorTexts, isOnDiskAsSent, type PlacesOfFile } from './place/currentPlaces.ts';
import { inSlices, memoized } from '../yieldingWork.ts';
import type { PathMapping } from './place/mappings.ts';
import { type FoundOwners, OWNERS_FILES } from './place/owners.ts';
import {
  fileKey,
  filesOf,
  type Follow,
  type PlacedFiles,
  placeFindings,
  placesOf,
  toShownPlaces,
} from './place/placement.ts';
import { askForOwners, followFiles, readResult, type ResultSource } from './result/readResult.ts';
import { isReported, type ResultFinding, type RunResult, type Verdict } from './result/result.ts';
import { readHead } from './result/resultFile.ts';
import { mainPlaceOf, type ShownFinding, type ShownPlace, type ShownRun } from './shownFinding.ts';
import type { ShowFinding } from './triage/decide.ts';
import { isSettled } from './triage/triage.ts';

/** A result with the places of its findings. `absent` has those that the run could have reported. */
interface PlacedResult extends RunResult, PlacedFiles {
  /** All names in the result. */
  readonly names: ReadonlySet<string>;
  /** Undefined until they were looked up. */
  readonly owners?: FoundOwners | undefined;
}

/** The result of a run, with the places of its findings, or why it cannot be read. It is replaced as a whole. */
export interface PlacedRun {
  /** As it was when its result was read. */
  readonly run: Run;
  readonly result: PlacedResult | undefined;
  readonly failure: Failure | undefined;
}

type PlacingSource = Omit<ResultSource, 'runs'> & {
  readonly runs: Pick<RunStore, 'all' | 'get' | 'folderOf'>;
  readonly log: Logger;
};

interface Placing {
  readonly runs: Pick<RunStore, 'get' | 'folderOf'>;
  /** By `pathKey` of a target's folder. */
  readonly mappings: Readonly<Record<string, readonly PathMapping[]>>;
  readonly texts: EditorTexts;
  readonly follow: Follow;
  /** Gets the run with the findings in the first files. */
  readonly onFirst?: ((early: PlacedRun) => void) | undefined;
  /** The other findings get no places. */
  readonly isWanted?: (found: ResultFinding) => boolean;
}

/** Reads the result of a run, and places its findings. */
export async function readPlaced(
  run: Run,
  source: PlacingSource,
  placing: Omit<Placing, 'runs' | 'follow'>,
): Promise<PlacedRun> {
  try {
    const unplaced = withoutPlaces(run, await readResult(run, source));
    if (source.memory.unsaved.has(run.id))
      source.log.warn(
        `The findings of run ${run.id} are worked out again in each window: they cannot be saved`,
      );
    return await withPlaces(unplaced, { ...placing, runs: source.runs, follow: followIn(source) });
  } catch (error) {
    return toFailedRun(run, error, source.log);
  }
}

/** A run whose findings cannot be read. */
export function toFailedRun(run: Run, error: unknown, log: Logger): PlacedRun {
  const failure = toFailure(
    error instanceof AssessmentError
      ? error
      : new AssessmentError('storage', { detail: String(error) }, { cause: error }),
  );
  log.warn(`The findings of run ${run.id} cannot be read: ${failure.kind} ${failure.detail ?? ''}`);
  return { run, result: undefined, failure };
}

/** A run whose findings have no places yet. */
export function withoutPlaces(run: Run, { head, findings, absent }: RunResult): PlacedRun {
  const names = allNamesOf([...findings, ...absent]);
  // Those that the run did not report although it could have.
  const judged = absent.filter(({ verdict }) => verdict !== undefined);
  return { run, result: { head, findings, absent: judged, names, ...nowhere }, failure: undefined };
}

const nowhere: PlacedFiles = { places: new Map(), missing: new Set(), changed: new Set() };

/** Places what a run reports, and what only earlier runs report, as far as these runs are still here. */
export async function withPlaces(
  placed: PlacedRun,
  { runs, mappings, texts, follow, onFirst, isWanted = () => true }: Placing,
): Promise<PlacedRun> {
  const { run, result } = placed;
  if (result === undefined) return placed;
  const showFirst = (some: PlacedFiles): void => {
    const findings = result.findings.filter(({ finding }) =>
      finding.places.every((each) => some.places.has(each)),
    );
    onFirst?.({ ...placed, result: { ...result, ...some, findings, absent: [] } });
  };
  const [places, missing] = [new Map<Place, ShownPlace | undefined>(), new Set<string>()];
  let { changed } = nowhere;
  // Runs report the same files.
  const isAsSent = memoized(isOnDiskAsSent, ({ file, sent }) => `${file}\0${sent?.sha256 ?? ''}`);
  for (const [id, found] of Map.groupBy(allFound(result), (each) => each.run)) {
    const isOwn = id === run.id;
    const of = isOwn ? run : runs.get(id);
    const wanted = found.filter(isWanted);
    if (of === undefined || wanted.length === 0) continue;
    const head = isOwn ? result.head : await readHead(runs.folderOf(id));
    const files = filesOf(of, runs.folderOf(id), found, head?.knowsSent ?? [], mappings);
    const there = await placeFindings(files, wanted, {
      texts,
      follow,
      isOnDiskAsSent: isAsSent,
      onFirst: isOwn && onFirst ? showFirst : undefined,
    });
    for (const path of there.missing) missing.add(path);
    for (const [each, now] of there.places) places.set(each, now);
    if (isOwn) ({ changed } = there);
  }
  return { ...placed, result: { ...result, places, missing, changed } };
}

/** Findings whose files cannot be followed are shown as reported, or stay where they were. */
function followIn(source: PlacingSource): Follow {
  return (files, texts) =>
    followFiles(files, texts, source).catch((error: unknown) => {
      source.log.warn(`Places of findings cannot be followed: ${String(error)}`);
      return [];
    });
}

/** Looks up the owners of the files of main places, unless that was done. */
export async function addOwners(placed: PlacedRun, source: PlacingSource): Promise<PlacedRun> {
  const { run, result } = placed;
  if (result === undefined || result.owners !== undefined || !(await haveOwners(run))) return placed;
  try {
    const files = allFound(result).flatMap((found) => mainFileOf(found, result) ?? []);
    return { ...placed, result: { ...result, owners: await askForOwners(new Set(files), source) } };
  } catch (error) {
    source.log.warn(`The owners of findings of run ${run.id} are unknown: ${String(error)}`);
    return placed;
  }
}

/** True if a CODEOWNERS file is in a folder of a run, or in a folder above it. */
async function haveOwners({ targets }: Run): Promise<boolean> {
  const folders = new Set<string>();
  for (const { folder } of targets)
    for (let above = folder; !folders.has(above); above = dirname(above)) folders.add(above);
  const files = [...folders].flatMap((folder) => OWNERS_FILES.map((file) => join(folder, file)));
  return (await Promise.all(files.map(markOf))).some((mark) => mark !== undefined);
}

/** The owners are looked up again if a CODEOWNERS file, or a folder that may hold it, has changed. */
export function withoutOldOwners(placed: PlacedRun, changed: ReadonlySet<string>): PlacedRun {
  const { result } = placed;
  const isOfOwners = [...changed].some((path) => ownersNames.has(basename(path)));
  return result === undefined || !isOfOwners
    ? placed
    : { ...placed, result: { ...result, owners: undefined } };
}

/** CODEOWNERS, and the names of the folders that may hold it. */
const ownersNames = new Set(OWNERS_FILES.flatMap((file) => file.split('/')));

function allFound({ findings, absent }: PlacedResult): readonly ResultFinding[] {
  return [...findings, ...absent];
}

function mainFileOf(found: ResultFinding, placed: PlacedFiles): string | undefined {
  return mainPlaceOf({ finding: found.finding, places: placesOf(found, placed) })?.file;
}

/** True if a missing file may be there now: one in a placed file's stead is placed again. */
export async function mayHaveMissing(
  { run, result }: PlacedRun,
  createdOrDeleted: ReadonlySet<string>,
): Promise<boolean> {
  if (result === undefined || createdOrDeleted.size === 0) return false;
  const isPlaced = atOrBelow(new Set([...result.places.values()].flatMap((place) => place?.file ?? [])));
  const roots = run.targets.map(({ folder }) => folder);
  const missing = [...result.missing].map(segmentsOf);
  const names = new Set(missing.flat());
  const mayBe = (path: string): boolean =>
    roots
      .flatMap((root) => pathInside(root, path) ?? [])
      .map(segmentsOf)
      .filter((there) => there.length === 0 || names.has(there.at(-1) ?? ''))
      .some((there) => missing.some((wanted) => mayHold(there, wanted)));
  function* search(): Generator<undefined, boolean> {
    for (const path of createdOrDeleted) {
      if (!isPlaced(path) && mayBe(path)) return true;
      yield;
    }
    return false;
  }
  return inSlices(search());
}

/** True if a file or folder may be part of a missing path: one path ends like the other, or the folder is on its way. */
function mayHold(there: readonly string[], wanted: readonly string[]): boolean {
  const end = wanted.slice(-there.length);
  const isEnd = there.slice(-end.length).join('/') === end.join('/');
  return isEnd || wanted.join('/').includes(`${there.join('/')}/`);
}

/** Whether a file is missing may depend on its letter case. */
function segmentsOf(path: string): readonly string[] {
  return path
    .normalize('NFC')
    .toLowerCase()
    .split(/[\\/]/)
    .filter((segment) => segment !== '');
}

/** Places findings by the present text of files. The run itself if it has none in these. What editors have changed meanwhile comes with the next request. */
export async function placeAgain(
  placed: PlacedRun,
  isWanted: (file: string) => boolean,
  textsNow: () => EditorTexts,
  source: PlacingSource,
): Promise<PlacedRun> {
  const { run, result } = placed;
  if (result === undefined) return placed;
  const files = filesWith(result, isWanted);
  if (files.length === 0) return placed;
  const texts = textsNow();
  const current = await followIn(source)(files, texts);
  const later = textsNow();
  const places = new Map(result.places);
  const changed = new Set(result.changed);
  for (const [at, { file, places: reported, run: reportedBy }] of files.entries()) {
    const now = current[at];
    const key = pathKey(file.file);
    if (now === undefined || later.edited.get(key) !== texts.edited.get(key)) continue;
    for (const [place, there] of toShownPlaces(file, reported, now))
      if (!isDeepStrictEqual(there, places.get(place))) places.set(place, there);
    if (reportedBy !== run.id) continue;
    if (now.isChanged) changed.add(file.file);
    else changed.delete(file.file);
  }
  return { ...placed, result: { ...result, places, changed } };
}

function filesWith(result: PlacedResult, isWanted: (file: string) => boolean): readonly PlacesOfFile[] {
  const all = allFound(result).flatMap((found) =>
    placesOf(found, result)
      .filter(({ file }) => isWanted(file))
      .map((place) => ({ run: found.run, place })),
  );
  const byFile = Map.groupBy(all, ({ run, place }) => `${run} ${fileKey(place)}`);
  return [...byFile.values()].flatMap((inFile) => {
    const [first] = inFile;
    if (first === undefined) return [];
    const { file, folder, path, target, sent } = first.place;
    const reported: readonly Place[] = inFile.map(({ place }) => place.reported);
    return [{ run: first.run, file: { file, folder, path, target, sent }, places: reported }];
  });
}

/**
 * A run compared with another one: the difference of what they report. Why it does not report a finding is the verdict of its own result, if that has one.
 */
export function comparePlaced(placed: PlacedRun, baseline: PlacedRun): PlacedRun {
  const [{ result }, { result: before }] = [placed, baseline];
  if (result === undefined || before === undefined) return placed;
  const [now, then] = [allNamesOf(result.findings), allNamesOf(before.findings)];
  const recorded = new Map(result.absent.map(({ name, verdict }) => [name, verdict]));
  const isKnown = before.head.cut === undefined && canShareNames(placed.run, baseline.run);
  const again = placed.run.workflow === 'blackbox-assessment' ? 'reportedAgain' : 'stillThere';
  const verdictOf = (found: ResultFinding): Verdict | undefined => {
    if (!namesOf(found).some((name) => then.has(name))) return isKnown ? 'new' : undefined;
    return found.verdict === 'carriedOver' ? found.verdict : again;
  };
  // Beyond a cut, nothing is known to be absent.
  const absent = result.head.cut === undefined ? before.findings.filter(({ name }) => !now.has(name)) : [];
  const owners = new Map([...(before.owners?.owners ?? []), ...(result.owners?.owners ?? [])]);
  return {
    ...placed,
    result: {
      ...result,
      head: {
        ...result.head,
        baseline: { id: baseline.run.id, cut: before.head.cut },
        skipped: [],
        unlisted: 0,
      },
      findings: result.findings.map((each) => ({ ...each, verdict: verdictOf(each) })),
      absent: absent.map((each) => ({ ...each, verdict: recorded.get(each.name) ?? 'unknown' })),
      places: new Map<Place, ShownPlace | undefined>([...before.places, ...result.places]),
      owners: { owners, ownersGaps: result.owners?.ownersGaps ?? [] },
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
  const { head, changed, owners } = result;
  const all = [...shownFindings(placed, runs, showFinding)];
  const [shown, absent] = [true, false].map((isWanted) =>
    all.filter(({ verdict }) => isReported(verdict) === isWanted),
  );
  return {
    run,
    shown: shown ?? [],
    cut: head.cut,
    changedFiles: changed.size,
    // Settled ones are listed only if the baseline reports them.
    absent: absent?.filter(
      ({ run: { id }, triage: { state } }) => id === head.baseline?.id || !isSettled(state),
    ),
    // It may have been removed.
    baseline: head.baseline && runs.get(head.baseline.id),
    baselineCut: head.baseline?.cut,
    unreadRuns: head.skipped.flatMap(({ id }) => runs.get(id) ?? []),
    unlisted: head.unlisted + allFound(result).length - all.length,
    ownersGaps: owners?.ownersGaps ?? [],
  };
}

/** What a run reports, and what only earlier runs that are still here report. */
export function* shownFindings(
  { run, result }: PlacedRun,
  runs: Pick<RunStore, 'get'>,
  showFinding: ShowFinding,
): Generator<ShownFinding, void> {
  if (result === undefined) return;
  for (const found of allFound(result)) {
    const of = runs.get(found.run) ?? (found.run === run.id ? run : undefined);
    if (of === undefined) continue;
    const places = placesOf(found, result);
    const main = mainPlaceOf({ finding: found.finding, places });
    const owners = main && result.owners?.owners.get(main.file);
    yield showFinding(found, of, { places, owners, names: result.names });
  }
}

import { basename, dirname, join } from 'node:path';
import { AssessmentError, isAbortError } from '../errors.ts';
import { markOf } from '../files.ts';
import { atOrBelow, pathInside } from '../paths.ts';
import type { Logger } from '../ports.ts';
import type { RunStore } from '../run/disk/runStore.ts';
import { type Failure, type Run, toFailure } from '../run/state/run.ts';
import { canShareNames } from './chooseRun.ts';
import type { Place } from './finding.ts';
import { allNamesOf, namesOf } from './identity.ts';
import { type FolderCalls, inSlices } from '../yieldingWork.ts';
import type { PathMapping } from './place/mappings.ts';
import { type FoundOwners, OWNERS_FILES } from './place/owners.ts';
import {
  findingsOfRun,
  type Follow,
  type PlacedFiles,
  placeFindings,
  type PlaceOptions,
  placesOf,
} from './place/placement.ts';
import { askForOwners, followFiles, readResult, type ResultSource } from './result/readResult.ts';
import { isReported, type ResultFinding, type RunResult, type Verdict } from './result/result.ts';
import { readHead } from './result/resultFile.ts';
import { mainPlaceOf, type ShownFinding, type ShownPlace, type ShownRun } from './shownFinding.ts';
import type { ShowFinding } from './triage/decide.ts';
import { isSettled } from './triage/triage.ts';

/** A result with the places of its findings. `absent` has those that the run could have reported. */
interface PlacedResult extends RunResult, PlacedFiles {
  readonly names: ReadonlySet<string>;
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
  readonly calls: Pick<FolderCalls, 'ask'>;
  readonly log: Logger;
};

interface Placing extends Omit<PlaceOptions, 'onFirst'> {
  readonly runs: Pick<RunStore, 'get' | 'folderOf'>;
  /** By `pathKey` of a target's folder. */
  readonly mappings: Readonly<Record<string, readonly PathMapping[]>>;
  /** Gets the run with the findings in the first files. */
  readonly onFirst?: ((early: PlacedRun) => void) | undefined;
}

export async function readPlaced(
  run: Run,
  source: PlacingSource,
  placing: Omit<Placing, 'runs' | 'calls' | 'follow'>,
  signal?: AbortSignal,
): Promise<PlacedRun> {
  try {
    const unplaced = withoutPlaces(run, await readResult(run, source, signal));
    if (source.memory.unsaved.has(run.id))
      source.log.warn(
        `The findings of run ${run.id} are worked out again in each window: they cannot be saved`,
      );
    return await withPlaces(unplaced, { ...placing, ...disk(source) });
  } catch (error) {
    if (isAbortError(error)) throw error;
    return toFailedRun(run, error, source.log);
  }
}

export function toFailedRun(run: Run, error: unknown, log: Logger): PlacedRun {
  const failure = toFailure(
    error instanceof AssessmentError
      ? error
      : new AssessmentError('storage', { detail: String(error) }, { cause: error }),
  );
  log.warn(`The findings of run ${run.id} cannot be read: ${failure.kind} ${failure.detail ?? ''}`);
  return { run, result: undefined, failure };
}

export function withoutPlaces(run: Run, { head, findings, absent }: RunResult): PlacedRun {
  const names = allNamesOf([...findings, ...absent]);
  // Those that the run did not report although it could have.
  const judged = absent.filter(({ verdict }) => verdict !== undefined);
  return { run, result: { head, findings, absent: judged, names, ...nowhere }, failure: undefined };
}

const nowhere: PlacedFiles = { places: new Map(), missing: new Set() };

/** Places what a run reports, and what only earlier runs report, as far as these runs are still here. */
export async function withPlaces(
  placed: PlacedRun,
  { runs, mappings, onFirst, isWanted = () => true, ...options }: Placing,
): Promise<PlacedRun> {
  const { run, result } = placed;
  if (result === undefined) return placed;
  const byRun = [...Map.groupBy(allFound(result), (each) => each.run)].map(async ([id, found]) => {
    const of = id === run.id ? run : runs.get(id);
    if (of === undefined || !found.some(({ finding }) => finding.places.some(isWanted))) return [];
    const folder = runs.folderOf(id);
    const head = id === run.id ? result.head : await readHead(folder);
    return [findingsOfRun(of, folder, found, head?.knowsSent ?? [], mappings, options.calls)];
  });
  const showFirst = (some: PlacedFiles): void => {
    const isPlaced = ({ finding }: ResultFinding): boolean =>
      finding.places.every((each) => some.places.has(each));
    const findings = result.findings.filter(isPlaced);
    onFirst?.({ ...placed, result: { ...result, ...some, findings, absent: [] } });
  };
  const found = (await Promise.all(byRun)).flat();
  const there = await placeFindings(found, result, { ...options, isWanted, onFirst: onFirst && showFirst });
  return { ...placed, result: { ...result, ...there } };
}

function disk(source: PlacingSource): Pick<Placing, 'runs' | 'calls' | 'follow'> {
  /** Findings whose files cannot be followed are shown as reported, or stay where they were. */
  const follow: Follow = (files, texts) =>
    followFiles(files, texts, source).catch((error: unknown) => {
      source.log.warn(`Places of findings cannot be followed: ${String(error)}`);
      return [];
    });
  return { runs: source.runs, calls: source.calls, follow };
}

/** Looks up the owners of the files of main places, unless that was done and no CODEOWNERS file, or folder that may hold it, has `changed` since. */
export async function addOwners(
  placed: PlacedRun,
  source: PlacingSource,
  changed: ReadonlySet<string> = new Set(),
): Promise<PlacedRun> {
  const { run, result } = placed;
  const areOld = [...changed].some((path) => ownersNames.has(basename(path)));
  if (result === undefined || (result.owners !== undefined && !areOld)) return placed;
  try {
    const files = allFound(result).flatMap((found) => mainFileOf(found, result) ?? []);
    const owners = (await haveOwners(run, source)) ? await askForOwners(new Set(files), source) : noOwners;
    return { ...placed, result: { ...result, owners } };
  } catch (error) {
    source.log.warn(`The owners of findings of run ${run.id} are unknown: ${String(error)}`);
    return { ...placed, result: { ...result, owners: noOwners } };
  }
}

const noOwners: FoundOwners = { owners: new Map(), ownersGaps: [] };

/** CODEOWNERS, and the names of the folders that may hold it. */
const ownersNames = new Set(OWNERS_FILES.flatMap((file) => file.split('/')));

/** True if a CODEOWNERS file is in a folder of a run, or in a folder above it. */
async function haveOwners({ targets }: Run, { calls }: PlacingSource): Promise<boolean> {
  const asked = new Set<string>();
  const isIn = async (folder: string): Promise<boolean> => {
    for (let above = folder; !asked.has(above); above = dirname(above)) {
      asked.add(above);
      for (const file of OWNERS_FILES) if ((await markOf(join(above, file))) !== undefined) return true;
    }
    return false;
  };
  for (const { folder } of targets) if (await calls.ask(folder, () => isIn(folder))) return true;
  return false;
}

function allFound({ findings, absent }: PlacedResult): readonly ResultFinding[] {
  return [...findings, ...absent];
}

function mainFileOf(found: ResultFinding, placed: PlacedFiles): string | undefined {
  return mainPlaceOf({ finding: found.finding, places: placesOf(found, placed) })?.file;
}

/** True if one of these paths may be a missing file, or a part of its path. Those of placed files are left to `placeAgain`. */
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

/** Places again what is in some files. The run itself if nothing is. */
export async function placeAgain(
  placed: PlacedRun,
  isIn: (file: string) => boolean,
  source: PlacingSource,
  placing: Omit<Placing, 'runs' | 'calls' | 'follow'>,
): Promise<PlacedRun> {
  const { places } = placed.result ?? nowhere;
  const all = new Set(Array.from(places.values(), (now) => now?.file ?? ''));
  const files = new Set([...all].filter(isIn));
  const wanted = new Set<Place>();
  for (const [place, now] of places) if (now && files.has(now.file)) wanted.add(place);
  const isWanted = (place: Place): boolean => wanted.has(place);
  return wanted.size > 0 ? withPlaces(placed, { ...placing, ...disk(source), isWanted }) : placed;
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

export function toShownRun(
  placed: PlacedRun,
  runs: Pick<RunStore, 'get'>,
  showFinding: ShowFinding,
): ShownRun {
  const { run: read, result, failure } = placed;
  const run = runs.get(read.id) ?? read;
  if (result === undefined) return { run, shown: [], failure };
  const { head, owners } = result;
  const all = [...shownFindings(placed, runs, showFinding)];
  const [shown, absent] = [true, false].map((isWanted) =>
    all.filter(({ verdict }) => isReported(verdict) === isWanted),
  );
  const changedFiles = new Set<string>();
  for (const { places } of shown ?? [])
    for (const { file, isChanged } of places) if (isChanged === true) changedFiles.add(file);
  return {
    run,
    shown: shown ?? [],
    cut: head.cut,
    changedFiles: changedFiles.size,
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

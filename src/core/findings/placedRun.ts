import { basename, dirname, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { AssessmentError } from '../errors.ts';
import { markOf } from '../files.ts';
import { atOrBelow, pathInside } from '../paths.ts';
import type { Logger } from '../ports.ts';
import type { RunStore } from '../run/disk/runStore.ts';
import { type Failure, type Run, toFailure } from '../run/state/run.ts';
import { isOfService } from './chooseRun.ts';
import type { Place } from './finding.ts';
import { allNamesOf, namesOf } from './identity.ts';
import type { EditorTexts, PlacesOfFile } from './place/currentPlaces.ts';
import type { PathMapping } from './place/mappings.ts';
import { type FoundOwners, OWNERS_FILES } from './place/owners.ts';
import {
  fileKey,
  filesOf,
  type LocatedPlace,
  type PlacedFiles,
  type PlacedFinding,
  placeFindings,
  toLocatedPlaces,
} from './place/placement.ts';
import { askForOwners, followFiles, readResult, type ResultSource } from './result/readResult.ts';
import type { ResultFinding, ResultHead, RunResult, Verdict } from './result/result.ts';
import { mainPlaceOf, type ShownFinding, type ShownRun } from './shownFinding.ts';
import type { ShowFinding } from './triage/decide.ts';
import { isSettled } from './triage/triage.ts';

/** A result with the places of its findings. */
export interface PlacedResult extends PlacedFiles, FoundOwners {
  readonly head: ResultHead;
  /** Findings that only earlier runs report. */
  readonly absent: readonly PlacedFinding[];
  /** True once owners were looked up. */
  readonly hasOwners: boolean;
  /** How many findings of removed runs are not reported. */
  readonly removed: number;
}

/** The result of a run, with the places of its findings, or why it cannot be read. It is replaced as a whole. */
export interface PlacedRun {
  /** As it was when its result was read. */
  readonly run: Run;
  readonly result: PlacedResult | undefined;
  /** All names in the result, once it is complete. */
  readonly names?: ReadonlySet<string> | undefined;
  readonly failure: Failure | undefined;
}

type PlacingSource = Omit<ResultSource, 'runs'> & {
  readonly runs: Pick<RunStore, 'all' | 'get' | 'folderOf'>;
  readonly log: Logger;
};

interface Placing {
  /** By `pathKey` of a target's folder. */
  readonly mappings: Readonly<Record<string, readonly PathMapping[]>>;
  readonly texts: EditorTexts;
  /** Gets the run with the findings in the first files if others follow. */
  readonly onSome?: ((early: PlacedRun) => void) | undefined;
}

/** Reads the result of a run, and places its findings. */
export async function readPlaced(run: Run, source: PlacingSource, placing: Placing): Promise<PlacedRun> {
  try {
    const read = await readResult(run, source);
    if (source.memory.get(run.id)?.result)
      source.log.warn(
        `The findings of run ${run.id} are worked out again in each window: they cannot be saved`,
      );
    const result = await placeResult(run, read, source, placing);
    const names = allNamesOf([...result.findings, ...result.absent].map(({ found }) => found));
    return { run, result, names, failure: undefined };
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

const noFacts = { removed: 0, hasOwners: false, owners: new Map(), ownersGaps: [] } as const;

/** A result whose findings have no places yet. */
export function withoutPlaces(run: Run, { head, findings, absent }: RunResult): PlacedRun {
  const toPlaced = (found: ResultFinding): PlacedFinding => ({ found, places: [], evidence: found.evidence });
  const result: PlacedResult = {
    ...noFacts,
    head,
    findings: findings.map(toPlaced),
    absent: judgedOf(absent).map(toPlaced),
    missing: new Set(),
    changed: new Set(),
  };
  return { run, result, names: allNamesOf([...findings, ...absent]), failure: undefined };
}

/** Those that a run did not report although it could have. */
function judgedOf(absent: readonly ResultFinding[]): readonly ResultFinding[] {
  return absent.filter(({ verdict }) => verdict !== undefined);
}

/** Places what a result reports, and what only earlier runs report, as far as these runs are still here. */
async function placeResult(
  run: Run,
  { head, findings, absent }: RunResult,
  source: PlacingSource,
  { mappings, texts, onSome }: Placing,
): Promise<PlacedResult> {
  const facts = { ...noFacts, head, absent: [] };
  const place = (of: Run, found: readonly ResultFinding[]): Promise<PlacedFiles> => {
    const files = filesOf(of, source.runs.folderOf(of.id), found, mappings);
    return placeFindings(files, found, {
      texts,
      // Findings whose files cannot be followed are shown as reported.
      follow: (some, now) =>
        followFiles(some, now, source).catch((error: unknown) => {
          source.log.warn(`Places of run ${of.id} cannot be followed: ${String(error)}`);
          return [];
        }),
      onSome:
        of.id === run.id && onSome
          ? (some) => onSome({ run, result: { ...facts, ...some }, failure: undefined })
          : undefined,
    });
  };
  const placed = await place(run, findings);
  const missing = new Set(placed.missing);
  const placedAbsent: PlacedFinding[] = [];
  let removed = 0;
  for (const [id, found] of Map.groupBy(judgedOf(absent), (each) => each.run)) {
    const earlier = source.runs.get(id);
    if (earlier === undefined) removed += found.length;
    else {
      const there = await place(earlier, found);
      for (const path of there.missing) missing.add(path);
      placedAbsent.push(...there.findings);
    }
  }
  return { ...facts, ...placed, absent: placedAbsent, missing, removed };
}

/** Looks up the owners of the files of main places, unless that was done. */
export async function addOwners(placed: PlacedRun, source: PlacingSource): Promise<PlacedRun> {
  const { run, result } = placed;
  if (result === undefined || result.hasOwners || !(await haveOwners(run))) return placed;
  try {
    const found = await askForOwners(mainFilesOf(result), source);
    return { ...placed, result: { ...result, ...found, hasOwners: true } };
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

function mainFilesOf(result: PlacedResult): ReadonlySet<string> {
  const files = new Set<string>();
  for (const { found, places } of [...result.findings, ...result.absent]) {
    const main = mainPlaceOf({ finding: found.finding, places });
    if (main !== undefined) files.add(main.file);
  }
  return files;
}

/** True if a missing file may be there now, or if owners may have changed. */
export function mustReadAgain(
  { run, result }: PlacedRun,
  changed: ReadonlySet<string>,
  createdOrDeleted: ReadonlySet<string>,
): boolean {
  if (result === undefined) return false;
  const ofOwners = [...changed, ...createdOrDeleted].filter((path) => ownersNames.has(basename(path)));
  if (createdOrDeleted.size === 0 && ofOwners.length === 0) return false;
  const files = new Set(allPlaces(result).map(({ file }) => file));
  const isPlaced = atOrBelow(files);
  const roots = new Set(run.targets.map(({ folder }) => folder));
  return (
    [...createdOrDeleted].some((path) => !isPlaced(path) && mayHoldMissing(path, roots, result.missing)) ||
    // A CODEOWNERS file is in the folder whose files it covers, or in a folder there.
    ofOwners.some((path) => [...files].some(atOrBelow([dirname(dirname(path))])))
  );
}

/** True if a file or folder in one of the roots may be part of a missing path: one path ends like the other, or the folder is on its way. */
function mayHoldMissing(path: string, roots: ReadonlySet<string>, missing: ReadonlySet<string>): boolean {
  const inside = [...roots].flatMap((root) => pathInside(root, path) ?? []).map(segmentsOf);
  return [...missing].map(segmentsOf).some((wanted) =>
    inside.some((there) => {
      const end = wanted.slice(-there.length);
      const isEnd = there.slice(-end.length).join('/') === end.join('/');
      return isEnd || wanted.join('/').includes(`${there.join('/')}/`);
    }),
  );
}

/** Whether a file is missing may depend on its letter case. */
function segmentsOf(path: string): readonly string[] {
  return path
    .normalize('NFC')
    .toLowerCase()
    .split(/[\\/]/)
    .filter((segment) => segment !== '');
}

/** CODEOWNERS, and the names of the folders that may hold it. */
const ownersNames = new Set(OWNERS_FILES.flatMap((file) => file.split('/')));

function allPlaces({ findings, absent }: PlacedResult): readonly LocatedPlace[] {
  return [...findings, ...absent].flatMap(({ places }) => places);
}

/** Places findings by the present text of files. The run itself if it has none in these, or if nothing has moved. */
export async function placeAgain(
  placed: PlacedRun,
  isWanted: (file: string) => boolean,
  texts: EditorTexts,
  source: PlacingSource,
): Promise<PlacedRun> {
  const { run, result } = placed;
  if (result === undefined) return placed;
  const files = filesWith([...result.findings, ...result.absent], isWanted);
  if (files.length === 0) return placed;
  const current = await followFiles(files, texts, source).catch((error: unknown) => {
    source.log.warn(`The findings of run ${run.id} could not be placed again: ${String(error)}`);
    return [];
  });
  const places = new Map<Place, LocatedPlace>();
  const changed = new Set(result.changed);
  for (const [at, { file, places: reported, run: reportedBy }] of files.entries()) {
    const now = current[at];
    if (now === undefined) continue;
    for (const [place, located] of toLocatedPlaces(file, reported, now)) places.set(place, located);
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
  const [findings, absent] = [result.findings.map(replace), result.absent.map(replace)];
  return { ...placed, result: { ...result, findings, absent, changed } };
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
        skipped: [],
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
    unreadRuns: head.skipped.flatMap(({ id }) => runs.get(id) ?? []),
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

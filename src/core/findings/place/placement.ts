import { pathKey } from '../../paths.ts';
import type { Run } from '../../run/state/run.ts';
import { inParallel, once } from '../../yieldingWork.ts';
import type { Place } from '../finding.ts';
import type { ResultFinding } from '../result/result.ts';
import type { ShownPlace } from '../shownFinding.ts';
import {
  asReported,
  type CurrentPlaces,
  keepSeen,
  type KnownTexts,
  type LocatedFile,
  placesInFile,
  placesInUnchanged,
  type PlacesOfFile,
  seenKey,
  type SeenText,
  type TextSource,
} from './currentPlaces.ts';
import { asPlaced, type EvidenceOfPlaces } from './evidence.ts';
import type { PathMapping } from './mappings.ts';
import { createResolver, type Resolver } from './resolver.ts';
import { knowsSent, readSentFiles, type SentSpot } from './sentFiles.ts';

export type LocatedPlace = ShownPlace & LocatedFile;

/** A finding of a result, where it is now. */
export interface PlacedFinding {
  readonly found: ResultFinding;
  /** Those of its places that have a file on this machine, in their order. */
  readonly places: readonly LocatedPlace[];
  readonly evidence: EvidenceOfPlaces | undefined;
}

/** A run with the files that its findings point at. */
interface RunFiles {
  readonly run: Run;
  readonly runFolder: string;
  readonly resolver: Resolver;
}

/** `found` has all findings of the run that are shown: their paths may have a prefix in common. `mappings` are by `pathKey` of a target's folder. */
export function filesOf(
  run: Run,
  runFolder: string,
  found: readonly ResultFinding[],
  mappings: Readonly<Record<string, readonly PathMapping[]>>,
): RunFiles {
  // Sent files are in the result: none is searched for here.
  const sent = knowsSent(run, runFolder).map((isKnown) => (isKnown ? new Map<string, unknown>() : undefined));
  const places = found.flatMap(({ finding }) => finding.places);
  const mappingOf = (folder: string): readonly PathMapping[] => mappings[pathKey(folder)] ?? [];
  return { run, runFolder, resolver: createResolver({ targets: run.targets, sent, places, mappingOf }) };
}

/** A place of a finding. `spot` is its sent file, if that is known. */
interface SpotPlace {
  readonly place: Place;
  readonly spot: SentSpot | undefined;
}

type Locate = (place: SpotPlace) => Promise<LocatedFile | undefined>;

export const filesAtOnce = 32;

/** Finds the file of a place. If there is none, adds the names in its path to `missing`. */
function locateIn({ run: { targets }, runFolder, resolver }: RunFiles, missing: Set<string>): Locate {
  // Only a mapping leads to another sent file than the result names.
  const sentOfTarget = targets.map((_, target) => once(() => readSentFiles(runFolder, target)));
  return async ({ place, spot }) => {
    const known = spot && { target: spot.target, path: spot.file.path };
    const found = await resolver.locate(place, known);
    if (found.kind === 'file') {
      const { absolute: file, target, path } = found;
      const isSpot = target === known?.target && path === known.path;
      const sent = isSpot ? spot?.file : (await sentOfTarget[target]?.())?.get(path);
      return { file, folder: targets[target]?.folder ?? '', target, path, sent };
    }
    const paths = spot === undefined ? [place.path] : [place.path, spot.file.path];
    for (const name of paths.flatMap((path) => path.split(/[\\/]/))) missing.add(name);
    return undefined;
  };
}

/** Equal keys mean one file, except that a reported path can be in several targets. */
function spotKey({ place, spot }: SpotPlace): string {
  return spot === undefined ? place.path : `${String(spot.target)}\0${spot.file.path}`;
}

function* groupsOf<T>(items: readonly T[], size: number): Generator<readonly T[], void> {
  for (let start = 0; start < items.length; start += size) yield items.slice(start, start + size);
}

/** What is known of a run once its findings are placed. */
export interface PlacedFiles {
  /** The names of missing files that findings point at, and of their folders. */
  readonly missing: ReadonlySet<string>;
  /** Files (absolute) that findings point at and whose text differs from the one that was scanned. */
  readonly changed: ReadonlySet<string>;
  /** Texts to be given to the next placement, with those that were known. */
  readonly seen: KnownTexts['seen'];
}

/**
 * Places findings of a run in the current text of their files or, without a source of texts, as they were reported. `onPlaced` gets them as they become
 * known: those in unchanged files come first.
 */
export async function placeFindings(
  files: RunFiles,
  found: readonly ResultFinding[],
  source: TextSource | undefined,
  onPlaced: (placed: readonly PlacedFinding[]) => Promise<void>,
): Promise<PlacedFiles> {
  const missing = new Set<string>();
  const locate = locateIn(files, missing);
  const placed = new PlaceCollector(found);
  const changed = new Set<string>();
  let seen = source?.seen ?? new Map<string, SeenText>();
  const report = (): Promise<void> => onPlaced(placed.takeComplete());
  const add = ({ file, places }: PlacesOfFile, current: CurrentPlaces): void => {
    if (current.isChanged) changed.add(file.file);
    placed.add(places, toLocatedPlaces(file, places, current));
  };
  const others: PlacesOfFile[] = [];
  const look = async (each: PlacesOfFile): Promise<void> => {
    const current = source === undefined ? asReported(each.places) : await placesInUnchanged(each, source);
    if (current === undefined) others.push(each);
    else add(each, current);
  };
  const places = found.flatMap(({ finding, sent }) =>
    finding.places.map((place, at) => ({ place, spot: sent[at] })),
  );
  for (const some of groupsOf([...Map.groupBy(places, spotKey).values()], filesAtOnce)) {
    const located = new Map<Place, LocatedFile>();
    await inParallel(some.flat(), filesAtOnce, async (each) => {
      const file = await locate(each);
      if (file === undefined) placed.add([each.place], []);
      else located.set(each.place, file);
    });
    await inParallel(placesByFile(files.run.id, located), filesAtOnce, look);
    await report();
  }
  if (source !== undefined)
    for (const some of groupsOf(others, filesAtOnce)) {
      const current = await Promise.all(some.map((each) => placesInFile(each, source)));
      for (const [at, each] of some.entries()) if (current[at] !== undefined) add(each, current[at]);
      seen = keepSeen(seen, firstSeen(some, current));
      await report();
    }
  await report();
  return { missing, changed, seen };
}

/** Collects places, and tells which findings have all of theirs. */
class PlaceCollector {
  readonly #places = new Map<Place, LocatedPlace>();
  readonly #findingOf: ReadonlyMap<Place, ResultFinding>;
  /** By finding, the number of places that are still to come. */
  readonly #open: Map<ResultFinding, number>;
  #complete: ResultFinding[];

  constructor(found: readonly ResultFinding[]) {
    this.#findingOf = new Map(
      found.flatMap((each) => each.finding.places.map((place) => [place, each] as const)),
    );
    this.#open = new Map(found.map((each) => [each, each.finding.places.length]));
    this.#complete = found.filter(({ finding }) => finding.places.length === 0);
  }

  /** These places are known; `located` are those with a file. */
  add(places: readonly Place[], located: readonly LocatedPlace[]): void {
    for (const place of located) this.#places.set(place.reported, place);
    for (const place of places) {
      const found = this.#findingOf.get(place);
      if (found === undefined) continue;
      const open = (this.#open.get(found) ?? 0) - 1;
      this.#open.set(found, open);
      if (open === 0) this.#complete.push(found);
    }
  }

  /** Findings that have become complete since the last call. */
  takeComplete(): readonly PlacedFinding[] {
    const complete = this.#complete;
    this.#complete = [];
    return complete.map((each) => toPlaced(each, this.#places));
  }
}

/** The texts of files that are seen for the first time. */
export function* firstSeen(
  files: readonly PlacesOfFile[],
  current: readonly CurrentPlaces[],
): Generator<readonly [string, SeenText], void> {
  for (const [at, { run, file }] of files.entries()) {
    const seen = current[at]?.seen;
    if (seen !== undefined) yield [seenKey(run, file.file), seen];
  }
}

function placesByFile(run: string, files: ReadonlyMap<Place, LocatedFile>): readonly PlacesOfFile[] {
  return [...Map.groupBy(files, ([, file]) => fileKey(file)).values()].flatMap((entries) => {
    const [[, file] = []] = entries;
    return file === undefined ? [] : [{ run, file, places: entries.map(([place]) => place) }];
  });
}

/** One file may lie in two targets, of which one is in the other. */
export function fileKey({ target, path, file }: LocatedFile): string {
  return [target, path, file].join('\0');
}

/** The reported places of a file, as they are in its current text. */
export function toLocatedPlaces(
  file: LocatedFile,
  reported: readonly Place[],
  { ranges }: Pick<CurrentPlaces, 'ranges'>,
): readonly LocatedPlace[] {
  return ranges.flatMap((range, at) => {
    const place = reported[at];
    return place === undefined ? [] : [{ ...file, ...range, reported: place }];
  });
}

function toPlaced(found: ResultFinding, places: ReadonlyMap<Place, LocatedPlace>): PlacedFinding {
  const { finding, evidence } = found;
  const isHere = (at: number): boolean => {
    const place = finding.places[at];
    return place !== undefined && places.has(place);
  };
  return {
    found,
    places: finding.places.flatMap((place) => places.get(place) ?? []),
    evidence: asPlaced(evidence, isHere),
  };
}

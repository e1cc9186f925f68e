import { pathKey } from '../../paths.ts';
import type { Run } from '../../run/state/run.ts';
import { once } from '../../yieldingWork.ts';
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
import { knowsSent, readSentFiles } from './sentFiles.ts';

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

interface LocatedPlaces {
  readonly files: ReadonlyMap<Place, LocatedFile>;
  /** The names of files that are missing, and of the folders on the way to them. They may be created later. */
  readonly missing: ReadonlySet<string>;
}

const placesAtOnce = 100;
export const filesAtOnce = 32;

/** Finds the files that the places of a run's findings are in. */
async function locateFindings(
  { run: { targets }, runFolder, resolver }: RunFiles,
  findings: readonly ResultFinding[],
): Promise<LocatedPlaces> {
  // Only a mapping leads to another sent file than the result names.
  const sentOfTarget = targets.map((_, target) => once(() => readSentFiles(runFolder, target)));
  const files = new Map<Place, LocatedFile>();
  const missing = new Set<string>();
  const places = findings.flatMap(({ finding, sent }) =>
    finding.places.map((place, at) => ({ place, spot: sent[at] })),
  );
  for (const some of groupsOf(places, placesAtOnce))
    await Promise.all(
      some.map(async ({ place, spot }) => {
        const known = spot && { target: spot.target, path: spot.file.path };
        const found = await resolver.locate(place, known);
        if (found.kind === 'file') {
          const { absolute: file, target, path } = found;
          const isSpot = target === known?.target && path === known.path;
          const sent = isSpot ? spot?.file : (await sentOfTarget[target]?.())?.get(path);
          files.set(place, { file, folder: targets[target]?.folder ?? '', target, path, sent });
          return;
        }
        const paths = spot === undefined ? [place.path] : [place.path, spot.file.path];
        for (const name of paths.flatMap((path) => path.split(/[\\/]/))) missing.add(name);
      }),
    );
  return { files, missing };
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
  const located = await locateFindings(files, found);
  const places = new Map<Place, LocatedPlace>();
  const changed = new Set<string>();
  let seen = source?.seen ?? new Map<string, SeenText>();
  let waiting = found;
  const report = async (): Promise<void> => {
    const isKnown = (place: Place): boolean => places.has(place) || !located.files.has(place);
    const byKnown = Map.groupBy(waiting, ({ finding }) => finding.places.every(isKnown));
    waiting = byKnown.get(false) ?? [];
    await onPlaced((byKnown.get(true) ?? []).map((each) => toPlaced(each, places)));
  };
  const add = ({ file, places: reported }: PlacesOfFile, current: CurrentPlaces): void => {
    if (current.isChanged) changed.add(file.file);
    for (const place of toLocatedPlaces(file, reported, current)) places.set(place.reported, place);
  };
  const others: PlacesOfFile[] = [];
  for (const some of groupsOf(placesByFile(files.run.id, located.files), filesAtOnce)) {
    const look = async (each: PlacesOfFile): Promise<void> => {
      const current = source === undefined ? asReported(each.places) : await placesInUnchanged(each, source);
      if (current === undefined) others.push(each);
      else add(each, current);
    };
    await Promise.all(some.map(look));
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
  return { missing: located.missing, changed, seen };
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

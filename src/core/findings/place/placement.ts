import { AssessmentError } from '../../errors.ts';
import { pathKey } from '../../paths.ts';
import type { Clock } from '../../ports.ts';
import type { Run } from '../../run/state/run.ts';
import { answerOf, inParallel, once } from '../../yieldingWork.ts';
import type { Place } from '../finding.ts';
import type { ResultFinding } from '../result/result.ts';
import type { ShownPlace } from '../shownFinding.ts';
import {
  asReported,
  type CurrentPlaces,
  type EditorTexts,
  type LocatedFile,
  type PlacesOfFile,
} from './currentPlaces.ts';
import type { PathMapping } from './mappings.ts';
import { createResolver, type Resolver } from './resolver.ts';
import { readSentFiles, type SentFile } from './sentFiles.ts';

/*
 * Finds where the places of a run's findings are now, on the extension host: a file with the bytes that were sent needs no worker, since places have their
 * lines in the sent text. Files in editors come first, then the others, a few at a time. Those that differ are followed in the worker, in one request.
 */

interface RunFiles {
  readonly run: Run;
  readonly runFolder: string;
  readonly resolver: Resolver;
}

/**
 * `found` has all findings of the run that are shown: their paths may share segments. `knowsSent` tells for each target whether it is known what was sent of
 * it. `mappings` are by `pathKey` of a target's folder.
 */
export function filesOf(
  run: Run,
  runFolder: string,
  found: readonly ResultFinding[],
  knowsSent: readonly boolean[],
  mappings: Readonly<Record<string, readonly PathMapping[]>>,
): RunFiles {
  // Sent files are in the result: none is searched for here.
  const sent = knowsSent.map((isKnown) => (isKnown ? new Map<string, SentFile>() : undefined));
  const places = found.flatMap(({ finding }) => finding.places);
  const mappingsOf = (folder: string): readonly PathMapping[] => mappings[pathKey(folder)] ?? [];
  return { run, runFolder, resolver: createResolver({ targets: run.targets, sent, places, mappingsOf }) };
}

/** A place of a finding, and its sent file, if that is known. */
type PlaceAsSent = readonly [place: Place, sent: SentFile | undefined];

/** Finds the file of a place. If there is none, adds its path to `missing`. */
function locateIn(
  { run, runFolder, resolver }: RunFiles,
  missing: Set<string>,
): (place: PlaceAsSent) => Promise<LocatedFile | undefined> {
  const { targets } = run;
  // Only a mapping leads to another sent file than the result names.
  const sentOfTarget = targets.map((_, target) => once(() => readSentFiles(run, target, runFolder)));
  return async ([place, named]) => {
    const found = await resolver.locate(place, named);
    if (typeof found === 'string') {
      missing.add(named?.path ?? place.path);
      return undefined;
    }
    const { file, folder, target, path } = found;
    const isNamed = target === named?.target && path === named.path;
    const sent = isNamed ? named : (await sentOfTarget[target]?.())?.get(path);
    return { file, folder, target, path, sent };
  };
}

/** Places with one key are in one file. */
function keyOfFile([place, sent]: PlaceAsSent): string {
  return sent === undefined
    ? `${place.path}\0${String(place.targetIndex)}`
    : `${String(sent.target)}\0${sent.path}`;
}

/** Where the places of a run's findings are. */
export interface PlacedFiles {
  /** Undefined for a place without a file on this machine. A place that was not looked for yet has no entry. */
  readonly places: ReadonlyMap<Place, ShownPlace | undefined>;
  /** The paths of missing files that findings point at. */
  readonly missing: ReadonlySet<string>;
  /** Files (absolute) that findings point at and whose text differs from the one that was sent. */
  readonly changed: ReadonlySet<string>;
}

/** Follows files that differ from what was sent: an answer for each, or none. */
export type Follow = (
  files: readonly PlacesOfFile[],
  texts: EditorTexts,
) => Promise<readonly CurrentPlaces[]>;

interface PlaceOptions {
  readonly texts: EditorTexts;
  readonly follow: Follow;
  /** Gets what is known once the first files are read. */
  readonly onFirst?: ((placed: PlacedFiles) => void) | undefined;
  /** True if a file on the disk has the bytes that were sent. */
  readonly isOnDiskAsSent: (file: LocatedFile) => Promise<boolean>;
  readonly clock?: Pick<Clock, 'sleep'>;
}

const filesAtOnce = 16;
/** With findings in as many files, people see something. */
const firstFiles = 32;
/** A network share that does not answer keeps nobody waiting. */
const maxSilenceMs = 2_000;

export async function placeFindings(
  files: RunFiles,
  found: readonly ResultFinding[],
  { texts, follow, onFirst, isOnDiskAsSent, clock }: PlaceOptions,
): Promise<PlacedFiles> {
  const { targets } = files.run;
  const missing = new Set<string>();
  const locate = locateIn(files, missing);
  const placed = new Map<Place, ShownPlace | undefined>();
  const changed = new Set<string>();
  const add = ({ file, places }: PlacesOfFile, current: CurrentPlaces): void => {
    if (current.isChanged) changed.add(file.file);
    for (const [place, now] of toShownPlaces(file, places, current)) placed.set(place, now);
  };
  const all = found.flatMap(({ finding, sent }) =>
    finding.places.map((place, at): PlaceAsSent => [place, sent[at]]),
  );
  const isOpen = ([place, sent]: PlaceAsSent): boolean => {
    const { path } = sent ?? place;
    const key = pathKey(`${sent?.folder ?? targets[0]?.folder ?? ''}/${path}`);
    return texts.edited.has(key) || texts.opened.has(key);
  };
  const groups = [...Map.groupBy(all, keyOfFile).values()].sort(
    ([one], [other]) =>
      Number(other !== undefined && isOpen(other)) - Number(one !== undefined && isOpen(one)),
  );
  /** `unknown`: nothing can be said about a file that is not known as it was sent, and is in no editor. */
  const stateOf = async (file: LocatedFile): Promise<'asSent' | 'other' | 'unknown'> => {
    const key = pathKey(file.file);
    if (!texts.edited.has(key) && (await isOnDiskAsSent(file))) return 'asSent';
    return file.sent !== undefined || texts.edited.has(key) || texts.opened.has(key) ? 'other' : 'unknown';
  };
  const known = (): PlacedFiles => ({ places: placed, missing, changed });
  const others: PlacesOfFile[] = [];
  const ask = askFolders(clock);
  const place = async (group: readonly PlaceAsSent[]): Promise<void> => {
    const [first] = group;
    if (first === undefined) return;
    const [, sent] = first;
    const folder = sent?.folder ?? '';
    const file = await ask(folder, () => locate(first));
    const places = group.map(([place]) => place);
    if (file === undefined) for (const place of places) placed.set(place, undefined);
    else if (file !== 'silent') {
      const each = { run: files.run.id, file, places };
      const state = await ask(folder, () => stateOf(file));
      if (state === 'other') others.push(each);
      else add(each, asReported(each, { isAsSent: state === 'asSent' }));
    } else if (sent !== undefined) {
      const { target, path } = sent;
      const unread = { file: `${folder}/${path}`, folder, target, path, sent };
      const reported = { run: files.run.id, file: unread, places };
      add(reported, asReported(reported));
    }
  };
  await inParallel(groups.slice(0, firstFiles), filesAtOnce, place);
  onFirst?.(known());
  await inParallel(groups.slice(firstFiles), filesAtOnce, place);
  if (others.length > 0) {
    const current = await follow(others, texts);
    for (const [at, each] of others.entries()) add(each, current[at] ?? asReported(each));
  }
  return known();
}

/** Those of a finding's places that have a file on this machine, in their order. */
export function placesOf(
  { finding }: Pick<ResultFinding, 'finding'>,
  { places }: Pick<PlacedFiles, 'places'>,
): ShownPlace[] {
  return finding.places.flatMap((place) => places.get(place) ?? []);
}

/** Asks something of a folder, unless that has left another question without an answer. */
function askFolders(
  clock: PlaceOptions['clock'],
): <T>(folder: string, question: () => Promise<T>) => Promise<T | 'silent'> {
  const silent = new Set<string>();
  return async (folder, question) => {
    if (silent.has(folder)) return 'silent';
    try {
      return await answerOf(question(), folder, { ...(clock && { clock }), maxMs: maxSilenceMs });
    } catch (error) {
      if (!(error instanceof AssessmentError) || error.kind !== 'noAnswer') throw error;
      silent.add(folder);
      return 'silent';
    }
  };
}

/** One file may lie in two targets, of which one is in the other. */
export function fileKey({ target, path, file }: LocatedFile): string {
  return [target, path, file].join('\0');
}

/** The places of a file, as they are in its current text. */
export function toShownPlaces(
  file: LocatedFile,
  reported: readonly Place[],
  { places }: Pick<CurrentPlaces, 'places'>,
): readonly (readonly [Place, ShownPlace])[] {
  return places.flatMap((now, at) => {
    const place = reported[at];
    return place === undefined ? [] : [[place, { ...file, ...now, reported: place }] as const];
  });
}

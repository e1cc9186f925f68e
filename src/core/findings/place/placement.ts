import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { asUnknown } from '../../errors.ts';
import { markOf } from '../../files.ts';
import { pathKey } from '../../paths.ts';
import type { Run } from '../../run/state/run.ts';
import { type FolderCalls, inParallel, memoized, once } from '../../yieldingWork.ts';
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
import { createLocator, type Locate } from './resolver.ts';
import { readSentFiles, readUnchanged, type SentFile } from './sentFiles.ts';

/*
 * Finds where places are now, on the extension host: a file with the bytes that were sent needs no
 * worker, since places have their lines in the sent text. Those that differ are followed in the
 * worker, in one request. What the disk does not tell is asked again later.
 */

/** `locate` finds their files. */
export interface FindingsOfRun {
  readonly run: Run;
  readonly runFolder: string;
  readonly locate: Locate;
  readonly found: readonly ResultFinding[];
}

/** `mappings` are by `pathKey` of a target's folder. */
export function findingsOfRun(
  run: Run,
  runFolder: string,
  found: readonly ResultFinding[],
  knowsSent: readonly boolean[],
  mappings: Readonly<Record<string, readonly PathMapping[]>>,
  calls: Pick<FolderCalls, 'ask'>,
): FindingsOfRun {
  const mappingsOf = (folder: string): readonly PathMapping[] => mappings[pathKey(folder)] ?? [];
  const isKnown = run.targets.map((_, target) => knowsSent[target] === true);
  return { run, runFolder, locate: createLocator(run.targets, isKnown, mappingsOf, calls), found };
}

type PlaceAsSent = readonly [place: Place, sent: SentFile | undefined];

function locateIn({
  run,
  runFolder,
  locate,
}: FindingsOfRun): (place: PlaceAsSent) => Promise<LocatedFile | undefined> {
  // Only a mapping leads to another sent file than the result names.
  const sentOfTarget = run.targets.map((_, target) => once(() => readSentFiles(run, target, runFolder)));
  return async ([place, named]) => {
    const found = await locate(place, named);
    if (found === undefined) return undefined;
    const { file, folder, target, path } = found;
    const isNamed = target === named?.target && path === named.path;
    const sent = isNamed ? named : (await sentOfTarget[target]?.())?.get(path);
    return { file, folder, target, path, sent };
  };
}

function keyOfFile([place, sent]: PlaceAsSent): SentFile | string {
  return sent ?? `${place.path}\0${String(place.targetIndex)}`;
}

/** A file that is where it was when it was sent. */
export function locatedAsSent(sent: SentFile): LocatedFile {
  const { target, folder, path } = sent;
  return { file: join(folder, ...path.split('/')), folder, target, path, sent };
}

export interface Located {
  /** A place without a file on this machine has no entry. */
  readonly places: ReadonlyMap<Place, ShownPlace>;
  /** Folders with files that were not read: their places are as uploaded, or as they were. */
  readonly unread: ReadonlySet<string>;
  /** A share may be mounted later. */
  readonly missing: ReadonlySet<string>;
}

/** An answer for each file, or none. */
export type Follow = (
  files: readonly PlacesOfFile[],
  texts: EditorTexts,
) => Promise<readonly (CurrentPlaces | undefined)[]>;

export interface LocateOptions {
  readonly texts: () => EditorTexts;
  readonly follow: Follow;
  readonly calls: Pick<FolderCalls, 'ask'>;
  /** The place is in one of these folders. Other places stay as they were. */
  readonly isWanted: (place: Place, folders: readonly string[]) => boolean;
}

const filesAtOnce = 16;

interface FileToFind {
  readonly run: string;
  readonly folders: readonly string[];
  readonly named: SentFile | undefined;
  readonly places: readonly Place[];
  readonly locate: () => Promise<LocatedFile | undefined>;
}

function filesToFind(each: FindingsOfRun, isWanted: LocateOptions['isWanted']): readonly FileToFind[] {
  const { id, targets } = each.run;
  const locate = locateIn(each);
  const anyFolder = targets.map(({ folder }) => folder);
  const foldersOf = (sent: SentFile | undefined) => (sent === undefined ? anyFolder : [sent.folder]);
  const wanted = each.found.flatMap(({ finding, sent }) =>
    finding.places
      .map((place, at): PlaceAsSent => [place, sent[at]])
      .filter(([place, file]) => isWanted(place, foldersOf(file))),
  );
  return [...Map.groupBy(wanted, keyOfFile).values()].flatMap((group) =>
    group.slice(0, 1).map((first) => ({
      run: id,
      folders: foldersOf(first[1]),
      named: first[1],
      places: group.map(([place]) => place),
      locate: () => locate(first),
    })),
  );
}

/** A place that stays the same is the same object. */
export async function locateFindings(
  runs: readonly FindingsOfRun[],
  former: Located,
  { texts: textsNow, follow, calls, isWanted }: LocateOptions,
): Promise<Located> {
  const texts = textsNow();
  const [places, unread, missing] = [new Map(former.places), new Set<string>(), new Set<string>()];
  const put = ({ file, places: ofFile }: PlacesOfFile, { places: now, isChanged }: CurrentPlaces): void => {
    for (const [at, reported] of ofFile.entries()) {
      const { startLine, endLine, startColumn, endColumn, drift } = now[at] ?? { drift: 'unknown' };
      // A second spread would take five times as long.
      const shown = { ...file, startLine, endLine, startColumn, endColumn, reported, drift, isChanged };
      if (!isDeepStrictEqual(places.get(reported), shown)) places.set(reported, shown);
    }
  };
  // Runs report the same files.
  const isAsSent = memoized(
    async ({ sent }: LocatedFile) =>
      sent !== undefined && (await calls.ask(sent.folder, () => readUnchanged(sent))) !== undefined,
    ({ file, sent }) => `${file}\0${sent?.sha256 ?? ''}`,
  );
  const isThere = memoized(
    (folder: string) => calls.ask(folder, async () => (await markOf(folder)) !== undefined),
    (folder) => folder,
  );
  const toFollow: PlacesOfFile[] = [];
  const find = async ({ run, folders, named, places: reported, locate }: FileToFind): Promise<void> => {
    const uploaded = named && locatedAsSent(named);
    const file = uploaded && (await isAsSent(uploaded)) ? uploaded : await locate();
    if (file !== undefined) {
      const found = { run, file, places: reported };
      const asSent = !texts.edited.has(pathKey(file.file)) && (await isAsSent(file));
      // Nothing can be said about a file that is not known as it was sent.
      if (asSent || file.sent === undefined) put(found, asReported(found, { isAsSent: asSent }));
      else toFollow.push(found);
      return;
    }
    for (const folder of folders) if (!(await isThere(folder))) missing.add(folder);
    const was = former.places.get(reported[0] as Place);
    if (was === undefined || former.unread.has(was.folder))
      for (const place of reported) places.delete(place);
    else {
      const gone = { file: was.file, folder: was.folder, target: was.target, path: was.path, sent: was.sent };
      const nowhere = { places: reported.map(() => ({ drift: 'gone' as const })), isChanged: true };
      put({ run, file: gone, places: reported }, nowhere);
    }
  };
  const files = runs.flatMap((each) => filesToFind(each, isWanted));
  await inParallel(files, filesAtOnce, async (each) => {
    try {
      await find(each);
    } catch (error) {
      asUnknown(error);
      for (const folder of each.folders) unread.add(folder);
    }
  });
  const current = toFollow.length === 0 ? [] : await follow(toFollow, texts);
  const { edited } = textsNow();
  for (const [at, each] of toFollow.entries()) {
    const key = pathKey(each.file.file);
    const now = current[at];
    const isNew = each.places.some((place) => !places.has(place));
    // An answer for an older text is dropped: the next request follows the present one.
    if (now !== undefined && edited.get(key) === texts.edited.get(key)) put(each, now);
    else if (isNew) put(each, asReported(each));
    if (now === undefined) unread.add(each.file.folder);
  }
  return { places, unread, missing };
}

export function placesOf(
  { finding }: Pick<ResultFinding, 'finding'>,
  { places }: Pick<Located, 'places'>,
): ShownPlace[] {
  return finding.places.map((place) => places.get(place)).filter((place) => place !== undefined);
}

import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { asUnknown } from '../../errors.ts';
import { fileStampOf } from '../../files.ts';
import { pathKey } from '../../paths.ts';
import type { Run } from '../../run/state/run.ts';
import { type FolderCalls, inParallel, memoized, once } from '../../yieldingWork.ts';
import type { Location } from '../finding.ts';
import type { ResultFinding } from '../result/result.ts';
import type { ShownLocation } from '../shownFinding.ts';
import {
  asReported,
  type CurrentLocations,
  type EditorTexts,
  type LocatedFile,
  type LocationsOfFile,
} from './currentLocations.ts';
import type { Locate } from './resolver.ts';
import { readUploadedFiles, readUnchanged, type UploadedFile } from './uploadedFiles.ts';

/**
 * Finds the current locations of findings. In a file that has the uploaded bytes and no unsaved
 * edits, lines are those of the uploaded text. Other uploaded files go to `follow` in one request,
 * since comparing texts is slow. In files that were not uploaded, or whose upload is unknown, lines
 * are those of the result.
 */

export interface FindingsOfRun {
  readonly run: Run;
  readonly runFolder: string;
  readonly locate: Locate;
  readonly found: readonly ResultFinding[];
}

export function locatedAsUploaded(uploaded: UploadedFile): LocatedFile {
  const { target, folder, path } = uploaded;
  return { file: join(folder, path), folder, target, path, uploaded };
}

export interface Located {
  /** In a folder that has been read, a location has no entry if its file was never found. */
  readonly locations: ReadonlyMap<Location, ShownLocation>;
  /** Some files in these folders have not been read, so their locations may be out of date. */
  readonly unread: ReadonlySet<string>;
  /** These folders don't exist, but a share may be mounted later. */
  readonly missing: ReadonlySet<string>;
}

export type Follow = (
  files: readonly LocationsOfFile[],
  texts: EditorTexts,
) => Promise<readonly (CurrentLocations | undefined)[]>;

export interface LocateOptions {
  readonly texts: () => EditorTexts;
  readonly follow: Follow;
  readonly calls: Pick<FolderCalls, 'ask'>;
  /** The location's file may be in one of the folders. Unwanted locations don't change. */
  readonly isWanted: (location: Location, folders: readonly string[]) => boolean;
}

const filesAtOnce = 16;

interface FileToFind {
  readonly run: string;
  readonly folders: readonly string[];
  readonly named: UploadedFile | undefined;
  readonly locations: readonly Location[];
  readonly locate: () => Promise<LocatedFile | undefined>;
}

type LocationAsUploaded = readonly [location: Location, uploaded: UploadedFile | undefined];

function filesToFind(
  { run, runFolder, locate, found }: FindingsOfRun,
  isWanted: LocateOptions['isWanted'],
): readonly FileToFind[] {
  const anyFolder = run.targets.map(({ folder }) => folder);
  // The list of uploaded files may be long, and only a file that a user mapped needs it.
  const uploadedOfTarget = anyFolder.map((folder, target) =>
    once(() => readUploadedFiles({ target, folder }, runFolder)),
  );
  const locateFile = async ([location, named]: LocationAsUploaded): Promise<LocatedFile | undefined> => {
    const there = await locate(location, named);
    if (there === undefined) return undefined;
    const { file, folder, target, path } = there;
    const isNamed = target === named?.target && path === named.path;
    const uploaded = isNamed ? named : (await uploadedOfTarget[target]?.())?.get(path);
    return { file, folder, target, path, uploaded };
  };
  const foldersOf = (uploaded: UploadedFile | undefined) =>
    uploaded === undefined ? anyFolder : [uploaded.folder];
  const wanted = found.flatMap(({ finding, uploaded }) =>
    finding.locations
      .map((location, at): LocationAsUploaded => [location, uploaded[at]])
      .filter(([location, file]) => isWanted(location, foldersOf(file))),
  );
  const byFile = Map.groupBy(
    wanted,
    ([location, uploaded]) => uploaded ?? `${location.path}\0${String(location.targetIndex)}`,
  );
  return [...byFile.values()].flatMap((group) =>
    group.slice(0, 1).map((first) => ({
      run: run.id,
      folders: foldersOf(first[1]),
      named: first[1],
      locations: group.map(([location]) => location),
      locate: () => locateFile(first),
    })),
  );
}

type Locations = Map<Location, ShownLocation>;

/** An unchanged location stays the same object. */
function put(
  all: Locations,
  { file, locations }: Omit<LocationsOfFile, 'run'>,
  { locations: now, isChanged }: CurrentLocations,
): void {
  for (const [at, reported] of locations.entries()) {
    const { startLine, endLine, startColumn, endColumn, drift } = now[at] ?? { drift: 'unknown' };
    // A second spread would take five times as long.
    const shown = { ...file, startLine, endLine, startColumn, endColumn, reported, drift, isChanged };
    if (!isDeepStrictEqual(all.get(reported), shown)) all.set(reported, shown);
  }
}

/** If the file is known to have been here, its locations become `gone`, else they are removed. */
function putLost(all: Locations, locations: readonly Location[], former: Located): void {
  const was = former.locations.get(locations[0] as Location);
  if (was === undefined || former.unread.has(was.folder)) {
    for (const location of locations) all.delete(location);
    return;
  }
  const { file, folder, target, path, uploaded } = was;
  const gone = { locations: locations.map(() => ({ drift: 'gone' as const })), isChanged: true };
  put(all, { file: { file, folder, target, path, uploaded }, locations }, gone);
}

/**
 * Without an answer, locations stay as they are. But if any of the file's locations has no entry
 * yet, all of them become as reported.
 */
function putFollowed(all: Locations, each: LocationsOfFile, now: CurrentLocations | undefined): void {
  if (now !== undefined) put(all, each, now);
  else if (each.locations.some((location) => !all.has(location))) put(all, each, asReported(each));
}

export async function locateFindings(
  runs: readonly FindingsOfRun[],
  former: Located,
  { texts: textsNow, follow, calls, isWanted }: LocateOptions,
): Promise<Located> {
  const texts = textsNow();
  const [locations, unread, missing] = [new Map(former.locations), new Set<string>(), new Set<string>()];
  const isAsUploaded = memoized(
    async ({ uploaded }: LocatedFile) =>
      uploaded !== undefined &&
      (await calls.ask(uploaded.folder, () => readUnchanged(uploaded))) !== undefined,
    ({ file, uploaded }) => `${file}\0${uploaded?.sha256 ?? ''}`,
  );
  const isThere = memoized(
    (folder: string) => calls.ask(folder, async () => (await fileStampOf(folder)) !== undefined),
    (folder) => folder,
  );
  const toFollow: LocationsOfFile[] = [];
  const find = async ({ run, folders, named, locations: reported, locate }: FileToFind): Promise<void> => {
    const uploaded = named && locatedAsUploaded(named);
    const file = uploaded && (await isAsUploaded(uploaded)) ? uploaded : await locate();
    if (file === undefined) {
      for (const folder of folders) if (!(await isThere(folder))) missing.add(folder);
      putLost(locations, reported, former);
      return;
    }
    const found = { run, file, locations: reported };
    const asUploaded = !texts.edited.has(pathKey(file.file)) && (await isAsUploaded(file));
    if (asUploaded || file.uploaded === undefined)
      put(locations, found, asReported(found, { isAsUploaded: asUploaded }));
    else toFollow.push(found);
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
    const [key, now] = [pathKey(each.file.file), current[at]];
    // An answer for a text that was edited meanwhile is dropped.
    putFollowed(locations, each, edited.get(key) === texts.edited.get(key) ? now : undefined);
    if (now === undefined) unread.add(each.file.folder);
  }
  return { locations, unread, missing };
}

export function locationsOf(
  { finding }: Pick<ResultFinding, 'finding'>,
  { locations }: Pick<Located, 'locations'>,
): ShownLocation[] {
  return finding.locations.flatMap((location) => locations.get(location) ?? []);
}

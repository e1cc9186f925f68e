import { basename } from 'node:path';
import type { Target } from '../../run/state/run.ts';
import { isUsableName } from '../../paths.ts';
import { type FolderCalls, lazily } from '../../yieldingWork.ts';
import type { Location } from '../finding.ts';
import { type PathMapping, visitMapped } from './mappings.ts';
import type { UploadedFile, UploadedFiles } from './uploadedFiles.ts';
import {
  openFolder,
  type OpenedFolder,
  segmentsOf,
  toSegments,
  type VisitedFile,
  withoutDrive,
} from './workspacePath.ts';

/**
 * Turns reported paths into files. A path is searched for among the uploaded files or, if these are
 * unknown, on the disk: (1) as it is, without its target's name or number, or below a base on
 * another machine; (2) among uploaded files, without the first segments that all reported paths
 * share; (3) by its end of at least two segments. (2) counts only if it finds a file for every
 * path, and then comes before (1), unless (1) also finds one for every path. If no file is found,
 * a user's mapping may lead to one. A path that fits several files equally well is ambiguous.
 */

/** Says where a location is in the upload, independent of the files on this machine. */
export interface UploadPath {
  /**
   * The folder is spelled as in the run's target. It is undefined if several remain possible, and
   * empty if none is.
   */
  readonly folder: string | undefined;
  /** The path is in NFC. */
  readonly path: string;
}

type Targets = readonly Pick<Target, 'folder' | 'name'>[];

function targetsOf({ targetIndex }: Location, knowsUploaded: readonly boolean[]): readonly number[] {
  if (knowsUploaded.length > 1)
    return targetIndex === undefined || knowsUploaded[targetIndex] === undefined
      ? [...knowsUploaded.keys()]
      : [targetIndex];
  // If the upload is unknown, an index above 0 means an archive that has no target.
  return targetIndex === undefined || targetIndex === 0 || knowsUploaded[0] === true ? [0] : [];
}

interface Match {
  readonly step: number;
  /** A path that begins with one of these names refers to the target. */
  readonly names: readonly string[];
}

/**
 * Returns the match of the earliest step. If several matches have that step, returns the only one
 * whose target is named by the first segment of the path.
 */
function bestOf<T extends Match>(text: string, found: readonly T[]): T | undefined {
  const earliest = Math.min(...found.map(({ step }) => step));
  const best = found.filter(({ step }) => step === earliest);
  if (best.length < 2) return best[0];
  const [first = ''] = segmentsOf(text);
  const named = best.filter(({ names }) => names.includes(first));
  return named.length === 1 ? named[0] : undefined;
}

/** Deeper paths are only searched for by step (1). */
const maxDepth = 64;

export interface UploadPaths {
  /** Also returns undefined if the upload is unknown. */
  readonly uploadedFile: (location: Location) => UploadedFile | 'ambiguous' | undefined;
  readonly uploadPathOf: (location: Location) => UploadPath;
}

export function findUploaded(
  targets: Targets,
  uploaded: UploadedFiles,
  locations: Iterable<Location>,
): UploadPaths {
  const knowsUploaded = uploaded.map((files) => files !== undefined);
  const reported = targets.map(() => new Set<string>());
  for (const location of locations)
    for (const target of targetsOf(location, knowsUploaded)) reported[target]?.add(location.path);
  const searches = targets.map(
    ({ name }, target) =>
      uploaded[target] &&
      searchUploaded(uploaded[target], [name, String(target)], reported[target] ?? new Set()),
  );
  const uploadedFile = (location: Location): UploadedFile | 'ambiguous' | undefined => {
    const possible = targetsOf(location, knowsUploaded);
    if (possible.some((target) => knowsUploaded[target] !== true)) return undefined;
    const found = possible.flatMap((target) => searches[target]?.(location.path) ?? []);
    return found.length === 0 ? undefined : (bestOf(location.path, found)?.file ?? 'ambiguous');
  };
  const uploadPathOf = (location: Location): UploadPath => {
    const found = uploadedFile(location);
    if (typeof found === 'object') return { folder: found.folder, path: found.path.normalize('NFC') };
    const [only, ...others] = targetsOf(location, knowsUploaded);
    if (only === undefined || others.length > 0)
      return { folder: only === undefined ? '' : undefined, path: reportedPath(location.path) };
    const number = knowsUploaded[only] === true ? undefined : String(only);
    return { folder: targets[only]?.folder, path: reportedPath(location.path, number) };
  };
  return { uploadedFile, uploadPathOf };
}

type Find = (segments: readonly string[]) => UploadedFile | undefined;

function searchUploaded(
  files: ReadonlyMap<string, UploadedFile>,
  names: readonly string[],
  reported: ReadonlySet<string>,
): (text: string) => (Match & { readonly file: UploadedFile | 'ambiguous' }) | undefined {
  // There may be hundreds of thousands of files, so an index is only built when it is needed.
  const safe = lazily(() => [...files.values()].filter(({ path }) => isSafe(path)));
  const byPath = lazily(() => indexPaths(safe()));
  const byEnd = lazily(() => indexEnds(safe()));
  const find: Find = (segments) => {
    const path = segments.join('/');
    return byPath().get(path) ?? byPath().get(toComparable(path));
  };
  const findExactly: Find = (segments) => {
    const [first = '', ...inTarget] = segments;
    return find(segments) ?? (names.includes(first) ? find(inTarget) : undefined);
  };
  const sharedCount = lazily(() => countShared([...reported], find));
  const findWithoutShared: Find = (segments) => {
    const count = segments.length > maxDepth ? undefined : sharedCount();
    return count === undefined ? undefined : find(segments.slice(count));
  };
  const findEnd = (segments: readonly string[]): UploadedFile | 'ambiguous' | undefined =>
    segments.length > maxDepth ? undefined : findByEnd(segments, byEnd());
  const steps = lazily(() => {
    const isExact = (text: string): boolean => readingsOf(text).some((each) => findExactly(each));
    // If files were mounted at `/src`, all paths begin with it, and some may also fit files in an
    // uploaded folder `src`. So step (2) comes first, unless step (1) finds every path.
    return sharedCount() === undefined || [...reported].every(isExact)
      ? [findExactly, findWithoutShared, findEnd]
      : [findWithoutShared, findExactly, findEnd];
  });
  return (text) => {
    const below = findExactly(belowBase(text));
    if (below !== undefined) return { step: 0, names, file: below };
    const readings = readingsOf(text);
    for (const [step, findBy] of steps().entries())
      for (const segments of readings) {
        const file = findBy(segments);
        if (file !== undefined) return { step, names, file };
      }
    return undefined;
  };
}

/** Counts the first segments that all reported paths share but uploaded paths lack. */
function countShared(reported: readonly string[], find: Find): number | undefined {
  const readable = reported.find((text) => readingsOf(text).length > 0) ?? '';
  const first = readingsOf(readable).at(-1) ?? [];
  const all = lazily(() => reported.flatMap((text) => readingsOf(text).slice(-1)));
  for (let count = 1; count < Math.min(first.length, maxDepth); count += 1) {
    if (find(first.slice(count)) === undefined) continue;
    const isShared = all().every((each) => first.slice(0, count).every((name, at) => each[at] === name));
    // If only bare file names are left, they may fit unrelated files.
    if (!isShared || all().every((each) => each.length === count + 1)) return undefined;
    if (all().every((each) => find(each.slice(count)) !== undefined)) return count;
  }
  return undefined;
}

function findByEnd(
  segments: readonly string[],
  byEnd: ReturnType<typeof indexEnds>,
): UploadedFile | 'ambiguous' | undefined {
  const wanted = segments.map(toComparable);
  const start = wanted.findIndex((_, at) => byEnd.has(wanted.slice(at).join('/')));
  const end = wanted.slice(start).join('/');
  const file = start < 0 ? undefined : byEnd.get(end);
  if (typeof file !== 'object') return file;
  const path = toComparable(file.path);
  const [topFolder = ''] = path.split('/');
  // `packages/a/src/index.ts` and `packages/b/src/index.ts` end alike, but are different files.
  return path !== end && wanted.slice(0, start).includes(topFolder) ? undefined : file;
}

/**
 * The most literal reading is first: an uploaded file may have a name that `toSegments` refuses.
 */
function readingsOf(text: string): readonly (readonly string[])[] {
  const clean = toSegments(withoutDrive(text)) ?? [];
  const parts = text.split('/');
  const literal = parts.includes('..') ? [] : parts.filter((part) => part !== '' && part !== '.');
  return [literal, clean].filter(({ length }) => length > 0);
}

/** `parse/sarif` puts `/./` between a base on another machine and the path below it. */
function belowBase(text: string): readonly string[] {
  const [, below = ''] = /^(?:file:|[a-z]:|[\\/]).*?\/\.\/(.*)$/is.exec(text) ?? [];
  return toSegments(below) ?? [];
}

/** The list of uploaded files may come from a bundle, which anybody can write. */
function isSafe(path: string): boolean {
  return isUsableName(path) && (process.platform !== 'win32' || toSegments(path)?.join('/') === path);
}

/** A file's exact path wins over the `toComparable` path of another file. */
function indexPaths(files: readonly UploadedFile[]): ReadonlyMap<string, UploadedFile> {
  const comparable = files.map((file) => [toComparable(file.path), file] as const);
  return new Map([...comparable, ...files.map((file) => [file.path, file] as const)]);
}

function indexEnds(files: readonly UploadedFile[]): ReadonlyMap<string, UploadedFile | 'ambiguous'> {
  const ends = new Map<string, UploadedFile | 'ambiguous'>();
  for (const file of files) {
    if (file.path.split('/', maxDepth + 1).length > maxDepth) continue;
    let end = toComparable(file.path);
    for (let slash = end.indexOf('/'); slash >= 0; slash = end.indexOf('/')) {
      ends.set(end, ends.has(end) ? 'ambiguous' : file);
      end = end.slice(slash + 1);
    }
  }
  return ends;
}

/** macOS and Japanese input disagree on how `が` is composed; the service may send either. */
function toComparable(path: string): string {
  return path.normalize('NFC');
}

/** Removes the archive's number, but not its name, which a folder in it may share. */
export function reportedPath(text: string, number?: string): string {
  const [first, ...others] = toSegments(text) ?? [text];
  const segments = others.length > 0 && first === number ? others : [first, ...others];
  return segments.join('/').normalize('NFC');
}

export type Locate = (
  location: Location,
  uploaded?: UploadedFile,
) => Promise<(Pick<UploadedFile, 'target' | 'folder' | 'path'> & { readonly file: string }) | undefined>;

export function createLocator(
  targets: Targets,
  knowsUploaded: readonly boolean[],
  mappingsOf: (folder: string) => readonly PathMapping[] = () => [],
  calls?: Pick<FolderCalls, 'ask'>,
): Locate {
  const opened = targets.map(({ folder, name }, target) => {
    // The folder's name differs between machines, so it counts only if the upload is unknown.
    const names = [name, String(target), ...(knowsUploaded[target] === true ? [] : [basename(folder)])];
    return { target, folder, names, disk: openFolder(folder, calls), step: 0 };
  });
  return async (location, uploaded) => {
    if (uploaded !== undefined) {
      const target = opened[uploaded.target];
      const there = await target?.disk.visit(uploaded.path);
      if (target !== undefined && typeof there === 'object')
        return { ...target, file: there.file, path: uploaded.path };
    }
    const possible = targetsOf(location, knowsUploaded).flatMap((target) => opened[target] ?? []);
    const findIn = async (
      targets: typeof opened,
      findFile: (target: (typeof opened)[number]) => Promise<FoundOnDisk | undefined>,
    ) => {
      const found = await Promise.all(targets.map(findFile));
      const all = targets.flatMap((target, at) => (found[at] ? [{ ...target, ...found[at] }] : []));
      const best = bestOf(location.path, all);
      return typeof best?.here === 'object' ? { ...best, ...best.here } : undefined;
    };
    const unknown = possible.filter(({ target }) => uploaded === undefined && knowsUploaded[target] !== true);
    return (
      (await findIn(unknown, (each) => searchDisk(location.path, each))) ??
      findIn(possible, async ({ folder, disk }) => {
        const here = await visitMapped(location.path, mappingsOf(folder), disk);
        return here && { here, step: 0 };
      })
    );
  };
}

interface FoundOnDisk extends Pick<Match, 'step'> {
  readonly here: VisitedFile | 'refused';
}

/** Once a path is refused, no shorter end of it is tried. */
async function searchDisk(
  text: string,
  { names, disk }: { readonly names: readonly string[]; readonly disk: OpenedFolder },
): Promise<FoundOnDisk | undefined> {
  const bare = withoutDrive(text);
  // A path with `..` may lead out of the folder.
  const isOfOtherMachine = bare !== text && !segmentsOf(bare).includes('..');
  const segments =
    toSegments(text, await disk.spellings()) ?? (isOfOtherMachine ? toSegments(bare) : undefined) ?? [];
  const lastStart = segments.length > maxDepth ? 0 : segments.length - 2;
  const belowBaseAt = segments.length - belowBase(text).length;
  for (const start of new Set([0, belowBaseAt, ...segments.keys()])) {
    const isNamed = start === 1 && names.includes(segments[0] ?? '');
    const isExact = start === 0 || start === belowBaseAt || isNamed;
    const isTried = start < segments.length && (isExact || start <= lastStart);
    const here = isTried ? await disk.visit(segments.slice(start).join('/')) : undefined;
    if (here !== undefined) return { here, step: isExact ? 0 : 2 };
  }
  return undefined;
}

import { basename } from 'node:path';
import type { Target } from '../../run/state/run.ts';
import { memoized } from '../../yieldingWork.ts';
import { lazily } from '../drift/followLines.ts';
import { MAX_PATH, type Place } from '../finding.ts';
import { type PathMapping, visitMapped } from './mappings.ts';
import type { SentOfRun, SentFile } from './sentFiles.ts';
import {
  createVisit,
  type NoFile,
  segmentsOf,
  spellingsOf,
  toSegments,
  type Visit,
  type VisitedFile,
  withoutDrive,
} from './workspacePath.ts';

/*
 * Turns the paths that a run reports into files. A text is searched for among the files that were sent or, where these are not known, on the disk: (1) as it
 * is, or without its target's name or number, (2) without the first segments that all reported paths share, if each then is a sent file, (3) by its end of at
 * least two segments. What has no file may have one by a person's mapping. A text that fits several files is ambiguous, and no guess is made.
 */

/**
 * Where a place is according to the findings file and what was sent: the same on every machine that knows what was sent. Where that is not known, as for
 * a run that was imported or tracked by its ID, paths are as reported.
 */
export interface SentPath {
  /** As the run's target names it. Undefined if several targets are possible, empty if none is. */
  readonly folder: string | undefined;
  /** The path in the folder that was sent, else the one that was reported, with `/`; empty for a finding without a place. */
  readonly path: string;
}

/** A file on the disk, by the position of its target. */
type FileOnDisk = VisitedFile & { readonly target: number; readonly folder: string };

export interface Resolver {
  /** The file that was sent, whether it is still on the disk or not. */
  sentFile(place: Place): Promise<SentFile | NoFile>;
  sentPath(place: Place): Promise<SentPath>;
  /** The file on the disk; `known` is the sent file, if that is known already. */
  locate(place: Place, known?: SentFile): Promise<FileOnDisk | NoFile>;
}

export interface ResolverFacts {
  readonly targets: readonly Pick<Target, 'folder' | 'name'>[];
  readonly sent: SentOfRun;
  /** All places of the run, whose paths may share their first segments. */
  readonly places: Iterable<Place>;
  readonly mappingsOf?: ((folder: string) => readonly PathMapping[]) | undefined;
}

/** A path in a target, or why there is none. */
type Hit = { readonly path: string } | NoFile;

type Find = (segments: readonly string[]) => Hit | Promise<Hit>;

/** How the files of a target are searched. */
interface Search {
  /** The ways to read a path text, each as segments, the most literal first; none for a text that cannot be read. */
  readonly readingsOf: (text: string) => readonly (readonly string[])[];
  /** The steps of the search. */
  readonly steps: readonly Find[];
}

/** A target whose files are searched. */
interface Searched extends Search {
  readonly target: number;
  readonly folder: string;
  /** First segments of a path that mean this target. */
  readonly names: readonly string[];
  readonly rootsOf: () => readonly string[];
  readonly visit: Visit;
}

/** Deeper paths are only found as they are. */
const maxDepth = 64;

/** Each path is looked up once. */
export function createResolver({ targets, sent, places, mappingsOf }: ResolverFacts): Resolver {
  /** The positions of the targets that a place may be in. */
  const targetsOf = ({ targetIndex }: Place): readonly number[] => {
    if (targets.length > 1)
      return targetIndex === undefined || targets[targetIndex] === undefined
        ? [...targets.keys()]
        : [targetIndex];
    // Where it is not known how many archives were sent, another index means another archive.
    return targetIndex === undefined || targetIndex === 0 || sent[0] !== undefined ? [0] : [];
  };
  const reported = targets.map(() => new Set<string>());
  for (const place of places) for (const target of targetsOf(place)) reported[target]?.add(place.path);
  const searched = targets.map(({ folder, name }, target): Searched => {
    const paths = sent[target]?.keys();
    // The folder's name differs between machines, so it only counts where nothing is known of what was sent.
    const names = [name, String(target), ...(paths === undefined ? [basename(folder)] : [])];
    const rootsOf = spellingsOf(folder);
    const visit = memoized(createVisit(folder), (path) => path);
    const search =
      paths === undefined
        ? onDisk(names, rootsOf, visit)
        : amongSent(names, paths, reported[target] ?? new Set());
    return { target, folder, names, rootsOf, visit, ...search };
  });
  const searchedFor = (place: Place): readonly Searched[] =>
    targetsOf(place).flatMap((target) => searched[target] ?? []);
  const find = memoized((place: Place) => searchTargets(place.path, searchedFor(place)), placeKey);

  const sentFile = async (place: Place): Promise<SentFile | NoFile> => {
    if (targetsOf(place).some((target) => sent[target] === undefined)) return 'notFound';
    const found = await find(place);
    if (typeof found === 'string') return found;
    return sent[found.target]?.get(found.path) ?? 'notFound';
  };

  const sentPath = async (place: Place): Promise<SentPath> => {
    const found = await sentFile(place);
    if (typeof found === 'object') return { folder: found.folder, path: found.path.normalize('NFC') };
    const possible = targetsOf(place);
    const [only] = possible;
    if (only === undefined || possible.length > 1)
      return { folder: only === undefined ? '' : undefined, path: reportedPath(place.path) };
    const number = sent[only] === undefined ? String(only) : undefined;
    return { folder: targets[only]?.folder, path: reportedPath(place.path, number) };
  };

  const locate = async (place: Place, known?: SentFile): Promise<FileOnDisk | NoFile> => {
    const found = known ?? (await find(place));
    const here =
      typeof found === 'string' ? found : ((await searched[found.target]?.visit(found.path)) ?? 'notFound');
    if (typeof found === 'object' && typeof here === 'object')
      return { ...here, path: found.path, target: found.target, folder: targets[found.target]?.folder ?? '' };
    // A mapping helps only paths without a file.
    const mapped = await Promise.all(
      searchedFor(place).map(async ({ target, folder, names, rootsOf, visit }) => {
        const hit = await visitMapped(place.path, mappingsOf?.(folder) ?? [], rootsOf, visit);
        return typeof hit === 'object' ? [{ ...hit, target, folder, names }] : [];
      }),
    );
    const file = namedBy(place.path, mapped.flat());
    if (file !== undefined) return file;
    return typeof here === 'string' ? here : 'notFound';
  };

  return { sentFile, sentPath, locate };
}

async function searchTargets(
  text: string,
  targets: readonly Searched[],
): Promise<{ readonly target: number; readonly folder: string; readonly path: string } | NoFile> {
  const all = targets.map((target) => ({ ...target, readings: target.readingsOf(text) }));
  for (const step of [0, 1, 2]) {
    const hits = await Promise.all(
      all.map(async ({ readings, steps, ...target }) => ({
        ...target,
        hit: await firstHit(readings, steps[step]),
      })),
    );
    const found = hits.flatMap(({ hit, ...target }) =>
      typeof hit === 'object' ? [{ ...target, path: hit.path }] : [],
    );
    const isAmbiguous = hits.some(({ hit }) => hit === 'ambiguous');
    if (isAmbiguous || found.length > 0)
      return (isAmbiguous ? undefined : namedBy(text, found)) ?? 'ambiguous';
    if (hits.some(({ hit }) => hit === 'refused')) return 'refused';
  }
  return 'notFound';
}

/** The result for the first reading that has one. */
async function firstHit(readings: readonly (readonly string[])[], find: Find | undefined): Promise<Hit> {
  if (readings.length === 0) return 'refused';
  for (const segments of readings) {
    const hit = (await find?.(segments)) ?? 'notFound';
    if (hit !== 'notFound') return hit;
  }
  return 'notFound';
}

/** The only target; of several, the only one that the first segment of a path names. */
function namedBy<T extends { readonly names: readonly string[] }>(
  text: string,
  targets: readonly T[],
): T | undefined {
  if (targets.length < 2) return targets[0];
  const [first = ''] = segmentsOf(text);
  const named = targets.filter(({ names }) => names.includes(first));
  return named.length === 1 ? named[0] : undefined;
}

/** As it is, or without the target's name or number. */
function findExactly(names: readonly string[], find: (path: string) => Hit | Promise<Hit>): Find {
  return async (segments) => {
    const hit = await find(segments.join('/'));
    const [first = '', ...inTarget] = segments;
    return hit === 'notFound' && inTarget.length > 0 && names.includes(first)
      ? find(inTarget.join('/'))
      : hit;
  };
}

/** Searches the files that were sent of a target, whatever is on the disk now. Paths that would lead out of a folder are left out. */
function amongSent(names: readonly string[], paths: Iterable<string>, reported: ReadonlySet<string>): Search {
  // There may be hundreds of thousands of paths, and most runs need no index.
  const safe = lazily(() => [...paths].filter(isSafe));
  const byText = lazily(() => indexPaths(safe()));
  const byEnd = lazily(() => indexEnds(safe()));
  const find = (path: string): Hit => {
    const sent = byText().get(path) ?? byText().get(toComparable(path));
    return sent === undefined ? 'notFound' : { path: sent };
  };
  const readingsOf = (text: string): readonly (readonly string[])[] => {
    const clean = toSegments(withoutDrive(text)) ?? [];
    // A sent file may have a name that `toSegments` refuses.
    const parts = text.length > MAX_PATH ? [] : text.split('/');
    const literal = parts.includes('..') ? [] : parts.filter((part) => part !== '' && part !== '.');
    const isSame = literal.join('/') === clean.join('/');
    return (isSame ? [literal] : [literal, clean]).filter(({ length }) => length > 0);
  };
  const sharedCount = lazily(() => {
    const all = [...reported].flatMap((text) => readingsOf(text).slice(-1));
    const [first = []] = all;
    for (let count = 1; count < Math.min(first.length, maxDepth); count += 1) {
      const isShared = all.every((each) => each.length > count && each[count - 1] === first[count - 1]);
      // A bare name may be that of any other file.
      if (!isShared || all.every((each) => each.length === count + 1)) return undefined;
      if (all.every((each) => find(each.slice(count).join('/')) !== 'notFound')) return count;
    }
    return undefined;
  });
  const findWithoutShared: Find = (segments) => {
    const count = segments.length > maxDepth ? undefined : sharedCount();
    return count === undefined ? 'notFound' : find(segments.slice(count).join('/'));
  };
  const findByEnd: Find = (segments) => {
    if (segments.length > maxDepth) return 'notFound';
    const wanted = segments.map(toComparable);
    const start = wanted.findIndex((_, at) => byEnd().has(wanted.slice(at).join('/')));
    if (start < 0) return 'notFound';
    const end = wanted.slice(start).join('/');
    const path = byEnd().get(end);
    if (path === undefined) return 'ambiguous';
    const [topFolder = ''] = toComparable(path).split('/');
    // `packages/a/src/index.ts` and `packages/b/src/index.ts` end alike, and are two files.
    const isOther = toComparable(path) !== end && wanted.slice(0, start).includes(topFolder);
    return isOther ? 'notFound' : { path };
  };
  return { readingsOf, steps: [findExactly(names, find), findWithoutShared, findByEnd] };
}

/** Searches the files on the disk, for a target whose sent files are not known. */
function onDisk(names: readonly string[], rootsOf: () => readonly string[], visit: Visit): Search {
  const findByEnd: Find = async (segments) => {
    if (segments.length > maxDepth) return 'notFound';
    for (let start = 1; start <= segments.length - 2; start += 1) {
      const hit = await visit(segments.slice(start).join('/'));
      if (typeof hit === 'object') return hit;
    }
    return 'notFound';
  };
  return {
    readingsOf: (text) => {
      const bare = withoutDrive(text);
      // With `..`, it may be beside the folder.
      const isOfOtherMachine = bare !== text && !segmentsOf(bare).includes('..');
      const segments = toSegments(text, rootsOf) ?? (isOfOtherMachine ? toSegments(bare) : undefined);
      return segments === undefined ? [] : [segments];
    },
    steps: [findExactly(names, visit), findByEnd],
  };
}

/** False for paths that lead out of a folder. The list of sent files may come from a bundle, which anybody can write. */
function isSafe(path: string): boolean {
  if (path.includes('\0') || path.split('/').some((part) => part === '' || part === '.' || part === '..'))
    return false;
  if (process.platform !== 'win32') return true;
  return toSegments(path)?.join('/') === path;
}

/** Each path by itself, else by `toComparable`. */
function indexPaths(paths: readonly string[]): ReadonlyMap<string, string> {
  const byText = new Map<string, string>();
  for (const path of paths) byText.set(toComparable(path), path);
  for (const path of paths) byText.set(path, path);
  return byText;
}

/** By each comparable end of at least two segments, its path; undefined where several paths have it. */
function indexEnds(paths: readonly string[]): ReadonlyMap<string, string | undefined> {
  const ends = new Map<string, string | undefined>();
  for (const path of paths) {
    if (path.split('/', maxDepth + 1).length > maxDepth) continue;
    let end = toComparable(path);
    for (let slash = end.indexOf('/'); slash >= 0; slash = end.indexOf('/')) {
      ends.set(end, ends.has(end) ? undefined : path);
      end = end.slice(slash + 1);
    }
  }
  return ends;
}

/** macOS and Japanese input disagree on how `が` is composed; the service may send either. */
function toComparable(path: string): string {
  return path.normalize('NFC');
}

/** Equal for places with one answer. No file has a path with NUL. */
function placeKey({ path, targetIndex }: Place): string {
  return targetIndex === undefined ? path : `${String(targetIndex)}\0${path}`;
}

/** Without `number`, the archive's number. Its name stays, since a folder in it may have the same name. */
export function reportedPath(text: string, number?: string): string {
  const [first, ...others] = toSegments(text) ?? [text];
  const segments = others.length > 0 && first === number ? others : [first, ...others];
  return segments.join('/').normalize('NFC');
}

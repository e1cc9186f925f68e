import { basename } from 'node:path';
import type { Target } from '../../run/state/run.ts';
import { once } from '../../yieldingWork.ts';
import { MAX_PATH, type Place } from '../finding.ts';
import { type PathMapping, visitMapped } from './mappings.ts';
import {
  createVisit,
  type LinkReader,
  type NoFile,
  type NoFileReason,
  none,
  segmentsOf,
  type Spellings,
  spellingsOf,
  toWorkspacePath,
  type Visit,
  withoutDrive,
} from './workspacePath.ts';

/*
 * Turns the paths that a run reports into files. A text is searched for among the files that were sent or, where these are not known, on the disk: (1) as it
 * is, or without its target's name or number, (2) without the first segments that all reported paths share, if each then is a sent file, (3) by its end of at
 * least two segments. What has no file may have one by a person's mapping. A text that fits several files is ambiguous, and no guess is made.
 */

/** A file of a run, by the position of its target; `path` is relative to the target's folder, with `/`. */
export interface SentPosition {
  readonly target: number;
  readonly path: string;
}

export type SearchResult = ({ readonly kind: 'file' } & SentPosition) | NoFile;

export type FileOnDisk = ({ readonly kind: 'file'; readonly absolute: string } & SentPosition) | NoFile;

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

export interface Resolver {
  /** The file that was sent, whether it is still on the disk or not. */
  sentFile(place: Place): Promise<SearchResult>;
  sentPath(place: Place): Promise<SentPath>;
  /** The file on the disk; `sent` is the sent file, if it is known already. */
  locate(place: Place, sent?: SentPosition): Promise<FileOnDisk>;
}

export interface ResolverFacts {
  readonly targets: readonly Pick<Target, 'folder' | 'name'>[];
  /** By target, with the sent paths as keys; undefined where that is not known. */
  readonly sent: readonly (ReadonlyMap<string, unknown> | undefined)[];
  /** All places of the run, whose paths may share their first segments. */
  readonly places: Iterable<Place>;
  readonly mappingOf?: ((folder: string) => readonly PathMapping[]) | undefined;
  /** For tests. */
  readonly links?: LinkReader | undefined;
}

/** A path in a target, or why there is none. */
type Hit = { readonly path: string } | NoFileReason;

type Find = (segments: readonly string[]) => Promise<Hit>;

/** A target whose files are searched. */
interface Searched {
  readonly target: number;
  readonly folder: string;
  /** First segments of a path that mean this target. */
  readonly names: readonly string[];
  readonly roots: Spellings;
  readonly visit: Visit;
  /** The ways to read a path text, each as segments, the most literal first; or why it cannot be read. */
  readonly readingsOf: (text: string) => readonly (readonly string[])[] | NoFileReason;
  /** The steps of the search. */
  readonly steps: readonly [exact: Find, ...others: Find[]];
}

/** Deeper paths are only found as they are. */
const maxDepth = 64;

/** Each path is looked up once. */
export function createResolver({ targets, sent, places, mappingOf, links }: ResolverFacts): Resolver {
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
    const roots = spellingsOf(folder);
    const visit = memoized(createVisit(folder, links), (path) => path);
    const files =
      paths === undefined
        ? onDisk(names, roots, visit)
        : amongSent(names, paths, reported[target] ?? new Set());
    return { target, folder, names, roots, visit, ...files };
  });

  const find = memoized((place: Place): Promise<SearchResult> => {
    const among = targetsOf(place).flatMap((target) => searched[target] ?? []);
    return searchTargets(place.path, among);
  }, placeKey);

  const sentFile = async (place: Place): Promise<SearchResult> => {
    const isKnown = targetsOf(place).every((target) => sent[target] !== undefined);
    return isKnown ? find(place) : none('notFound');
  };

  const sentPath = async (place: Place): Promise<SentPath> => {
    const found = await sentFile(place);
    if (found.kind === 'file')
      return { folder: targets[found.target]?.folder, path: found.path.normalize('NFC') };
    const possible = targetsOf(place);
    const only = possible.length === 1 ? possible[0] : undefined;
    if (only === undefined)
      return { folder: possible.length === 0 ? '' : undefined, path: reportedPath(place.path) };
    const number = sent[only] === undefined ? String(only) : undefined;
    return { folder: targets[only]?.folder, path: reportedPath(place.path, number) };
  };

  const locate = async (place: Place, known?: SentPosition): Promise<FileOnDisk> => {
    const found: SearchResult = known === undefined ? await find(place) : { kind: 'file', ...known };
    const there = found.kind === 'file' ? await searched[found.target]?.visit(found.path) : undefined;
    if (found.kind === 'file' && there?.kind === 'file') return { ...there, ...found };
    // A mapping helps only paths without a file.
    const hits: { readonly names: readonly string[]; readonly file: FileOnDisk }[] = [];
    for (const at of targetsOf(place)) {
      const { folder = '', roots = () => [], names = [], visit } = searched[at] ?? {};
      const mapping = mappingOf?.(folder) ?? [];
      const mapped = visit && (await visitMapped(place.path, { roots, mapping, visit }));
      if (mapped?.kind === 'file') hits.push({ names, file: { ...mapped, target: at } });
    }
    const mapped = namedBy(place.path, hits)?.file;
    return mapped ?? (found.kind === 'none' ? found : there?.kind === 'none' ? there : none('notFound'));
  };

  return { sentFile, sentPath, locate: memoized(locate, placeKey) };
}

async function searchTargets(text: string, targets: readonly Searched[]): Promise<SearchResult> {
  const all = targets.map((target) => ({ ...target, readings: target.readingsOf(text) }));
  for (const step of [0, 1, 2]) {
    const hits = await Promise.all(
      all.map(async ({ readings, steps, ...target }) => {
        const find = steps[step];
        return { ...target, hit: find ? await firstHit(readings, find) : ('notFound' as const) };
      }),
    );
    if (hits.some(({ hit }) => hit === 'ambiguous')) return none('ambiguous');
    const found = hits.filter(({ hit }) => typeof hit === 'object');
    const only = namedBy(text, found);
    if (typeof only?.hit === 'object') return { kind: 'file', target: only.target, path: only.hit.path };
    if (found.length > 0) return none('ambiguous');
    const reason = hits.map(({ hit }) => hit).find((hit) => typeof hit === 'string' && hit !== 'notFound');
    if (typeof reason === 'string') return none(reason);
  }
  return none('notFound');
}

/** The result for the first reading that has one. */
async function firstHit(readings: readonly (readonly string[])[] | NoFileReason, find: Find): Promise<Hit> {
  if (typeof readings === 'string') return readings;
  for (const segments of readings) {
    const hit = await find(segments);
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
function findExactly(names: readonly string[], find: (path: string) => Promise<Hit>): Find {
  return async (segments) => {
    const hit = await find(segments.join('/'));
    const [first = '', ...inTarget] = segments;
    return hit === 'notFound' && inTarget.length > 0 && names.includes(first)
      ? find(inTarget.join('/'))
      : hit;
  };
}

/** Searches the files that were sent of a target, whatever is on the disk now. Paths that would lead out of a folder are left out. */
function amongSent(
  names: readonly string[],
  paths: Iterable<string>,
  reported: ReadonlySet<string>,
): Pick<Searched, 'readingsOf' | 'steps'> {
  // There may be hundreds of thousands of paths, and most runs need no index.
  const index = once(() => Promise.resolve(indexPaths(paths)));
  const endsOfPaths = once(async () => indexEnds((await index()).comparable.keys()));
  const toHit = (path: string | undefined): Hit => (path === undefined ? 'notFound' : { path });
  const find = async (path: string): Promise<Hit> => {
    const { safe, comparable } = await index();
    return toHit(safe.has(path) ? path : comparable.get(toComparable(path)));
  };
  const readingsOf = (text: string): readonly (readonly string[])[] | NoFileReason => {
    const parsed = toWorkspacePath(withoutDrive(text));
    const clean = parsed.kind === 'path' ? parsed.segments : [];
    // A sent file may have a name that `toWorkspacePath` refuses.
    const parts = text.length > MAX_PATH ? [] : text.split('/');
    const literal = parts.includes('..') ? [] : parts.filter((part) => part !== '' && part !== '.');
    const isSame = literal.join('/') === clean.join('/');
    const readings = (isSame ? [literal] : [literal, clean]).filter(({ length }) => length > 0);
    return readings.length === 0 && parsed.kind === 'none' ? parsed.reason : readings;
  };
  const sharedCount = once(async () => {
    const all = [...reported].flatMap((text) => {
      const readings = readingsOf(text);
      return typeof readings === 'string' ? [] : [readings.at(-1) ?? []];
    });
    const [first = []] = all;
    for (let count = 1; count < Math.min(first.length, maxDepth); count += 1) {
      const isShared = all.every((each) => each.length > count && each[count - 1] === first[count - 1]);
      if (!isShared) return undefined;
      // A bare name may be that of any other file.
      if (all.every((each) => each.length === count + 1)) return undefined;
      const hits = await Promise.all(all.map((each) => find(each.slice(count).join('/'))));
      if (hits.every((hit) => hit !== 'notFound')) return count;
    }
    return undefined;
  });
  const withoutShared: Find = async (segments) => {
    const count = segments.length > maxDepth ? undefined : await sharedCount();
    return count === undefined ? 'notFound' : find(segments.slice(count).join('/'));
  };
  const byEnd: Find = async (segments) => {
    if (segments.length > maxDepth) return 'notFound';
    const ends = await endsOfPaths();
    const wanted = segments.map(toComparable);
    for (let start = 0; start <= wanted.length - 2; start += 1) {
      const end = wanted.slice(start).join('/');
      if (!ends.has(end)) continue;
      const path = ends.get(end);
      if (path === undefined) return 'ambiguous';
      const [topFolder = ''] = path.split('/');
      // `packages/a/src/index.ts` and `packages/b/src/index.ts` end alike, and are two files.
      if (path !== end && wanted.slice(0, start).includes(topFolder)) return 'notFound';
      return toHit((await index()).comparable.get(path));
    }
    return 'notFound';
  };
  return { readingsOf, steps: [findExactly(names, find), withoutShared, byEnd] };
}

/** Searches the files on the disk, for a target whose sent files are not known. */
function onDisk(
  names: readonly string[],
  roots: Spellings,
  visit: Visit,
): Pick<Searched, 'readingsOf' | 'steps'> {
  const find = async (path: string): Promise<Hit> => {
    const found = await visit(path);
    return found.kind === 'file' ? { path: found.path } : found.reason;
  };
  const byEnd: Find = async (segments) => {
    if (segments.length > maxDepth) return 'notFound';
    for (let start = 1; start <= segments.length - 2; start += 1) {
      const hit = await find(segments.slice(start).join('/'));
      if (typeof hit === 'object') return hit;
    }
    return 'notFound';
  };
  return {
    readingsOf: (text) => {
      const below = toWorkspacePath(text, roots);
      const hasDrive = below.kind === 'none' && below.reason === 'refused';
      const parsed = hasDrive ? toWorkspacePath(withoutDrive(text)) : below;
      return parsed.kind === 'path' ? [parsed.segments] : parsed.reason;
    },
    steps: [findExactly(names, find), byEnd],
  };
}

/** False for paths that lead out of a folder. The list of sent files may come from a bundle, which anybody can write. */
function isSafe(path: string): boolean {
  if (path.includes('\0') || path.split('/').some((part) => part === '' || part === '.' || part === '..'))
    return false;
  if (process.platform !== 'win32') return true;
  const parsed = toWorkspacePath(path);
  return parsed.kind === 'path' && parsed.segments.join('/') === path;
}

/** The safe paths, and by `toComparable`. */
function indexPaths(paths: Iterable<string>) {
  const safe = new Set<string>();
  const comparable = new Map<string, string>();
  for (const path of paths) {
    if (!isSafe(path)) continue;
    safe.add(path);
    comparable.set(toComparable(path), path);
  }
  return { safe, comparable };
}

/** By each end of at least two segments, its path; undefined where several paths have it. */
function indexEnds(paths: Iterable<string>): ReadonlyMap<string, string | undefined> {
  const ends = new Map<string, string | undefined>();
  for (const path of paths) {
    if (path.split('/', maxDepth + 1).length > maxDepth) continue;
    for (let start = 0, slash = path.indexOf('/'); slash >= 0; slash = path.indexOf('/', start)) {
      const end = path.slice(start);
      ends.set(end, ends.has(end) ? undefined : path);
      start = slash + 1;
    }
  }
  return ends;
}

/** macOS and Japanese input disagree on how `が` is composed; the service may send either. */
function toComparable(path: string): string {
  return path.normalize('NFC');
}

/** Remembers the answers. */
function memoized<From, Args extends readonly unknown[], To>(
  ask: (from: From, ...args: Args) => Promise<To>,
  keyOf: (from: From) => string,
): (from: From, ...args: Args) => Promise<To> {
  const cache = new Map<string, Promise<To>>();
  return (from, ...args) => {
    const key = keyOf(from);
    const answer = cache.get(key) ?? ask(from, ...args);
    cache.set(key, answer);
    return answer;
  };
}

/** Equal for places with one answer. No file has a path with NUL. */
function placeKey({ path, targetIndex }: Place): string {
  return targetIndex === undefined ? path : `${String(targetIndex)}\0${path}`;
}

/** Without `number`, the archive's number. Its name stays, since a folder in it may have the same name. */
export function reportedPath(text: string, number?: string): string {
  const parsed = toWorkspacePath(text);
  const [first, ...others] = parsed.kind === 'path' ? parsed.segments : [text];
  const segments = others.length > 0 && first === number ? others : [first, ...others];
  return segments.join('/').normalize('NFC');
}

import { once } from '../../yieldingWork.ts';
import { MAX_PATH } from '../finding.ts';
import {
  type NoFile,
  none,
  segmentsOf,
  type Spellings,
  type NoFileReason,
  toWorkspacePath,
  type Visit,
  withoutDrive,
} from './workspacePath.ts';

/** The files of a target, among which paths are searched for. */
export interface TargetFiles {
  /** The target's position in its run. */
  readonly target: number;
  /** First segments of a path that mean this target. */
  readonly names: readonly string[];
  /** The ways to read a path text, each as segments, the most literal first; or why it cannot be read. */
  readingsOf(text: string): readonly (readonly string[])[] | NoFileReason;
  /** The file with exactly this path. */
  find(path: string): Promise<SearchResult>;
  /** The file whose path ends with the most of these segments, at least two. Undecided if another sent file has as many. */
  findByEnd(segments: readonly string[]): Promise<SearchResult>;
}

/** `target` is a position, `path` relative to the target's folder, with `/`. */
export type SearchResult = { readonly kind: 'file'; readonly target: number; readonly path: string } | NoFile;

/** Searches the targets at the positions `among`. */
export type Search = (text: string, among: readonly number[]) => Promise<SearchResult>;

interface SearchedTarget {
  readonly files: TargetFiles;
  /** Found when it is first needed. */
  readonly commonPrefix: () => Promise<readonly string[] | undefined>;
}

/** Deeper paths are only found as they are. */
const maxDepth = 64;
const pathsAtOnce = 100;

/**
 * Makes the search for a path text, which goes on with the next step when one finds nothing:
 * 1. the exact path, or the path without its target's name or number (`findExactly`);
 * 2. the path without the prefix that most of the run's paths start with (`findWithoutPrefix`);
 * 3. the only file whose path ends in the same way (`findByEnd`);
 * 4. what an absolute path has below a folder with the target's name (`findBelowName`).
 * A text that fits several files is ambiguous. `reported` has the path texts of the run by target.
 */
export function createSearch(all: readonly TargetFiles[], reported: readonly ReadonlySet<string>[]): Search {
  const targets = all.map((files) => ({
    files,
    commonPrefix: once(() => findCommonPrefix(files, reported[files.target] ?? new Set())),
  }));
  return (text, among) =>
    searchTargets(
      text,
      targets.filter(({ files }) => among.includes(files.target)),
    );
}

async function searchTargets(text: string, targets: readonly SearchedTarget[]): Promise<SearchResult> {
  const readings = targets.map(({ files }) => files.readingsOf(text));
  const steps = [findExactly, findWithoutPrefix, findByEnd, ...(isAbsolute(text) ? [findBelowName] : [])];
  for (const step of steps) {
    const results = await Promise.all(
      targets.map((target, at) => firstResult(readings[at] ?? [], (path) => step(target, path))),
    );
    const result = combined(text, targets, results);
    if (result !== undefined) return result;
  }
  return none('notFound');
}

/** The result for the first reading that has one. */
async function firstResult(
  readings: readonly (readonly string[])[] | NoFileReason,
  find: (segments: readonly string[]) => Promise<SearchResult>,
): Promise<SearchResult> {
  if (typeof readings === 'string') return none(readings);
  for (const segments of readings) {
    const result = await find(segments);
    if (result.kind === 'file' || result.reason !== 'notFound') return result;
  }
  return none('notFound');
}

/** One result for all targets; undefined if no target has one. */
function combined(
  text: string,
  targets: readonly SearchedTarget[],
  results: readonly SearchResult[],
): SearchResult | undefined {
  const reasons = results.flatMap((result) => (result.kind === 'none' ? [result.reason] : []));
  if (reasons.includes('ambiguous')) return none('ambiguous');
  const hits = targets.flatMap(({ files: { names } }, at) => {
    const result = results[at];
    return result?.kind === 'file' ? [{ names, result }] : [];
  });
  if (hits.length > 0) return namedBy(text, hits)?.result ?? none('ambiguous');
  const reason = reasons.find((each) => each !== 'notFound');
  return reason && none(reason);
}

/** The only target; of several, the only one that the first segment of a path names. */
export function namedBy<T extends Pick<TargetFiles, 'names'>>(
  text: string,
  targets: readonly T[],
): T | undefined {
  if (targets.length < 2) return targets[0];
  const [first = ''] = segmentsOf(text);
  const named = targets.filter(({ names }) => names.includes(first));
  return named.length === 1 ? named[0] : undefined;
}

async function findExactly(
  { files }: Pick<SearchedTarget, 'files'>,
  segments: readonly string[],
): Promise<SearchResult> {
  const result = await files.find(segments.join('/'));
  const [first = '', ...inTarget] = segments;
  const isMissing = result.kind === 'none' && result.reason === 'notFound';
  return isMissing && inTarget.length > 0 && files.names.includes(first)
    ? files.find(inTarget.join('/'))
    : result;
}

async function findWithoutPrefix(
  { files, commonPrefix }: SearchedTarget,
  segments: readonly string[],
): Promise<SearchResult> {
  const prefix = await commonPrefix();
  const hasPrefix = prefix?.every((segment, at) => segments[at] === segment) === true;
  return hasPrefix && segments.length > prefix.length
    ? files.find(segments.slice(prefix.length).join('/'))
    : none('notFound');
}

async function findByEnd({ files }: SearchedTarget, segments: readonly string[]): Promise<SearchResult> {
  return segments.length <= maxDepth ? files.findByEnd(segments) : none('notFound');
}

async function findBelowName({ files }: SearchedTarget, segments: readonly string[]): Promise<SearchResult> {
  const at = segments.findLastIndex((segment) => files.names.includes(segment));
  const below = segments.slice(at + 1);
  return at >= 0 && below.length > 0 ? files.find(below.join('/')) : none('notFound');
}

function isAbsolute(text: string): boolean {
  return /^\s*(?:file:|[\\/]|[a-z]:[\\/])/i.test(text);
}

/**
 * The prefix without which most of a run's paths are files. Undefined if more paths are files with all their segments, or if two prefixes are equally
 * good. Paths are never stripped to their last segment: that name may be any other file's.
 */
async function findCommonPrefix(
  files: TargetFiles,
  reported: ReadonlySet<string>,
): Promise<readonly string[] | undefined> {
  const counts = new Map<string, number>();
  let exactCount = 0;
  const count = async (text: string): Promise<void> => {
    const readings = files.readingsOf(text);
    const exact = await firstResult(readings, (path) => findExactly({ files }, path));
    if (exact.kind === 'file') {
      exactCount += 1;
      return;
    }
    const [segments = []] = typeof readings === 'string' ? [] : readings;
    if (segments.length > maxDepth) return;
    for (let length = 1; length <= segments.length - 2; length += 1) {
      const result = await files.find(segments.slice(length).join('/'));
      if (result.kind === 'none') continue;
      const prefix = segments.slice(0, length).join('/');
      counts.set(prefix, (counts.get(prefix) ?? 0) + 1);
    }
  };
  const paths = [...reported];
  for (let start = 0; start < paths.length; start += pathsAtOnce) {
    await Promise.all(paths.slice(start, start + pathsAtOnce).map(count));
  }
  const ranked = [...counts]
    .map(([prefix, times]) => ({ prefix: prefix.split('/'), times }))
    .sort((one, other) => other.times - one.times || one.prefix.length - other.prefix.length);
  const [best, second] = ranked;
  if (best === undefined || best.times <= exactCount) return undefined;
  const isTie = best.times === second?.times && best.prefix.length === second.prefix.length;
  return isTie ? undefined : best.prefix;
}

/** The files that were sent of a target, whatever is on the disk now. Paths that would lead out of a folder are left out. */
export function sentFilesOf(target: number, names: readonly string[], paths: Iterable<string>): TargetFiles {
  // There may be hundreds of thousands of paths, and most runs need no index.
  const index = once(() => Promise.resolve(indexPaths(paths)));
  const sortedEnds = once(async () => sortEnds((await index()).comparable.keys()));
  const toResult = (path: string | undefined): SearchResult =>
    path === undefined ? none('notFound') : { kind: 'file', target, path };
  return {
    target,
    names,
    readingsOf: (text) => {
      const parsed = toWorkspacePath(withoutDrive(text));
      const clean = parsed.kind === 'path' ? parsed.segments : [];
      // A sent file may have a name that `toWorkspacePath` refuses.
      const parts = text.length > MAX_PATH ? [] : text.split('/');
      const literal = parts.includes('..') ? [] : parts.filter((part) => part !== '' && part !== '.');
      const isSame = literal.join('/') === clean.join('/');
      const readings = (isSame ? [literal] : [literal, clean]).filter(({ length }) => length > 0);
      return readings.length === 0 && parsed.kind === 'none' ? parsed.reason : readings;
    },
    find: async (path) => {
      const { safe, comparable } = await index();
      return toResult(safe.has(path) ? path : comparable.get(toComparable(path)));
    },
    findByEnd: async (segments) => {
      const ends = await sortedEnds();
      const { comparable } = await index();
      const reversed = segments.map(toComparable).reverse();
      for (let length = reversed.length; length >= 2; length -= 1) {
        const [end, secondEnd] = startingWith(`${reversed.slice(0, length).join('/')}/`, ends);
        if (secondEnd !== undefined) return none('ambiguous');
        if (end === undefined) continue;
        const path = reverseSegments(end.slice(0, -1)).slice(0, -1);
        const [topFolder = ''] = path.split('/');
        // `packages/a/src/index.ts` and `packages/b/src/index.ts` end alike, and are two files.
        const isOtherFile = path.split('/').length > length && reversed.slice(length).includes(topFolder);
        return isOtherFile ? none('notFound') : toResult(comparable.get(path));
      }
      return none('notFound');
    },
  };
}

/** The files on the disk, for a target whose sent files are not known. */
export function filesOnDisk(
  target: number,
  names: readonly string[],
  roots: Spellings,
  visit: Visit,
): TargetFiles {
  const find = async (path: string): Promise<SearchResult> => {
    const found = await visit(path);
    return found.kind === 'file' ? { kind: 'file', target, path: found.path } : found;
  };
  return {
    target,
    names,
    readingsOf: (text) => {
      const below = toWorkspacePath(text, roots);
      const hasDrive = below.kind === 'none' && below.reason === 'refused';
      const parsed = hasDrive ? toWorkspacePath(withoutDrive(text)) : below;
      return parsed.kind === 'path' ? [parsed.segments] : parsed.reason;
    },
    find,
    findByEnd: async (segments) => {
      for (let start = 1; start <= segments.length - 2; start += 1) {
        const found = await find(segments.slice(start).join('/'));
        if (found.kind === 'file') return found;
      }
      return none('notFound');
    },
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

interface PathIndex {
  readonly safe: ReadonlySet<string>;
  /** By `toComparable`. */
  readonly comparable: ReadonlyMap<string, string>;
}

function indexPaths(paths: Iterable<string>): PathIndex {
  const safe = new Set<string>();
  const comparable = new Map<string, string>();
  for (const path of paths) {
    if (!isSafe(path)) continue;
    safe.add(path);
    comparable.set(toComparable(path), path);
  }
  return { safe, comparable };
}

/** The reversed paths, without deep ones, sorted. */
function sortEnds(paths: Iterable<string>): readonly string[] {
  const ends: string[] = [];
  for (const path of paths) {
    if (path.split('/', maxDepth + 1).length <= maxDepth) ends.push(reverseSegments(path));
  }
  return ends.sort();
}

/** macOS and Japanese input disagree on how `が` is composed; the service may send either. */
function toComparable(path: string): string {
  return path.normalize('NFC');
}

/** `a/b/c` as `c/b/a/`: paths with the same end start with the same text. */
function reverseSegments(path: string): string {
  return `${path.split('/').reverse().join('/')}/`;
}

/** The first two of the sorted texts that start with `start`. */
function startingWith(start: string, sorted: readonly string[]): readonly string[] {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] ?? '') < start) low = middle + 1;
    else high = middle;
  }
  return sorted.slice(low, low + 2).filter((text) => text.startsWith(start));
}

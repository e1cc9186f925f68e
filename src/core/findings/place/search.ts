import { setImmediate } from 'node:timers/promises';
import { inSlices, once } from '../../yieldingWork.ts';
import { MAX_PATH } from '../finding.ts';
import {
  decodingLast,
  type NoFile,
  none,
  segmentsOf,
  type NoFileReason,
  toWorkspacePath,
  type Visit,
} from './workspacePath.ts';

/** The files of a target, among which paths are looked up. */
export interface Files {
  /** The target's position in its run. */
  readonly target: number;
  /** What a path may start with to say that it is in this target. */
  readonly names: readonly string[];
  /** The ways to read a path text, each as segments, the most literal first; or why it has none. */
  read(text: string): readonly (readonly string[])[] | NoFileReason;
  /** The file with exactly this path. */
  look(path: string): Promise<Found>;
  /** The only file whose path ends as this one does, with as many segments as any, and at least two. */
  lookByEnd(segments: readonly string[]): Promise<Found>;
}

/** What a path text means among files: a file by its target's position, and its path in the target's folder, with `/`. */
export type Found = { readonly kind: 'file'; readonly target: number; readonly path: string } | NoFile;

/** Looks a path text up among the files of several targets. */
export type Search = (text: string, among: readonly number[]) => Promise<Found>;

type Way = (files: Files, segments: readonly string[]) => Promise<Found>;

/** Deeper paths are looked up as they are, and in no other way. */
const maxDepth = 64;
const chunk = 100;

/**
 * Makes the search by the rules, in their order: the exact path, or what is left without its target's name or number; what is left without what
 * most of a run's paths start with; the only file that ends so. `reported` are all path texts of the run that may be in a target, by its position.
 * Percent escapes are read only where the text as it stands means nothing. What several files fit is not guessed.
 */
export function createSearch(all: readonly Files[], reported: readonly ReadonlySet<string>[]): Search {
  const prefixes: Promise<readonly string[] | undefined>[] = [];
  const withoutPrefix: Way = async (files, segments) => {
    const prefix = await (prefixes[files.target] ??= commonPrefix(
      files,
      reported[files.target] ?? new Set(),
    ));
    const isThere = prefix?.every((each, at) => segments[at] === each) === true;
    return isThere && segments.length > prefix.length
      ? files.look(segments.slice(prefix.length).join('/'))
      : none('notFound');
  };
  const byEnd: Way = async (files, segments) =>
    segments.length <= maxDepth ? files.lookByEnd(segments) : none('notFound');

  const searchAsIs: Search = async (text, among) => {
    const asked = all.filter(({ target }) => among.includes(target));
    const readings = asked.map((files) => files.read(text));
    for (const way of [exactly, withoutPrefix, byEnd]) {
      const answers = await Promise.all(asked.map((files, at) => lookUp(files, readings[at] ?? [], way)));
      const hits = asked.filter((_, at) => answers[at]?.kind === 'file');
      const chosen = namedBy(text, hits);
      const reasons = answers.flatMap((answer) => (answer.kind === 'none' ? [answer.reason] : []));
      if (hits.length > 1 && chosen === undefined) return none('ambiguous');
      if (reasons.includes('ambiguous')) return none('ambiguous');
      const found = chosen && answers[asked.indexOf(chosen)];
      if (found !== undefined) return found;
      const reason = reasons.find((each) => each !== 'notFound');
      if (reason !== undefined) return none(reason);
    }
    return none('notFound');
  };
  return (text, among) => decodingLast(text, (each) => searchAsIs(each, among));
}

/** The only target; of several, the only one that the first segment of a path names. */
export function namedBy<T extends Pick<Files, 'names'>>(text: string, several: readonly T[]): T | undefined {
  if (several.length < 2) return several[0];
  const [first = ''] = segmentsOf(text);
  const [named, ...others] = several.filter(({ names }) => names.includes(first));
  return others.length === 0 ? named : undefined;
}

const exactly: Way = async (files, segments) => {
  const found = await files.look(segments.join('/'));
  const [first = '', ...rest] = segments;
  const isNamed = found.kind === 'none' && found.reason === 'notFound' && files.names.includes(first);
  return isNamed && rest.length > 0 ? files.look(rest.join('/')) : found;
};

/** What a way gives for the first reading of a text that it gives anything for. */
async function lookUp(files: Files, readings: ReturnType<Files['read']>, way: Way): Promise<Found> {
  if (typeof readings === 'string') return none(readings);
  for (const segments of readings) {
    const found = await way(files, segments);
    if (found.kind === 'file' || found.reason !== 'notFound') return found;
  }
  return none('notFound');
}

/**
 * What most paths of a run start with before they are files: undefined where more are files as they stand, or where two such starts are equally good. A
 * file at the top says nothing: its name alone may be any other file's.
 */
async function commonPrefix(
  files: Files,
  reported: ReadonlySet<string>,
): Promise<readonly string[] | undefined> {
  const counts = new Map<string, number>();
  let asTheyStand = 0;
  const count = async (text: string): Promise<void> => {
    const readings = files.read(text);
    if ((await lookUp(files, readings, exactly)).kind === 'file') {
      asTheyStand += 1;
      return;
    }
    const [segments = []] = typeof readings === 'string' ? [] : readings;
    if (segments.length > maxDepth) return;
    for (let length = 1; length <= segments.length - 2; length += 1) {
      if ((await files.look(segments.slice(length).join('/'))).kind === 'none') continue;
      const prefix = segments.slice(0, length).join('/');
      counts.set(prefix, (counts.get(prefix) ?? 0) + 1);
    }
  };
  const waiting = [...reported];
  for (let start = 0; start < waiting.length; start += chunk) {
    await Promise.all(waiting.slice(start, start + chunk).map(count));
    await setImmediate();
  }
  const found = [...counts].map(([prefix, times]) => ({ prefix: prefix.split('/'), times }));
  const [best, next] = found.sort(
    (one, other) => other.times - one.times || one.prefix.length - other.prefix.length,
  );
  if (best === undefined || best.times <= asTheyStand) return undefined;
  return best.times === next?.times && best.prefix.length === next.prefix.length ? undefined : best.prefix;
}

/** The files of a target that were sent, whatever is here. Their names may be any that the system takes; those that would lead out of a folder are left out. */
export function sentFilesOf(target: number, names: readonly string[], paths: Iterable<string>): Files {
  // There may be hundreds of thousands.
  const byName = once(() => inSlices(namesOf(paths)));
  const byEnd = once(async () => inSlices(endsOf((await byName()).comparable.keys())));
  const toFound = (path: string | undefined): Found =>
    path === undefined ? none('notFound') : { kind: 'file', target, path };
  return {
    target,
    names,
    read: (text) => {
      const written = toWorkspacePath(text, '');
      const plain = written.kind === 'path' ? written.segments : [];
      const parts = text.length > MAX_PATH ? [] : text.split('/');
      const literal = parts.includes('..') ? [] : parts.filter((part) => part !== '' && part !== '.');
      const isSame = literal.join('/') === plain.join('/');
      const readings = (isSame ? [literal] : [literal, plain]).filter(({ length }) => length > 0);
      return readings.length === 0 && written.kind === 'none' ? written.reason : readings;
    },
    look: async (path) => {
      const { safe, comparable } = await byName();
      return toFound(safe.has(path) ? path : comparable.get(toComparable(path)));
    },
    lookByEnd: async (segments) => {
      const ends = await byEnd();
      const { comparable } = await byName();
      const end = [...segments].reverse().map(toComparable);
      for (let length = end.length; length >= 2; length -= 1) {
        const start = `${end.slice(0, length).join('/')}/`;
        const at = firstFrom(ends, start);
        const [path, next] = ends.slice(at, at + 2).filter((each) => each.startsWith(start));
        if (next !== undefined) return none('ambiguous');
        if (path === undefined) continue;
        const top = path.split('/').at(-2) ?? '';
        // `packages/a/src/index.ts` and `packages/b/src/index.ts` end alike, and are two files.
        const isOther = path.split('/').length - 1 > length && end.slice(length).includes(top);
        return isOther
          ? none('notFound')
          : toFound(comparable.get(backwards(path.slice(0, -1)).slice(0, -1)));
      }
      return none('notFound');
    },
  };
}

/** The files of a target that are here: of one whose files nobody knows. Some may never have been sent, so that a path's end says nothing. */
export function filesHere(target: number, names: readonly string[], root: string, visit: Visit): Files {
  return {
    target,
    names,
    read: (text) => {
      const written = toWorkspacePath(text, root);
      return written.kind === 'path' ? [written.segments] : written.reason;
    },
    look: async (path) => {
      const found = await visit(path);
      return found.kind === 'file' ? { kind: 'file', target, path } : found;
    },
    lookByEnd: () => Promise.resolve(none('notFound')),
  };
}

/** The list of what was sent may come from a bundle, which anybody can write. */
function isSafe(path: string): boolean {
  if (path.includes('\0') || path.split('/').some((part) => part === '' || part === '.' || part === '..'))
    return false;
  if (process.platform !== 'win32') return true;
  const written = toWorkspacePath(path, '');
  return written.kind === 'path' && written.segments.join('/') === path;
}

/** The paths that are in a folder, as they are and by their comparable form. */
function* namesOf(
  paths: Iterable<string>,
): Generator<
  undefined,
  { readonly safe: ReadonlySet<string>; readonly comparable: ReadonlyMap<string, string> }
> {
  const safe = new Set<string>();
  const comparable = new Map<string, string>();
  for (const path of paths) {
    yield;
    if (!isSafe(path)) continue;
    safe.add(path);
    comparable.set(toComparable(path), path);
  }
  return { safe, comparable };
}

/** Paths from their ends, sorted; without deeper ones. */
function* endsOf(paths: Iterable<string>): Generator<undefined, readonly string[]> {
  const ends: string[] = [];
  for (const path of paths) {
    yield;
    if (path.split('/', maxDepth + 1).length <= maxDepth) ends.push(backwards(path));
  }
  return ends.sort();
}

/** macOS and Japanese input disagree on how `が` is composed; the service may send either. */
function toComparable(path: string): string {
  return path.normalize('NFC');
}

/** The segments of a path in the other order, each with `/` behind it: paths that end alike begin alike. */
function backwards(path: string): string {
  return `${path.split('/').reverse().join('/')}/`;
}

/** Where the first of sorted texts stands that is not before a text. */
function firstFrom(sorted: readonly string[], text: string): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] ?? '') < text) low = middle + 1;
    else high = middle;
  }
  return low;
}

import { setImmediate } from 'node:timers/promises';
import { type NoFile, none } from './locate.ts';
import { percentDecoded } from './workspacePath.ts';

/** The files of a target, among which paths are looked up. */
export interface Files {
  /** The target's position in its run. */
  readonly target: number;
  /** What a path may start with to say that it is in this target. */
  readonly names: readonly string[];
  /** The ways to read a path text, each as segments, the most literal first; or why it has none. */
  read(text: string): readonly (readonly string[])[] | NoFile;
  /** The file with exactly this path. */
  look(path: string): Promise<Found>;
  /** The only file whose path ends as this one does, with as many segments as any, and at least two. */
  lookByEnd(segments: readonly string[]): Found;
}

/** A file by its target's position, and its path in the target's folder, with `/`. */
export interface TargetFile {
  readonly target: number;
  readonly path: string;
}

/** What a path text means among files. */
export type Found =
  ({ readonly kind: 'file' } & TargetFile) | { readonly kind: 'none'; readonly reason: NoFile };

/** Looks a path text up among the files of several targets. */
export type Search = (text: string, among: readonly number[]) => Promise<Found>;

type Way = (files: Files, segments: readonly string[]) => Promise<Found>;

/** Deeper paths are looked up as they are, and in no other way. */
const maxDepth = 64;
const chunk = 100;

/**
 * Makes the search by the rules, in their order: the exact path, or what is left without its target's name or number; what is left without what
 * most of a run's paths start with; the only file that ends so. `told` are all path texts of the run that may be in a target, by its position.
 * Percent escapes are read only where the text as it stands means nothing. What several files fit is not guessed.
 */
export function createSearch(all: readonly Files[], told: readonly ReadonlySet<string>[]): Search {
  const prefixes = new Map<Files, Promise<readonly string[] | undefined>>();
  const prefixOf = (files: Files): Promise<readonly string[] | undefined> => {
    const known = prefixes.get(files) ?? commonPrefix(files, told[files.target] ?? new Set());
    prefixes.set(files, known);
    return known;
  };
  const withoutPrefix: Way = async (files, segments) => {
    const prefix = await prefixOf(files);
    const isThere = prefix?.every((each, at) => segments[at] === each) === true;
    return isThere && segments.length > prefix.length
      ? files.look(segments.slice(prefix.length).join('/'))
      : none('notFound');
  };
  const byEnd: Way = (files, segments) =>
    Promise.resolve(segments.length <= maxDepth ? files.lookByEnd(segments) : none('notFound'));

  const searchAsIs: Search = async (text, among) => {
    const asked = all.filter(({ target }) => among.includes(target));
    const readings = asked.map((files) => files.read(text));
    for (const way of [exactly, withoutPrefix, byEnd]) {
      const answers = await Promise.all(asked.map((files, at) => lookUp(files, readings[at] ?? [], way)));
      const hits = asked.filter((_, at) => answers[at]?.kind === 'file');
      const chosen = hits.length > 1 ? namedBy(text, hits) : hits[0];
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

/** The only one of several targets that the first segment of a path names. */
export function namedBy<T extends Pick<Files, 'names'>>(text: string, several: readonly T[]): T | undefined {
  const first = text.split(/[\\/]/).find((segment) => segment !== '' && segment !== '.') ?? '';
  const [named, ...others] = several.filter(({ names }) => names.includes(first));
  return others.length === 0 ? named : undefined;
}

/** Asks about a text, and once more with its percent escapes read when it means nothing as it stands. */
export async function decodingLast<T extends { readonly kind: string; readonly reason?: NoFile }>(
  text: string,
  ask: (text: string) => Promise<T>,
): Promise<T> {
  const found = await ask(text);
  const decoded = percentDecoded(text);
  return found.kind === 'file' || found.reason !== 'notFound' || decoded === undefined ? found : ask(decoded);
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
async function commonPrefix(files: Files, told: ReadonlySet<string>): Promise<readonly string[] | undefined> {
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
  const waiting = [...told];
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

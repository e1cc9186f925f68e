import { MAX_PATH } from '../parse/pathText.ts';
import { none, type Visit } from './locate.ts';
import type { Files, Found } from './search.ts';
import { toWorkspacePath } from './workspacePath.ts';

/** Deeper files are found by their whole path alone. */
const maxDepth = 64;

/** The files of a target that were sent, whatever is here. Their names may be any that the system takes; those that would lead out of a folder are left out. */
export function sentFilesOf(target: number, names: readonly string[], paths: Iterable<string>): Files {
  const safe = new Set([...paths].filter(isSafe));
  const byPath = new Map([...safe].map((path) => [comparable(path), path]));
  let ends: readonly string[] | undefined;
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
    look: (path) => Promise.resolve(toFound(safe.has(path) ? path : byPath.get(comparable(path)))),
    lookByEnd: (segments) => {
      ends ??= [...byPath.keys()]
        .filter((path) => path.split('/', maxDepth + 1).length <= maxDepth)
        .map(backwards)
        .sort();
      const end = [...segments].reverse().map(comparable);
      for (let length = end.length; length >= 2; length -= 1) {
        const start = `${end.slice(0, length).join('/')}/`;
        const at = firstFrom(ends, start);
        const [path, next] = ends.slice(at, at + 2).filter((each) => each.startsWith(start));
        if (next !== undefined) return none('ambiguous');
        if (path === undefined) continue;
        const top = path.split('/').at(-2) ?? '';
        // `packages/a/src/index.ts` and `packages/b/src/index.ts` end alike, and are two files.
        const isOther = path.split('/').length - 1 > length && end.slice(length).includes(top);
        return isOther ? none('notFound') : toFound(byPath.get(backwards(path.slice(0, -1)).slice(0, -1)));
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
    lookByEnd: () => none('notFound'),
  };
}

/** What was sent may be told by a bundle, which anybody can write. */
function isSafe(path: string): boolean {
  if (path.includes('\0') || path.split('/').some((part) => part === '' || part === '.' || part === '..'))
    return false;
  if (process.platform !== 'win32') return true;
  const written = toWorkspacePath(path, '');
  return written.kind === 'path' && written.segments.join('/') === path;
}

/** macOS and Japanese input disagree on how `が` is composed; the service may send either. */
function comparable(path: string): string {
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

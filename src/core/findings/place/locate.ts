import { opendir, realpath, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { systemCode } from '../../errors.ts';
import { pathInside } from '../../pathInside.ts';
import { type FileIndex, createFileIndex, findFile } from './fileIndex.ts';
import { type PathRefusal, percentDecoded, toWorkspacePath } from './workspacePath.ts';

/**
 * Why a path text gives no file: besides its letters (`PathRefusal`), several files fit (`ambiguous`), none does (`notFound`), a
 * link leads out of the folder (`link`), or the system does not let us look (`unreadable`).
 */
type NoFile = PathRefusal | 'ambiguous' | 'notFound' | 'link' | 'unreadable';

/** What a path text of a finding means in one folder. */
export type Located =
  /** An existing file; `path` is relative to the folder, with `/`. `isMapped` when a person decided about paths that start so. */
  | {
      readonly kind: 'file';
      readonly path: string;
      readonly absolute: string;
      readonly isMapped?: true;
    }
  | { readonly kind: 'none'; readonly reason: NoFile };

/** What is asked of the file system; nothing of it opens a file. */
interface LinkReader {
  /** The path without links. */
  realpath(path: string): Promise<string>;
  stat(path: string): Promise<{ isFile(): boolean }>;
  /** Names of regular files in a folder, links aside, as far as that tells them faster than asking for each. */
  filesIn?(folder: string): Promise<ReadonlySet<string>>;
}

/** Paths that start with `from`, and have no file as they are, are meant to start with `to`: whole segments, as a person decided. */
export interface PathMapping {
  readonly from: string;
  /** Relative to the folder, with `/`; empty for the folder itself. */
  readonly to: string;
}

/** The folder in which paths are looked up, and what is known of it. */
export interface LocatorOptions {
  /** Absolute. */
  readonly root: string;
  /** What was sent, relative to the folder, with `/`; without it, only exact paths and their ends can be tried. */
  readonly files?: Iterable<string> | undefined;
  readonly mapping?: readonly PathMapping[] | undefined;
  /** Default: the real file system. */
  readonly links?: LinkReader | undefined;
}

/** To list a folder costs as much as to ask for so many of its files; findings may point at hundreds. */
const fewFiles = 4;
/** Most files of a folder that are listed. */
const maxListed = 5_000;

/** Turns a path text into a file inside the folder. */
export type Locate = (pathText: string) => Promise<Located>;

/** Makes a `Locate` for many paths of one folder: the files are indexed once, and each text is looked up once. */
export function createLocator(options: LocatorOptions): Locate {
  const { root, mapping = [], links = { realpath, stat, filesIn } } = options;
  const index = options.files === undefined ? undefined : createFileIndex(options.files);
  const ownName = basename(root);
  const visit = createVisit(root, links);
  const known = new Map<string, Promise<Located>>();

  /** Undefined when nothing is, or was, exactly there. */
  const searchExactly = async (segments: readonly string[]): Promise<Located | undefined> => {
    const path = segments.join('/');
    const sent = index?.exact(path);
    const found = await visit(sent ?? path);
    return sent !== undefined || !isMissing(found) ? found : undefined;
  };

  /** The exact path, then without the folder's own name, then what is left when leading segments go. */
  const search = async (segments: readonly string[]): Promise<Located> => {
    const withoutName = segments.length > 1 && segments[0] === ownName ? [segments.slice(1)] : [];
    for (const way of [segments, ...withoutName]) {
      const found = await searchExactly(way);
      if (found !== undefined) return found;
    }
    return index === undefined ? searchDisk(segments, visit) : searchIndex(index, segments, visit);
  };

  /** A mapping helps paths that lead nowhere; it moves none that says where its file is. */
  const lookMapped = async (segments: readonly string[]): Promise<Located> => {
    const mapped = mappedPath(segments, mapping);
    if (mapped === undefined) return search(segments);
    const meant = toWorkspacePath(mapped, '');
    if (meant.kind === 'none') return meant;
    const found = (await searchExactly(segments)) ?? (await search(meant.segments));
    return found.kind === 'file' ? { ...found, isMapped: true } : found;
  };

  const look = async (text: string): Promise<Located> => {
    const written = toWorkspacePath(text, root);
    if (written.kind === 'none') return written;
    const found = mapping.length === 0 ? await search(written.segments) : await lookMapped(written.segments);
    return isMissing(found) && written.absolute ? none('outside') : found;
  };

  const lookDecodingLast = async (text: string): Promise<Located> => {
    const found = await look(text);
    if (found.kind === 'file' || (found.reason !== 'notFound' && found.reason !== 'outside')) return found;
    const decoded = percentDecoded(text);
    return decoded === undefined ? found : look(decoded);
  };

  return (pathText) => {
    const seen = known.get(pathText);
    if (seen !== undefined) return seen;
    const located = lookDecodingLast(pathText);
    known.set(pathText, located);
    return located;
  };
}

type Visit = (path: string) => Promise<Located>;

/** Makes the step that decides: a regular file that, with all links followed, is inside the folder. */
function createVisit(root: string, links: LinkReader): Visit {
  let realRoot: Promise<string> | undefined;
  const isInside = async (absolute: string): Promise<boolean> => {
    realRoot ??= links.realpath(root);
    return pathInside(await realRoot, await links.realpath(absolute)) !== undefined;
  };
  const list = async (folder: string): Promise<ReadonlySet<string>> =>
    links.filesIn !== undefined && (await isInside(folder)) ? links.filesIn(folder) : new Set();
  const folders = new Map<string, { asked: number; files?: Promise<ReadonlySet<string>> }>();
  const isListed = async (absolute: string): Promise<boolean> => {
    const path = dirname(absolute);
    const folder = folders.get(path) ?? { asked: 0 };
    folders.set(path, folder);
    folder.asked += 1;
    if (folder.asked > fewFiles) folder.files ??= list(path);
    return (await folder.files)?.has(basename(absolute)) ?? false;
  };
  return async (path) => {
    const absolute = join(root, ...path.split('/'));
    try {
      if (await isListed(absolute)) return { kind: 'file', path, absolute };
      if (!(await isInside(absolute))) return none('link');
      return (await links.stat(absolute)).isFile() ? { kind: 'file', path, absolute } : none('notFound');
    } catch (error) {
      return none(reasonOf(error));
    }
  };
}

async function filesIn(folder: string): Promise<ReadonlySet<string>> {
  const names = new Set<string>();
  try {
    for await (const entry of await opendir(folder, { bufferSize: 256 })) {
      if (entry.isFile()) names.add(entry.name);
      if (names.size >= maxListed) break;
    }
  } catch {
    // A folder whose files may be opened need not let itself be listed.
  }
  return names;
}

async function searchDisk(segments: readonly string[], visit: Visit): Promise<Located> {
  for (let skipped = 1; skipped < segments.length; skipped += 1) {
    const found = await visit(segments.slice(skipped).join('/'));
    if (!isMissing(found)) return found;
  }
  return none('notFound');
}

async function searchIndex(index: FileIndex, segments: readonly string[], visit: Visit): Promise<Located> {
  const match = findFile(index, segments);
  if (match === undefined) return none('notFound');
  return match.kind === 'file' ? visit(match.path) : none('ambiguous');
}

/** The path after the mapping with the longest `from` that fits; undefined when none does. */
function mappedPath(segments: readonly string[], mapping: readonly PathMapping[]): string | undefined {
  const path = segments.join('/');
  const fitting = mapping
    .map(({ from, to }) => ({
      from: from
        .split(/[\\/]/)
        .filter((part) => part !== '' && part !== '.')
        .join('/'),
      to,
    }))
    .filter(({ from }) => from === '' || path === from || path.startsWith(`${from}/`));
  const [best] = fitting.sort((one, other) => other.from.length - one.from.length);
  return best === undefined
    ? undefined
    : `${best.to}/${path.slice(best.from.length)}`.replace(/\/+/g, '/').replace(/^\//, '');
}

function isMissing(located: Located): boolean {
  return located.kind === 'none' && located.reason === 'notFound';
}

function reasonOf(error: unknown): NoFile {
  const code = systemCode(error);
  if (code === 'ELOOP') return 'link';
  return code === 'EACCES' || code === 'EPERM' ? 'unreadable' : 'notFound';
}

function none(reason: NoFile): Located & { readonly kind: 'none' } {
  return { kind: 'none', reason };
}

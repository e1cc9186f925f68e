import { opendir, realpath, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { systemCode } from '../../errors.ts';
import { pathInside } from '../../files.ts';
import type { PathRefusal } from './workspacePath.ts';

/**
 * Why a path text gives no file: besides its letters (`PathRefusal`), several files fit (`ambiguous`), none does (`notFound`), a
 * link leads out of the folder (`link`), or the system does not let us look (`unreadable`).
 */
export type NoFile = PathRefusal | 'ambiguous' | 'notFound' | 'link' | 'unreadable';

/** What a path text of a finding means in one folder. */
export type Located =
  /** An existing file; `path` is relative to the folder, with `/`. */
  | { readonly kind: 'file'; readonly path: string; readonly absolute: string }
  | { readonly kind: 'none'; readonly reason: NoFile };

/** What is asked of the file system; nothing of it opens a file. */
export interface LinkReader {
  /** The path without links. */
  realpath(path: string): Promise<string>;
  stat(path: string): Promise<{ isFile(): boolean }>;
  /** Names of regular files in a folder, links aside, as far as that tells them faster than asking for each. */
  filesIn?(folder: string): Promise<ReadonlySet<string>>;
}

/** To list a folder costs as much as to ask for so many of its files; findings may point at hundreds. */
const fewFiles = 4;
/** Most files of a folder that are listed. */
const maxListed = 5_000;

/** Looks at a path in a folder, relative to it, with `/`. */
export type Visit = (path: string) => Promise<Located>;

/** Makes the step that decides: a regular file that, with all links followed, is inside the folder (absolute). `links` are the real file system's, but for tests. */
export function createVisit(root: string, links: LinkReader = { realpath, stat, filesIn }): Visit {
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

function reasonOf(error: unknown): NoFile {
  const code = systemCode(error);
  if (code === 'ELOOP') return 'link';
  return code === 'EACCES' || code === 'EPERM' ? 'unreadable' : 'notFound';
}

/** The answer that gives no file. */
export function none(reason: NoFile): { readonly kind: 'none'; readonly reason: NoFile } {
  return { kind: 'none', reason };
}

import { lstatSync, type Stats } from 'node:fs';
import { lstat } from 'node:fs/promises';
import { systemCode } from '../errors.ts';

/** A regular file's size and mode, what else it is, or the system's error code. */
export type FileFacts =
  { readonly bytes: number; readonly isExecutable: boolean } | 'link' | 'special' | (string & {});

/**
 * How the file system is asked. On a warm local disk a call takes a fraction of what handing it to another thread takes, and waiting
 * for a promise takes as long again; a file system that takes longer is asked off the thread from then on, until it is fast again.
 */
export interface Pace {
  slow: boolean;
}

/** Longer than this, in ms for each name or file, is slow. */
const slowMs = 0.2;

/** Notes how long it took, since `start`, to ask about so many items. */
export function notePace(pace: Pace, start: number, items: number): void {
  pace.slow = performance.now() - start > slowMs * (items + 1);
}

/** `lstat` of a few files in `folder` (ends in a separator), at once unless the pace is slow. */
export function factsOf(
  folder: string,
  names: readonly string[],
  pace: Pace,
): readonly FileFacts[] | Promise<readonly FileFacts[]> {
  const start = performance.now();
  const noted = <T>(facts: T): T => {
    notePace(pace, start, names.length);
    return facts;
  };
  return pace.slow
    ? Promise.all(names.map(async (name) => askLater(folder + name))).then(noted)
    : noted(names.map((name) => askNow(folder + name)));
}

function askNow(path: string): FileFacts {
  try {
    const stat = lstatSync(path, { throwIfNoEntry: false });
    return stat === undefined ? 'ENOENT' : toFacts(stat);
  } catch (error) {
    return systemCode(error) ?? 'EIO';
  }
}

async function askLater(path: string): Promise<FileFacts> {
  try {
    return toFacts(await lstat(path));
  } catch (error) {
    return systemCode(error) ?? 'EIO';
  }
}

function toFacts(stat: Stats): FileFacts {
  if (stat.isFile()) return { bytes: stat.size, isExecutable: (stat.mode & 0o100) !== 0 };
  return stat.isSymbolicLink() ? 'link' : 'special';
}

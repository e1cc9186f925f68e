import { type Dirent, lstatSync, readdirSync, type Stats } from 'node:fs';
import { lstat, readdir } from 'node:fs/promises';
import { systemCode } from '../errors.ts';
import { toUnits } from './units.ts';

/** A name in a folder. */
export interface Entry {
  /** As on disk; for a name that is not UTF-8 (not `wellFormed`), with its odd bytes written `\xNN`. */
  readonly name: string;
  readonly wellFormed: boolean;
  /** The name in units (`toUnits`), with `/` after a folder's: what rules are asked with, and what entries are ordered by. */
  readonly key: string;
  readonly dirent: Pick<Dirent, 'isDirectory' | 'isFile' | 'isSymbolicLink' | 'isFIFO' | 'isSocket'>;
}

/**
 * How the file system is asked. On a warm local disk a call takes a fraction of what handing it to another thread takes, and waiting
 * for a promise takes as long again; a file system that takes longer is asked off the thread from then on, until it is fast again.
 */
export interface Pace {
  slow: boolean;
}

/** Longer than this, in ms for each name or file, is slow. */
const slowMs = 0.2;

function notePace(pace: Pace, start: number, items: number): void {
  pace.slow = performance.now() - start > slowMs * (items + 1);
}

/** Lists a folder in the byte order of the paths below it; at once unless the pace is slow. */
export function listFolder(full: string, composeNames: boolean, pace: Pace): Entry[] | Promise<Entry[]> {
  const start = performance.now();
  const toEntries = (dirents: Dirent[]): Entry[] | Promise<Entry[]> => {
    notePace(pace, start, dirents.length);
    if (dirents.some(({ name }) => name.includes('\ufffd'))) return listBytes(full);
    return inOrder(
      dirents.map((dirent) =>
        toEntry(dirent, dirent.name, composeNames ? dirent.name.normalize('NFC') : dirent.name),
      ),
    );
  };
  return pace.slow
    ? readdir(full, { withFileTypes: true }).then(toEntries)
    : toEntries(readdirSync(full, { withFileTypes: true }));
}

/** For a folder with names that may not be UTF-8. */
async function listBytes(full: string): Promise<Entry[]> {
  return inOrder((await readdir(full, { withFileTypes: true, encoding: 'buffer' })).map(toEntryOfBytes));
}

function inOrder(entries: Entry[]): Entry[] {
  return entries.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
}

function toEntry(dirent: Entry['dirent'], name: string, matched: string | Buffer, wellFormed = true): Entry {
  const units = toUnits(matched);
  return { name, wellFormed, key: dirent.isDirectory() ? `${units}/` : units, dirent };
}

function toEntryOfBytes(dirent: Dirent<Buffer>): Entry {
  const text = dirent.name.toString('utf8');
  if (Buffer.from(text).equals(dirent.name)) return toEntry(dirent, text, dirent.name);
  const shown = dirent.name
    .toString('latin1')
    .replace(/[\x80-\xff]/g, (byte) => `\\x${byte.charCodeAt(0).toString(16)}`);
  return toEntry(dirent, shown, dirent.name, false);
}

/** `lstat` of a few files in `folder` (ends in a separator), at once unless the pace is slow: for each its facts, or the system's error code. */
export function statFiles(
  folder: string,
  names: readonly string[],
  pace: Pace,
): readonly (Stats | string)[] | Promise<readonly (Stats | string)[]> {
  const start = performance.now();
  const noted = <T>(stats: T): T => {
    notePace(pace, start, names.length);
    return stats;
  };
  return pace.slow
    ? Promise.all(names.map(async (name) => statLater(folder + name))).then(noted)
    : noted(names.map((name) => statNow(folder + name)));
}

function statNow(path: string): Stats | string {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) ?? 'ENOENT';
  } catch (error) {
    return systemCode(error) ?? 'EIO';
  }
}

async function statLater(path: string): Promise<Stats | string> {
  try {
    return await lstat(path);
  } catch (error) {
    return systemCode(error) ?? 'EIO';
  }
}

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
 * How the file system is asked. On a warm local disk a call takes a fraction of what handing it to another thread takes; one that takes
 * longer is asked off the main thread from then on, until it is fast again.
 */
export interface Pace {
  slow: boolean;
}

/** Longer than this, in ms for each name or file, is slow. */
const slowMs = 0.2;

async function paced<T>(
  pace: Pace,
  items: (result: T) => number,
  now: () => T,
  later: () => Promise<T>,
): Promise<T> {
  const start = performance.now();
  const result = pace.slow ? await later() : now();
  pace.slow = performance.now() - start > slowMs * (items(result) + 1);
  return result;
}

/** Lists a folder in the byte order of the paths below it. */
export async function listFolder(full: string, composeNames: boolean, pace: Pace): Promise<Entry[]> {
  const dirents = await paced<Dirent[]>(
    pace,
    ({ length }) => length,
    () => readdirSync(full, { withFileTypes: true }),
    async () => readdir(full, { withFileTypes: true }),
  );
  const entries = dirents.some(({ name }) => name.includes('\ufffd'))
    ? (await readdir(full, { withFileTypes: true, encoding: 'buffer' })).map(toEntryOfBytes)
    : dirents.map((dirent) =>
        toEntry(dirent, dirent.name, composeNames ? dirent.name.normalize('NFC') : dirent.name),
      );
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

/** `lstat` of a few files: for each its facts, or the system's error code. */
export async function statFiles(paths: readonly string[], pace: Pace): Promise<readonly (Stats | string)[]> {
  return paced<(Stats | string)[]>(
    pace,
    ({ length }) => length,
    () => paths.map(statOrCodeSync),
    async () => Promise.all(paths.map(statOrCode)),
  );
}

function statOrCodeSync(path: string): Stats | string {
  try {
    return lstatSync(path);
  } catch (error) {
    return systemCode(error) ?? 'EIO';
  }
}

async function statOrCode(path: string): Promise<Stats | string> {
  try {
    return await lstat(path);
  } catch (error) {
    return systemCode(error) ?? 'EIO';
  }
}

import { type Dirent, readdirSync } from 'node:fs';
import { toUnits } from '../ignore/units.ts';

/** A name in a folder. */
export interface Entry {
  /** As on disk; for a name that is not UTF-8 (not `wellFormed`), with its odd bytes written `\xNN`. */
  readonly name: string;
  readonly wellFormed: boolean;
  /** The name in units (`toUnits`), with `/` after a folder's: what rules are asked with, and what entries are ordered by. */
  readonly key: string;
  readonly dirent: Pick<Dirent, 'isDirectory' | 'isFile' | 'isSymbolicLink' | 'isFIFO' | 'isSocket'>;
}

/** Lists a folder in the byte order of the paths below it. */
export function listFolder(full: string, composeNames: boolean): Entry[] {
  const dirents = readdirSync(full, { withFileTypes: true });
  // A name that may not be UTF-8.
  if (dirents.some(({ name }) => name.includes('\ufffd')))
    return inOrder(readdirSync(full, { withFileTypes: true, encoding: 'buffer' }).map(toEntryOfBytes));
  return inOrder(
    dirents.map((dirent) =>
      toEntry(dirent, dirent.name, composeNames ? dirent.name.normalize('NFC') : dirent.name),
    ),
  );
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

import { type Dirent, lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { toGitBytes } from '../ignore/pattern.ts';
import { isUsableName } from '../../paths.ts';
import type { Reason } from './selection.ts';

export interface FolderEntry {
  /** The name on disk. If it isn't UTF-8 (not `wellFormed`), bytes beyond ASCII are `\xNN`. */
  readonly name: string;
  readonly wellFormed: boolean;
  /** The name in Git's bytes (`toGitBytes`), with `/` for a folder. */
  readonly key: string;
  readonly dirent: Pick<Dirent, 'isDirectory' | 'isFile' | 'isSymbolicLink' | 'isFIFO' | 'isSocket'>;
}

const mayBeUnusable = /[\\:\ud800-\udfff]/;

export function reasonByType(path: string, { name, wellFormed, dirent }: FolderEntry): Reason | undefined {
  const usable = wellFormed && (!mayBeUnusable.test(name) || isUsableName(path.replace(/\/$/, '')));
  if (usable && (dirent.isFile() || dirent.isDirectory())) return undefined;
  if (dirent.isSymbolicLink()) return { kind: 'link' };
  if (!dirent.isFile() && !dirent.isDirectory()) return { kind: 'special' };
  return { kind: 'unusableName' };
}

/** On Windows, a file or a folder may be listed as a link, for example in cloud storage. */
function withType(dirent: Dirent, folder: string): Pick<FolderEntry, 'name' | 'dirent'> {
  const { name } = dirent;
  const stat = dirent.isSymbolicLink() ? lstatSync(join(folder, name), { throwIfNoEntry: false }) : undefined;
  return { name, dirent: stat ?? dirent };
}

export function listFolder(full: string, composeNames: boolean): FolderEntry[] {
  const dirents = readdirSync(full, { withFileTypes: true }).map((dirent) => withType(dirent, full));
  // U+FFFD may stand for bytes that aren't UTF-8.
  const entries = dirents.some(({ name }) => name.includes('\ufffd'))
    ? readdirSync(full, { withFileTypes: true, encoding: 'buffer' }).map(toEntryOfBytes)
    : dirents.map(({ name, dirent }) => toEntry(dirent, name, composeNames ? name.normalize('NFC') : name));
  return entries.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
}

function toEntry(
  dirent: FolderEntry['dirent'],
  name: string,
  matched: string | Buffer,
  wellFormed = true,
): FolderEntry {
  const bytes = toGitBytes(matched);
  return { name, wellFormed, key: dirent.isDirectory() ? `${bytes}/` : bytes, dirent };
}

function toEntryOfBytes(dirent: Dirent<Buffer>): FolderEntry {
  const text = dirent.name.toString('utf8');
  if (Buffer.from(text).equals(dirent.name)) return toEntry(dirent, text, dirent.name);
  const shown = dirent.name
    .toString('latin1')
    .replace(/[\x80-\xff]/g, (byte) => `\\x${byte.charCodeAt(0).toString(16)}`);
  return toEntry(dirent, shown, dirent.name, false);
}

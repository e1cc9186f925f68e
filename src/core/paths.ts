import {
  closeSync,
  constants,
  lstatSync,
  openSync,
  readlinkSync,
  realpath as realpathByLinks,
  realpathSync,
  type Stats,
} from 'node:fs';
import { realpath } from 'node:fs/promises';
import nativePath, { basename, dirname, join, type PlatformPath } from 'node:path';
import { promisify } from 'node:util';
import { isMainThread } from 'node:worker_threads';
import { systemCode } from './errors.ts';

/**
 * Returns a key by which absolute paths are compared. Windows and most disks of macOS ignore letter
 * case. macOS also ignores how letters are composed. The key must not be used as a path.
 */
export function pathKey(path: string, platform: NodeJS.Platform = process.platform): string {
  if (platform === 'win32') return path.replaceAll('/', '\\').toLowerCase();
  if (platform !== 'darwin') return path;
  const composed = path.normalize('NFC');
  return ignoresCase(path) ? composed.toLowerCase() : composed;
}

export function isSamePath(one: string | undefined, other: string | undefined): boolean {
  return one === other || (one !== undefined && other !== undefined && pathKey(one) === pathKey(other));
}

/** The keys are folders, because asking the disk about each of 10,000 files would be slow. */
const knownFolders = new Map<string, boolean>();

/** True if the disk of a path ignores letter case. The path doesn't have to exist. */
function ignoresCase(path: string): boolean {
  const folder = dirname(path);
  const known = knownFolders.get(folder) ?? asksDisk(path);
  knownFolders.set(folder, known);
  return known;
}

function asksDisk(path: string): boolean {
  const [folder, name] = [dirname(path), basename(path)];
  if (folder === path) return false;
  const swapped = name === name.toLowerCase() ? name.toUpperCase() : name.toLowerCase();
  const entry = swapped === name ? undefined : entryAt(path);
  return entry === undefined ? asksDisk(folder) : entryAt(join(folder, swapped)) === entry;
}

/** Returns the same text for all names of an entry, or undefined if the entry can't be read. */
function entryAt(path: string): string | undefined {
  try {
    const { dev, ino } = lstatSync(path);
    return `${String(dev)}:${String(ino)}`;
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    return undefined;
  }
}

export function atOrBelow(paths: Iterable<string>): (path: string) => boolean {
  const keys = new Set([...paths].map((path) => pathKey(path)));
  const isIn = (key: string): boolean => keys.has(key) || (dirname(key) !== key && isIn(dirname(key)));
  return (path) => keys.size > 0 && isIn(pathKey(path));
}

/** The result uses `/`. It is empty for the folder itself, and undefined for a file elsewhere. */
export function pathInside(
  folder: string,
  file: string,
  system: PlatformPath = nativePath,
): string | undefined {
  const [outer, inner] = [namesOf(folder, system), namesOf(file, system)];
  const start = inner.slice(0, outer.length);
  const isInside = outer.length <= inner.length && keyOf(start, system) === keyOf(outer, system);
  return isInside ? inner.slice(outer.length).join('/') : undefined;
}

function namesOf(path: string, system: PlatformPath): string[] {
  return system
    .resolve(path)
    .split(system.sep)
    .filter((name) => name !== '');
}

function keyOf(names: readonly string[], system: PlatformPath): string {
  const platform = system.sep === '/' ? (process.platform === 'darwin' ? 'darwin' : 'linux') : 'win32';
  return pathKey(`/${names.join('/')}`, platform);
}

/** `native` asks the operating system. The function itself resolves each part of the path. */
interface RealPaths {
  (path: string): string;
  native(path: string): string;
}

/**
 * Returns the path without links, with a capital drive letter. All comparisons of real paths must
 * use this function or `realPathSync`, because Node's two functions differ on Windows. A mapped
 * drive isn't replaced by its UNC path, which VS Code blocks.
 */
export async function realPath(path: string): Promise<string> {
  // A worker may block its own thread. The synchronous call uses none of the four threads that the
  // process has for files.
  if (!isMainThread) return realPathSync(path);
  const native = await realpath(path);
  return withCapitalDrive(leavesDrive(path, native) ? await promisify(realpathByLinks)(path) : native);
}

export function realPathSync(path: string, system: RealPaths = realpathSync): string {
  const native = system.native(path);
  return withCapitalDrive(leavesDrive(path, native) ? system(path) : native);
}

function leavesDrive(path: string, real: string): boolean {
  return /^[a-z]:/i.test(path) && real.startsWith('\\\\');
}

function withCapitalDrive(path: string): string {
  return path.replace(/^[a-z]:\\/, (drive) => drive.toUpperCase());
}

/** Refuses absolute paths and `..`, including their Windows forms: they lead out of a folder. */
export function isUsableName(path: string): boolean {
  return (
    path.isWellFormed() &&
    !path.includes('\0') &&
    !/^[A-Za-z]:(?:[\\/]|$)/.test(path) &&
    !path.startsWith('\\') &&
    path.split('/').every((name) => name !== '' && name !== '.') &&
    !path.split(/[\\/]/).includes('..')
  );
}

/**
 * Returns how an open file differs from the file at `full`, which must be below `root` without
 * links. Node has no `openat`, so the check follows the opening. If the system knows the path of
 * the open file, that path decides. A check by name could miss a folder that was a link only for a
 * moment.
 */
export function misplaced(
  fd: number,
  root: string,
  full: string,
  stat: Stats,
): 'vanished' | 'changed' | 'outsideRoot' | undefined {
  const real = process.platform === 'linux' ? openPath(fd) : undefined;
  if (real === full) return undefined;
  if (real !== undefined && !real.startsWith(root === '/' ? root : `${root}/`)) return 'outsideRoot';
  const folder = dirname(full);
  if (!isRealPath(folder)) return 'outsideRoot';
  const current = lstatSync(full, { throwIfNoEntry: false });
  if (current === undefined) return 'vanished';
  const isSame = current.isFile() && current.ino === stat.ino && current.dev === stat.dev;
  return isSame && real === undefined ? undefined : 'changed';
}

/** False if a part of an absolute path to a folder is a link. */
export function isRealPath(folder: string): boolean {
  // `realpath` is slow for a deep path, so `/proc` is tried first on Linux.
  const fd = process.platform === 'linux' ? openSync(folder, constants.O_RDONLY | constants.O_DIRECTORY) : -1;
  try {
    return ((fd < 0 ? undefined : openPath(fd)) ?? realPathSync(folder)) === folder;
  } finally {
    if (fd >= 0) closeSync(fd);
  }
}

/** Undefined if `/proc` can't be read. */
function openPath(fd: number): string | undefined {
  try {
    return readlinkSync(`/proc/self/fd/${String(fd)}`);
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    return undefined;
  }
}

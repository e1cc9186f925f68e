import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readlinkSync,
  readSync,
  type Stats,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { systemCode } from '../errors.ts';
import { realPathSync } from '../paths.ts';

/**
 * True for a relative path (with `/`) that stays below the folder of its extraction on every
 * system.
 */
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

type OmissionReason = 'vanished' | 'unreadable' | 'changedType' | 'changed' | 'outsideRoot' | 'unusableName';

export interface Omission {
  readonly path: string;
  readonly reason: OmissionReason;
  readonly code?: string;
}

/** A regular file, opened without following a link. */
export interface SourceFile {
  readonly fd: number;
  readonly stat: Stats;
}

const attempts = 3;

/**
 * `root` must be free of links. Tries three times while `read` returns undefined for a changed
 * file.
 */
export async function readSource<T>(
  root: string,
  path: string,
  read: (source: SourceFile, isLastAttempt: boolean) => Promise<T | undefined>,
): Promise<T | Omission> {
  let failure: Omission = { path, reason: 'changed' };
  for (let attempt = 1; attempt <= attempts; attempt++) {
    const source = openSource(root, path);
    if ('reason' in source) {
      if (source.reason !== 'changed') return source;
      continue;
    }
    try {
      const result = await read(source, attempt === attempts);
      if (result !== undefined) return result;
    } catch (error) {
      const code = error instanceof Error && 'syscall' in error ? systemCode(error) : undefined;
      if (code === undefined) throw error;
      failure = { path, reason: 'unreadable', code };
    } finally {
      closeSync(source.fd);
    }
  }
  return failure;
}

function openSource(root: string, path: string): SourceFile | Omission {
  const full = join(root, path);
  let fd: number;
  try {
    // These are undefined on Windows, which `
    // ` takes for 0. There the check below finds links, and no FIFO blocks.
    fd = openSync(full, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    const code = systemCode(error) ?? 'EIO';
    if (code === 'ENOENT' || code === 'ENOTDIR') return { path, reason: 'vanished' };
    if (['ELOOP', 'EMLINK', 'ENXIO', 'EISDIR'].includes(code)) return { path, reason: 'changedType' };
    return { path, reason: 'unreadable', code };
  }
  try {
    const stat = fstatSync(fd);
    const reason = stat.isFile() ? misplaced(fd, root, full, stat) : 'changedType';
    if (reason === undefined) return { fd, stat };
    closeSync(fd);
    return { path, reason };
  } catch (error) {
    closeSync(fd);
    return { path, reason: 'unreadable', code: systemCode(error) ?? 'EIO' };
  }
}

/**
 * Looks for links in the path of an open file, because Node has no `openat`. If the system knows
 * that path, only it counts: between two checks by name, a folder can become a link and a folder
 * again.
 */
export function misplaced(fd: number, root: string, full: string, stat: Stats): OmissionReason | undefined {
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

/** True if no part of an absolute path to a folder is a link. Throws the system's errors. */
export function isRealPath(folder: string): boolean {
  // `realpath` takes seconds for a deep path.
  const fd = process.platform === 'linux' ? openSync(folder, constants.O_RDONLY | constants.O_DIRECTORY) : -1;
  try {
    return ((fd < 0 ? undefined : openPath(fd)) ?? realPathSync(folder)) === folder;
  } finally {
    if (fd >= 0) closeSync(fd);
  }
}

/** Linux's `/proc` has the path of an open file. Undefined without it. */
function openPath(fd: number): string | undefined {
  try {
    return readlinkSync(`/proc/self/fd/${String(fd)}`);
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    return undefined;
  }
}

const lfsStart = 'version https://git-lfs.github.com/spec/v1\n';
/** The size of a pointer without extensions, which hardly any has. */
const lfsBytes = { min: 120, max: 200 };

/**
 * True for a file of `bytes` that stands for content that Git LFS has elsewhere. Throws the
 * system's errors.
 */
export function isLfsPointer(full: string, bytes: number): boolean {
  if (bytes < lfsBytes.min || bytes > lfsBytes.max) return false;
  const fd = openSync(full, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    return readAt(fd, lfsStart.length, 0).toString('latin1') === lfsStart;
  } finally {
    closeSync(fd);
  }
}

/** Returns fewer bytes only at the end of the file. */
export function readAt(fd: number, bytes: number, position: number): Buffer {
  const buffer = Buffer.allocUnsafe(bytes);
  let length = 0;
  while (length < bytes) {
    const read = readSync(fd, buffer, length, bytes - length, position + length);
    if (read === 0) break;
    length += read;
  }
  return buffer.subarray(0, length);
}

/** True if the file has the size and time that it had when it was opened. */
export function isUnchanged({ fd, stat }: SourceFile): boolean {
  const current = fstatSync(fd);
  return current.size === stat.size && current.mtimeMs === stat.mtimeMs;
}

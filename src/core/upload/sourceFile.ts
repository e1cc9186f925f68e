import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readlinkSync,
  readSync,
  realpathSync,
  type Stats,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { systemCode } from '../errors.ts';

/** True for a relative path (with `/`) that stays below the folder it is unpacked into, on every system: not absolute, no drive, no `..`, no empty name. */
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

/** Why a selected file is not in the archive. */
type OmissionReason = 'vanished' | 'unreadable' | 'changedType' | 'changed' | 'outsideRoot' | 'unusableName';

/** A selected file that is not in the archive; `code` is the system's, when it refused. */
export interface Omission {
  readonly path: string;
  readonly reason: OmissionReason;
  readonly code?: string;
}

/** An open regular file that lies where its path says, no link on the way. */
export interface SourceFile {
  readonly fd: number;
  readonly stat: Stats;
}

/** Opens a file below `root` (a path free of links) for reading; the caller closes it. */
export function openSource(root: string, path: string): SourceFile | Omission {
  const full = join(root, path);
  let fd: number;
  try {
    // On Windows both flags are undefined, which `|` takes for 0; `misplaced` finds links there, and there are no FIFOs to wait for.
    fd = openSync(full, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    const code = systemCode(error) ?? 'EIO';
    if (code === 'ENOENT' || code === 'ENOTDIR') return { path, reason: 'vanished' };
    if (code === 'ELOOP' || code === 'EMLINK' || code === 'ENXIO' || code === 'EISDIR') {
      return { path, reason: 'changedType' };
    }
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

/** Node has no `openat`: whether a folder on the way was a link is asked after opening, before anything is read. Where the system tells the open file's own path nothing else is believed: between two questions about names a folder can be a link and none again. */
function misplaced(fd: number, root: string, full: string, stat: Stats): OmissionReason | undefined {
  const real = process.platform === 'linux' ? openPath(fd) : undefined;
  if (real === full) return undefined;
  if (real !== undefined && !real.startsWith(root === '/' ? root : `${root}/`)) return 'outsideRoot';
  const folder = dirname(full);
  if (!isInPlace(folder)) return 'outsideRoot';
  const now = lstatSync(full, { throwIfNoEntry: false });
  if (now === undefined) return 'vanished';
  const isSame = now.isFile() && now.ino === stat.ino && now.dev === stat.dev;
  return isSame && real === undefined ? undefined : 'changed';
}

/** True while a folder lies where its path (absolute) says, no link on the way. Throws what the system throws. */
export function isInPlace(folder: string): boolean {
  // To ask about a deep path name by name takes seconds.
  const fd = process.platform === 'linux' ? openSync(folder, constants.O_RDONLY | constants.O_DIRECTORY) : -1;
  try {
    return ((fd < 0 ? undefined : openPath(fd)) ?? realpathSync.native(folder)) === folder;
  } finally {
    if (fd >= 0) closeSync(fd);
  }
}

/** The path that an open file has now, as Linux knows it; undefined without `/proc`. */
function openPath(fd: number): string | undefined {
  try {
    return readlinkSync(`/proc/self/fd/${String(fd)}`);
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    return undefined;
  }
}

/** Reads `bytes` from `position` on; less only at the end of the file. */
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

/** True when the file still has the size and time it had when it was opened. */
export function isUnchanged({ fd, stat }: SourceFile): boolean {
  const now = fstatSync(fd);
  return now.size === stat.size && now.mtimeMs === stat.mtimeMs;
}

import { closeSync, constants, fstatSync, openSync, readSync, type Stats } from 'node:fs';
import { join } from 'node:path';
import { systemCode } from '../errors.ts';
import { misplaced } from '../paths.ts';

type OmissionReason = 'vanished' | 'unreadable' | 'changedType' | 'changed' | 'outsideRoot' | 'unusableName';

export interface Omission {
  readonly path: string;
  readonly reason: OmissionReason;
  readonly code?: string;
}

export interface SourceFile {
  readonly fd: number;
  readonly stat: Stats;
}

const attempts = 3;

/**
 * Opens and reads a file, and retries twice if the file changes or reading fails. `read` returns
 * undefined for a changed file. `root` must be free of links.
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
    // On Windows, the last two flags are undefined, which counts as 0. The check below finds links
    // there, and no FIFO blocks.
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

const lfsStart = 'version https://git-lfs.github.com/spec/v1\n';
/** The size in bytes of a pointer. Extensions can make a pointer larger, but are very rare. */
const lfsBytes = { min: 120, max: 200 };

/** `bytes` is the file's size. Throws the system's errors. */
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

export function isUnchanged({ fd, stat }: SourceFile): boolean {
  const current = fstatSync(fd);
  return current.size === stat.size && current.mtimeMs === stat.mtimeMs;
}

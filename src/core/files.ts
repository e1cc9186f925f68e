import { randomBytes } from 'node:crypto';
import { closeSync, constants, fstatSync, type FSWatcher, openSync, readSync, watch } from 'node:fs';
import {
  access,
  copyFile,
  type FileHandle,
  mkdir,
  open,
  readdir,
  readFile,
  rename,
  rm,
  stat,
} from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { AssessmentError, fileError, systemCode } from './errors.ts';
import type { Disposable } from './ports.ts';

export async function makePrivateFolder(path: string): Promise<void> {
  await mkdir(path, { recursive: true, mode: 0o700 });
}

/** Returns false if the parent folder is gone. */
export async function makeSubfolder(path: string): Promise<boolean> {
  try {
    await mkdir(path, { mode: 0o700 });
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return false;
    if (systemCode(error) !== 'EEXIST') throw error;
  }
  return true;
}

/**
 * A reader sees, and a crash leaves, either the old or the new content. Returns the new stamp. If
 * `beforeReplacing` throws, the old content stays.
 */
export async function writeFileAtomic(
  path: string,
  content: string | Uint8Array | Iterable<string>,
  beforeReplacing?: () => Promise<void>,
): Promise<string> {
  const temporary = `${path}.${randomBytes(6).toString('hex')}.tmp`;
  let fileStamp: string;
  try {
    const file = await open(temporary, 'wx', 0o600);
    try {
      await file.writeFile(content);
      await flush(file);
      fileStamp = toFileStamp(await file.stat({ bigint: true }));
    } finally {
      await file.close();
    }
    await beforeReplacing?.();
    await replaceFile(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  await syncFolder(dirname(path));
  return fileStamp;
}

/** Windows reports these codes while another window or a virus scanner has a file open. */
const temporaryCodes = ['EPERM', 'EACCES', 'EBUSY'];

/** Together, the waits are longer than a virus scanner usually takes. */
const waitsMs = [5, 20, 50, 100, 200, 400];

async function untilFree<T>(act: () => Promise<T>, platform = process.platform): Promise<T> {
  for (const waitMs of platform === 'win32' ? waitsMs : []) {
    try {
      return await act();
    } catch (error) {
      if (!temporaryCodes.includes(systemCode(error) ?? '')) throw error;
    }
    await sleep(waitMs);
  }
  return act();
}

/** On Windows, retries for a while if a program has one of the files open. */
export function replaceFile(
  from: string,
  to: string,
  system = { rename, platform: process.platform },
): Promise<void> {
  return untilFree(() => system.rename(from, to), system.platform);
}

/** Like `replaceFile`, but also works across devices. A failed copy leaves both files unchanged. */
export async function moveFile(
  from: string,
  to: string,
  system = { rename, platform: process.platform },
): Promise<void> {
  try {
    await replaceFile(from, to, system);
    return;
  } catch (error) {
    if (systemCode(error) !== 'EXDEV') throw error;
  }
  const copy = `${to}.${randomBytes(6).toString('hex')}.part`;
  try {
    await copyFile(from, copy);
    await replaceFile(copy, to);
  } catch (error) {
    await rm(copy, { force: true });
    throw error;
  }
  await rm(from, { force: true });
}

/**
 * Identifies a file's version. Includes the inode, because a file may be replaced within one tick
 * of the file system's clock. Undefined if there is no file.
 */
export async function fileStampOf(path: string): Promise<string | undefined> {
  const found = await unlessMissing(() => stat(path, { bigint: true }));
  return found && toFileStamp(found);
}

/** Also returns false if the system refuses access. */
export async function isThere(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

export async function isFolder(path: string): Promise<boolean> {
  return (await unlessMissing(() => stat(path)))?.isDirectory() ?? false;
}

/**
 * Returns false if the file already exists. A new file isn't synced, because only running processes
 * need it.
 */
export async function createExclusive(path: string, content: string): Promise<boolean> {
  let file: FileHandle;
  try {
    file = await open(path, 'wx', 0o600);
  } catch (error) {
    if (systemCode(error) === 'EEXIST') return false;
    throw error;
  }
  try {
    await file.writeFile(content);
  } catch (error) {
    // An empty file would look like a living process's file.
    await rm(path, { force: true });
    throw error;
  } finally {
    await file.close();
  }
  return true;
}

/** Marks the failure of a file operation as the disk's, not the network's. */
export async function onDisk<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw fileError(error) ?? error;
  }
}

/** On Windows, retries for a while if another program has the file open. */
export function readIfThere(
  path: string,
  system: { read(path: string): Promise<string>; platform: NodeJS.Platform } = {
    read: (file) => readFile(file, 'utf8'),
    platform: process.platform,
  },
): Promise<string | undefined> {
  return unlessMissing(() => system.read(path), system.platform);
}

export async function unlessMissing<T>(
  act: () => Promise<T>,
  platform?: NodeJS.Platform,
): Promise<T | undefined> {
  try {
    return await untilFree(act, platform);
  } catch (error) {
    // ENOTDIR means that a file has the name of a folder in the path.
    if (['ENOENT', 'ENOTDIR'].includes(systemCode(error) ?? '')) return undefined;
    throw error;
  }
}

/**
 * Returns the system's code if a folder can't be made or written to. Throws for a full disk, which
 * may have room later.
 */
export async function writeProblem(folder: string, platform = process.platform): Promise<string | undefined> {
  try {
    await makePrivateFolder(folder);
    if (platform !== 'win32') await access(join(folder, '.'), constants.W_OK);
    else {
      // On Windows, access rights don't tell whether a folder can be written to.
      const path = join(folder, `.writable-${randomBytes(6).toString('hex')}.tmp`);
      await (await open(path, 'wx', 0o600)).close();
      await rm(path, { force: true });
    }
    return undefined;
  } catch (error) {
    const problem = fileError(error);
    if (problem?.kind !== 'storage') throw error;
    return problem.data.detail;
  }
}

const staleMs = 60_000;

/**
 * Removes files of unfinished writes, and `unused` files. Keeps those that changed less than a
 * minute before `now`, because they may be in use.
 */
export async function sweepTemporary(
  folder: string,
  now: number,
  unused: (name: string) => boolean = () => false,
): Promise<void> {
  const names = await readdir(folder);
  for (const name of names.filter((each) => /\.(tmp|part)$/.test(each) || unused(each))) {
    const path = join(folder, name);
    // Another window may have renamed or removed the file.
    const found = await unlessMissing(() => stat(path));
    if (found !== undefined && now - found.mtimeMs > staleMs) await rm(path, { force: true });
  }
}

export async function quarantine(path: string, now: number): Promise<string> {
  const aside = `${path}.damaged-${String(now)}`;
  await replaceFile(path, aside);
  return aside;
}

/** Ignores a refusal, because the file systems of some shares and containers can't sync. */
export async function flush(file: FileHandle): Promise<void> {
  try {
    await file.sync();
  } catch (error) {
    if (!['ENOTSUP', 'EINVAL', 'ENOSYS'].includes(systemCode(error) ?? '')) throw error;
  }
}

/** Makes created and renamed entries of a folder durable, if the system can. */
export async function syncFolder(path: string): Promise<void> {
  if (process.platform === 'win32') return;
  const folder = await open(path, 'r');
  try {
    await flush(folder);
  } catch (error) {
    if (!['EPERM', 'EBADF'].includes(systemCode(error) ?? '')) throw error;
  } finally {
    await folder.close();
  }
}

export function toFileStamp({ ino, size, mtimeNs }: { ino: bigint; size: bigint; mtimeNs: bigint }): string {
  return [ino, size, mtimeNs].join(':');
}

/** True if an error means that there is no regular file at a path. */
export function isNoFile(error: unknown): boolean {
  const codes = ['ENOENT', 'ENOTDIR', 'ENAMETOOLONG', 'ELOOP', 'EISDIR', 'ENXIO', 'EMLINK'];
  return codes.includes(systemCode(error) ?? '');
}

/**
 * Reads a small file that may be hostile. Returns undefined if there is no regular file. Throws
 * `sourceUnreadable` if the file is too large or can't be read. Runs synchronously, because a round
 * trip to another thread takes far longer.
 */
export function readRegularFile(
  file: string,
  { maxBytes, followLink }: { maxBytes: number; followLink: boolean },
): Buffer | undefined {
  // Without O_NONBLOCK, opening a FIFO waits for a writer. On Windows, O_NONBLOCK and O_NOFOLLOW
  // are undefined, which counts as 0.
  const flags = constants.O_RDONLY | constants.O_NONBLOCK | (followLink ? 0 : constants.O_NOFOLLOW);
  let fd: number | undefined;
  try {
    fd = openSync(file, flags);
    const stat = fstatSync(fd);
    if (!stat.isFile()) return undefined;
    if (stat.size > maxBytes) throw tooLarge(file, maxBytes);
    const parts: Buffer[] = [];
    for (let bytes = 0; ;) {
      const part = Buffer.allocUnsafe(bytes === 0 ? (stat.size | 4095) + 1 : 4096);
      const length = readSync(fd, part);
      if (length === 0) return Buffer.concat(parts, bytes);
      bytes += length;
      if (bytes > maxBytes) throw tooLarge(file, maxBytes);
      parts.push(part.subarray(0, length));
    }
  } catch (error) {
    if (isNoFile(error)) return undefined;
    const code = systemCode(error);
    if (code === undefined) throw error;
    throw new AssessmentError('sourceUnreadable', { subject: file, detail: code }, { cause: error });
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

function tooLarge(file: string, limit: number): AssessmentError {
  return new AssessmentError('sourceUnreadable', { subject: file, detail: 'EFBIG', limit });
}

const watchPollMs = 10_000;

/**
 * Reports the name of an entry that any process makes, removes, or touches. Undefined means any
 * entry, and is reported every ten seconds if the system can't watch the folder.
 */
export function watchFolder(path: string, onChange: (name: string | undefined) => void): Disposable {
  let watcher: FSWatcher | undefined;
  let timer: NodeJS.Timeout | undefined;
  const poll = (): void => {
    watcher?.close();
    timer ??= setInterval(() => onChange(undefined), watchPollMs).unref();
  };
  try {
    watcher = watch(path, { persistent: false }, (_kind, name) => onChange(name ?? undefined));
    watcher.on('error', poll);
  } catch {
    poll(); // For example, the system has no watches left.
  }
  return {
    dispose: () => {
      watcher?.close();
      clearInterval(timer);
    },
  };
}

import { randomBytes } from 'node:crypto';
import { type FileHandle, mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { systemCode } from './errors.ts';

/** Makes a folder that only this user can enter (0700), with its parents. */
export async function makePrivateFolder(path: string): Promise<void> {
  await mkdir(path, { recursive: true, mode: 0o700 });
}

/** Replaces a file's content so that a reader, or a crash, sees the old or the new content whole; on disk when it resolves; mode 0600. */
export async function writeFileAtomic(path: string, content: string | Uint8Array): Promise<void> {
  const temporary = `${path}.${randomBytes(6).toString('hex')}.tmp`;
  try {
    const file = await open(temporary, 'wx', 0o600);
    try {
      await file.writeFile(content);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  await syncFolder(dirname(path));
}

/** Creates a file that must not exist yet, mode 0600, on disk when it resolves; false when somebody else made it first. */
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
    await file.sync();
  } finally {
    await file.close();
  }
  return true;
}

/** The text of a file, or undefined when there is none. */
export async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** Sets a damaged file aside under a name of its own beside it, and returns that name. */
export async function quarantine(path: string, now: number): Promise<string> {
  const aside = `${path}.damaged-${String(now)}`;
  await rename(path, aside);
  return aside;
}

/** Makes a rename durable; not every file system can, and then the rename alone has to do. */
async function syncFolder(path: string): Promise<void> {
  if (process.platform === 'win32') return;
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } catch (error) {
    if (!['EINVAL', 'ENOTSUP', 'EPERM', 'EBADF'].includes(systemCode(error) ?? '')) throw error;
  } finally {
    await folder.close();
  }
}

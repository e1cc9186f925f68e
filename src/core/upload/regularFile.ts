import { closeSync, constants, fstatSync, openSync, readFileSync, type Stats } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { AssessmentError, systemCode } from '../errors.ts';

/** How to read a small file. */
export interface ReadOptions {
  readonly maxBytes: number;
  readonly followLink: boolean;
}

/** Reads a small file whose name somebody else may have chosen; undefined when there is no regular file of that name. Throws `sourceUnreadable` when it cannot be read or is too large. */
export async function readRegularFile(path: string, options: ReadOptions): Promise<Buffer | undefined> {
  let file: FileHandle;
  try {
    file = await open(path, flagsFor(options));
  } catch (error) {
    throwUnlessAbsent(path, error);
    return undefined;
  }
  try {
    return isReadable(path, await file.stat(), options) ? await file.readFile() : undefined;
  } finally {
    await file.close();
  }
}

/** As `readRegularFile`, at once: on a fast disk in a small part of the time. */
export function readRegularFileNow(path: string, options: ReadOptions): Buffer | undefined {
  let file: number;
  try {
    file = openSync(path, flagsFor(options));
  } catch (error) {
    throwUnlessAbsent(path, error);
    return undefined;
  }
  try {
    return isReadable(path, fstatSync(file), options) ? readFileSync(file) : undefined;
  } finally {
    closeSync(file);
  }
}

function flagsFor({ followLink }: ReadOptions): number {
  // Without O_NONBLOCK a FIFO would wait for a writer. On Windows both flags are undefined, which `|` takes for 0.
  return constants.O_RDONLY | constants.O_NONBLOCK | (followLink ? 0 : constants.O_NOFOLLOW);
}

function throwUnlessAbsent(path: string, error: unknown): void {
  const code = systemCode(error) ?? '';
  if (['ENOENT', 'ENOTDIR', 'ELOOP', 'EISDIR', 'ENXIO', 'EMLINK'].includes(code)) return;
  throw new AssessmentError('sourceUnreadable', { subject: path, detail: code }, { cause: error });
}

function isReadable(path: string, stat: Stats, { maxBytes: limit }: ReadOptions): boolean {
  if (!stat.isFile()) return false;
  if (stat.size <= limit) return true;
  throw new AssessmentError('sourceUnreadable', {
    subject: path,
    detail: 'EFBIG',
    limit,
    actual: stat.size,
  });
}

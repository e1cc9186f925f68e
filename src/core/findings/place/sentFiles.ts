import { hash } from 'node:crypto';
import { closeSync, constants, fstatSync, open, read } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { readIfThere } from '../../files.ts';

/** Past this size a file's text is neither kept nor read to check a finding's lines. */
export const MAX_TEXT_BYTES = 5 * 1024 * 1024;

/** A file as it was sent. */
export interface SentFile {
  readonly path: string;
  readonly bytes: number;
  /** Hex. */
  readonly sha256: string;
}

/** What was sent of a folder, by path relative to it; undefined when that is not known, as of a run that was started elsewhere. */
export async function readSentFiles(
  runFolder: string,
  target: number,
): Promise<ReadonlyMap<string, SentFile> | undefined> {
  const text = await readIfThere(join(runFolder, `manifest-${String(target)}.json`));
  if (text === undefined) return undefined;
  const { entries } = JSON.parse(text) as { entries: readonly SentFile[] };
  return new Map(entries.map((entry) => [entry.path, entry]));
}

/** Where the text of a sent file is kept in the run's folder: a name that no path can lead out of. */
export function sourceFile(runFolder: string, target: number, path: string): string {
  const name = hash('sha256', `${String(target)}\0${path}`, 'hex').slice(0, 40);
  return join(runFolder, 'source', name);
}

const [openFd, readFd] = [promisify(open), promisify(read)];

/**
 * A file's content when it is a regular file of text size; undefined when it is gone, something else, too large or unreadable. Findings point at
 * thousands of files, and the handles of `fs/promises` would cost three times as much; what is asked of an open file is at hand.
 */
export async function readText(file: string): Promise<Buffer | undefined> {
  try {
    // Without O_NONBLOCK a FIFO would wait for a writer. On Windows it is undefined, which `|` takes for 0.
    const fd = await openFd(file, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const found = fstatSync(fd);
      return found.isFile() && found.size <= MAX_TEXT_BYTES ? await readWhole(fd, found.size) : undefined;
    } finally {
      closeSync(fd);
    }
  } catch {
    return undefined; // whatever the reason is, its text is not known
  }
}

async function readWhole(fd: number, size: number): Promise<Buffer> {
  const content = Buffer.allocUnsafe(size);
  for (let length = 0; length < size;) {
    const { bytesRead } = await readFd(fd, content, length, size - length, length);
    if (bytesRead === 0) return content.subarray(0, length);
    length += bytesRead;
  }
  return content;
}

/** True when a content is what was sent. */
export function isSent(content: Buffer, sent: SentFile): boolean {
  return content.length === sent.bytes && hash('sha256', content, 'hex') === sent.sha256;
}

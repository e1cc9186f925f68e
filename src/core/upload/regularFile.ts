import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { AssessmentError, systemCode } from '../errors.ts';

/** Reads a small file whose name somebody else may have chosen; undefined when there is no regular file of that name. Throws `sourceUnreadable` when it cannot be read or is too large. */
export async function readRegularFile(
  path: string,
  options: { maxBytes: number; followLink: boolean },
): Promise<Buffer | undefined> {
  let file: FileHandle;
  try {
    // Without O_NONBLOCK a FIFO would wait for a writer. On Windows both flags are undefined, which `|` takes for 0.
    const flags = constants.O_RDONLY | constants.O_NONBLOCK | (options.followLink ? 0 : constants.O_NOFOLLOW);
    file = await open(path, flags);
  } catch (error) {
    const code = systemCode(error) ?? '';
    if (['ENOENT', 'ENOTDIR', 'ELOOP', 'EISDIR', 'ENXIO', 'EMLINK'].includes(code)) return undefined;
    throw new AssessmentError('sourceUnreadable', { subject: path, detail: code }, { cause: error });
  }
  try {
    const stat = await file.stat();
    if (!stat.isFile()) return undefined;
    if (stat.size > options.maxBytes) {
      throw new AssessmentError('sourceUnreadable', {
        subject: path,
        detail: 'EFBIG',
        limit: options.maxBytes,
        actual: stat.size,
      });
    }
    return await file.readFile();
  } finally {
    await file.close();
  }
}

import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { AssessmentError, systemCode } from '../../errors.ts';

/** How to read a small file. */
export interface ReadOptions {
  readonly maxBytes: number;
  readonly followLink: boolean;
}

/**
 * Reads a small file whose name somebody else may have chosen, hardly more than the limit of it, whatever size it claims; undefined when
 * there is no regular file of that name. At once: to wait for a thread takes far longer. Throws `sourceUnreadable` when it cannot be read or is too large.
 */
export function readRegularFile(path: string, { maxBytes, followLink }: ReadOptions): Buffer | undefined {
  // Without O_NONBLOCK a FIFO would wait for a writer. On Windows both flags are undefined, which `|` takes for 0.
  const flags = constants.O_RDONLY | constants.O_NONBLOCK | (followLink ? 0 : constants.O_NOFOLLOW);
  let file: number | undefined;
  try {
    file = openSync(path, flags);
    const stat = fstatSync(file);
    if (!stat.isFile()) return undefined;
    if (stat.size > maxBytes) throw tooLarge(path, maxBytes);
    const parts: Buffer[] = [];
    for (let bytes = 0; ;) {
      const part = Buffer.allocUnsafe(bytes === 0 ? (stat.size | 4095) + 1 : 4096);
      const length = readSync(file, part);
      if (length === 0) return Buffer.concat(parts, bytes);
      bytes += length;
      if (bytes > maxBytes) throw tooLarge(path, maxBytes);
      parts.push(part.subarray(0, length));
    }
  } catch (error) {
    const code = systemCode(error);
    if (code === undefined) throw error;
    if (['ENOENT', 'ENOTDIR', 'ELOOP', 'EISDIR', 'ENXIO', 'EMLINK'].includes(code)) return undefined;
    throw new AssessmentError('sourceUnreadable', { subject: path, detail: code }, { cause: error });
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

function tooLarge(path: string, limit: number): AssessmentError {
  return new AssessmentError('sourceUnreadable', { subject: path, detail: 'EFBIG', limit });
}

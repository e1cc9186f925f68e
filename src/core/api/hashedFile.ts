import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { AssessmentError } from '../errors.ts';
import { onDisk, toMark } from '../files.ts';

/** A file on disk as it was when it was hashed. */
export interface HashedFile {
  readonly path: string;
  readonly bytes: number;
  /** Hex. */
  readonly sha256: string;
  /** `markOf` the file right after it was hashed: while it has this mark it is not hashed again. */
  readonly mark?: string | undefined;
}

/** Larger ones send no faster, smaller ones take more processor time. */
const chunkBytes = 512 << 10;

/** Throws `lengthChanged` unless the open file holds the bytes that were hashed. Returns its mark, for `sendUnchanged`. */
export async function checkHashed(
  source: FileHandle,
  { bytes, sha256, mark }: HashedFile,
  signal: AbortSignal | undefined,
): Promise<string> {
  const found = await onDisk(source.stat({ bigint: true }));
  if (Number(found.size) !== bytes) throw changed(bytes, Number(found.size));
  const now = toMark(found);
  if (now === mark) return now;
  const hash = createHash('sha256');
  const buffer = Buffer.allocUnsafeSlow(chunkBytes);
  for (let position = 0; position < bytes;) {
    signal?.throwIfAborted();
    const { bytesRead } = await onDisk(source.read(buffer, 0, buffer.length, position));
    if (bytesRead === 0) throw changed(bytes, position);
    hash.update(buffer.subarray(0, bytesRead));
    position += bytesRead;
  }
  if (hash.digest('hex') !== sha256) throw changed(bytes, bytes);
  return now;
}

/** Writes a whole file, reading ahead by one chunk; throws `lengthChanged` before the last one when the file no longer has its mark. */
export async function sendUnchanged(
  source: FileHandle,
  { bytes, mark }: { readonly bytes: number; readonly mark: string },
  write: (chunk: Uint8Array) => Promise<void>,
  onSent: (bytes: number) => void,
): Promise<void> {
  // Two buffers in turn: a stream's new one for each chunk took twice the processor time and ten times the memory.
  const buffers = [Buffer.allocUnsafeSlow(chunkBytes), Buffer.allocUnsafeSlow(chunkBytes)] as const;
  const read = async (index: number): Promise<Buffer> => {
    const buffer = index % 2 === 0 ? buffers[0] : buffers[1];
    const position = index * chunkBytes;
    const wanted = Math.max(0, Math.min(chunkBytes, bytes - position));
    const chunk = await readFull(source, buffer.subarray(0, wanted), position);
    // A wrong body is never completed.
    const isLast = position + wanted >= bytes;
    if (isLast && toMark(await onDisk(source.stat({ bigint: true }))) !== mark) throw changed(bytes, bytes);
    return chunk;
  };
  let chunk = await read(0);
  for (let index = 1, sent = 0; chunk.length > 0; index++) {
    const current = chunk;
    [chunk] = await Promise.all([read(index), write(current)]);
    sent += current.length;
    onSent(sent);
  }
}

async function readFull(source: FileHandle, into: Buffer, position: number): Promise<Buffer> {
  let length = 0;
  while (length < into.length) {
    const { bytesRead } = await onDisk(source.read(into, length, into.length - length, position + length));
    if (bytesRead === 0) throw changed(position + into.length, position + length);
    length += bytesRead;
  }
  return into;
}

function changed(limit: number, actual: number): AssessmentError {
  return new AssessmentError('lengthChanged', { limit, actual });
}

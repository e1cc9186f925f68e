import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { systemCode } from '../../errors.ts';
import { inSlices } from '../../yieldingWork.ts';

/**
 * In a `split` index, another file has most entries. In a `sparse` one, a folder on disk is one
 * entry, without its files.
 */
export type IndexProblem = 'split' | 'sparse' | 'damaged' | 'tooLarge' | 'unreadable' | 'unsupported';

export type ObjectFormat = 'sha1' | 'sha256';

export interface IndexEntries {
  /**
   * Is called in byte order of names, for each file, submodule, and stage of a merge. `name` is
   * relative to the working tree, with a character for each byte. `isSkipped` means that a sparse
   * checkout doesn't write the file to disk. If the call returns false, reading ends with
   * `tooLarge`.
   */
  readonly onFile: (name: string, kind: Record<'isSubmodule' | 'isSkipped', boolean>) => boolean;
  /**
   * Is called for folders that stand for their files, as in a sparse checkout, until it returns
   * true. Their names end in `/`.
   */
  readonly isOnDisk: (folder: string) => boolean;
}

/**
 * The limit for the file, and for all names together, which version 4 compresses. It is enough for
 * about a million files.
 */
const maxBytes = 128 << 20;
const maxNameBytes = 4096;
const pieceBytes = 1 << 20;

/**
 * Reads the names of an index (`gitformat-index`, versions 2 to 4) without blocking the thread for
 * long. A missing file counts as an empty index. A problem means that the names are incomplete.
 */
export async function readGitIndex(
  path: string,
  format: ObjectFormat,
  entries: IndexEntries,
  signal?: AbortSignal,
): Promise<IndexProblem | undefined> {
  let content: Buffer | IndexProblem;
  try {
    content = await readPieces(path, signal);
  } catch (error) {
    signal?.throwIfAborted();
    const code = systemCode(error);
    if (code === undefined) throw error;
    return code === 'ENOENT' || code === 'ENOTDIR' ? undefined : 'unreadable';
  }
  return Buffer.isBuffer(content) ? inSlices(read(content, format, entries), signal) : content;
}

async function readPieces(path: string, signal: AbortSignal | undefined): Promise<Buffer | IndexProblem> {
  // Without O_NONBLOCK, opening a FIFO waits for a writer.
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const stat = await file.stat();
    if (!stat.isFile()) return 'unreadable';
    if (stat.size > maxBytes) return 'tooLarge';
    const content = Buffer.allocUnsafe(stat.size);
    for (let at = 0; at < content.length;) {
      signal?.throwIfAborted();
      const { bytesRead } = await file.read(content, at, Math.min(pieceBytes, content.length - at), at);
      if (bytesRead === 0) return 'damaged';
      at += bytesRead;
    }
    return content;
  } finally {
    await file.close();
  }
}

function* read(
  content: Buffer,
  format: ObjectFormat,
  { onFile, isOnDisk }: IndexEntries,
): Generator<undefined, IndexProblem | undefined> {
  const hashBytes = format === 'sha256' ? 32 : 20;
  const end = content.length - hashBytes;
  if (end < 12 || content.toString('latin1', 0, 4) !== 'DIRC') return 'damaged';
  const version = content.readUInt32BE(4);
  if (version < 2 || version > 4) return 'unsupported';
  if (!(yield* isIntact(content, end, format))) return 'damaged';
  const count = content.readUInt32BE(8);
  /** Version 4 stores only how the end of a name differs from the previous entry's name. */
  let name = '';
  let before = '';
  let namesBytes = 0;
  let hasEmptyName = false;
  let hasSparseFolder = false;
  let at = 12;
  for (let index = 0; index < count; index++) {
    // The loop yields often, because each name may have the maximum length.
    if (index % 16 === 0) yield;
    const start = at;
    at += 40 + hashBytes + 2;
    if (at > end) return 'damaged';
    const type = content.readUInt32BE(start + 24) & 0o170000;
    const flags = content.readUInt16BE(at - 2);
    const isExtended = (flags & 0x4000) !== 0;
    const isSkipped = isExtended && (content.readUInt16BE(at) & 0x4000) !== 0;
    if (isExtended) at += 2;
    let kept = 0;
    if (version === 4) {
      let byte = content[at++] ?? 0;
      let removed = byte & 0x7f;
      while ((byte & 0x80) !== 0 && removed <= maxNameBytes) {
        byte = content[at++] ?? 0;
        removed = ((removed + 1) << 7) | (byte & 0x7f);
      }
      kept = name.length - removed;
    }
    const nul = content.indexOf(0, at);
    if (kept < 0 || nul < 0 || nul >= end) return 'damaged';
    const length = kept + nul - at;
    namesBytes += length;
    if (length > maxNameBytes || namesBytes > maxBytes) return 'tooLarge';
    if ((flags & 0xfff) !== Math.min(length, 0xfff)) return 'damaged';
    name = name.slice(0, kept) + content.toString('latin1', at, nul);
    // Before version 4, entries are padded to a multiple of eight bytes, with at least one NUL.
    at = version === 4 ? nul + 1 : start + ((nul - start + 8) & ~7);
    if (name === '') hasEmptyName = true;
    else if (name < before) return 'damaged';
    else if (type === 0o040000) hasSparseFolder ||= isOnDisk(name);
    else if (!onFile(name, { isSubmodule: type === 0o160000, isSkipped })) return 'tooLarge';
    if (name !== '') before = name;
  }
  const problem = extensionProblem(content, at, end);
  if (problem !== undefined) return problem;
  // Only a split index may have empty names. They stand for names in its other file.
  if (hasEmptyName) return 'damaged';
  return hasSparseFolder ? 'sparse' : undefined;
}

function extensionProblem(content: Buffer, start: number, end: number): IndexProblem | undefined {
  let at = start;
  while (at + 8 <= end) {
    const signature = content.toString('latin1', at, at + 4);
    if (signature === 'link') return 'split';
    if (signature !== 'sdir' && !/^[A-Z]/.test(signature)) return 'unsupported';
    at += 8 + content.readUInt32BE(at + 4);
  }
  return at === end ? undefined : 'damaged';
}

/** With `index.skipHash`, Git writes zeros instead of a checksum. */
function* isIntact(content: Buffer, end: number, format: ObjectFormat): Generator<undefined, boolean> {
  const checksum = content.subarray(end);
  if (checksum.every((byte) => byte === 0)) return true;
  const hash = createHash(format);
  for (let at = 0; at < end; at += pieceBytes) {
    hash.update(content.subarray(at, Math.min(at + pieceBytes, end)));
    yield;
  }
  return hash.digest().equals(checksum);
}

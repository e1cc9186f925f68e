import { createHash, hash } from 'node:crypto';
import { isUsableName } from '../../paths.ts';
import { isUnchanged, type Omission, readSource, readAt, type SourceFile } from '../sourceFile.ts';
import type { SelectedFile } from '../select/selection.ts';

/*
 * The list of files is cut into tasks, in order. A worker reads the files of a task, and a builder
 * (`tarSegments`, `zipSegments`) makes segments of about 4 MB from them: deflated parts of the
 * archive, which `writeArchive` joins. A file is read before its header is built; a larger one
 * follows its header in slices, and is dropped if it changes meanwhile (`undo`). Libraries take one
 * entry at a time, on one thread, and none that is already deflated.
 */

export type ArchiveFormat = 'tar_gz' | 'zip';

interface FileToPack {
  readonly path: string;
  readonly mode: number;
}

interface PackTask {
  readonly id: number;
  /** The index of its first file among all files. */
  readonly first: number;
  readonly files: readonly FileToPack[];
}

export interface PackedPaths {
  readonly paths: string;
  /** The length of each path in `paths`, or `-1 - length` for an executable file. */
  readonly lengths: Int32Array<ArrayBuffer>;
}

/** Sending each path by itself would make a lasting flat copy of it. */
export function toPackedPaths(files: readonly FileToPack[]): PackedPaths {
  return {
    paths: files.map(({ path }) => path).join(''),
    lengths: Int32Array.from(files, ({ path, mode }) => (mode === 0o755 ? -1 - path.length : path.length)),
  };
}

export function fromPackedPaths({ paths, lengths }: PackedPaths): FileToPack[] {
  let at = 0;
  return Array.from(lengths, (length) => {
    const start = at;
    at += length < 0 ? -1 - length : length;
    return { path: paths.slice(start, at), mode: length < 0 ? 0o755 : 0o644 };
  });
}

export interface Segment {
  readonly data: Buffer;
  /** The CRC of the uncompressed data, for tar.gz only. */
  readonly crc: number;
  readonly rawBytes: number;
  /** Records of the central directory for the entries that end in this segment, for zip only. */
  readonly central: Uint8Array;
  /** The offsets of those entries, from the start of their task. */
  readonly offsets: Float64Array<ArrayBuffer>;
}

/** Equal content gives equal bytes. */
export interface SegmentBuilder {
  /** The content must not change before the next `take`. */
  add(file: FileToPack, content: Buffer): void;
  begin(file: FileToPack, bytes: number): void;
  slice(content: Buffer, last: boolean): void;
  take(): Segment | undefined;
  checkpoint(): void;
  undo(): void;
}

export type PackMessage =
  | ({
      readonly kind: 'segment';
      readonly task: number;
      /** The files that end in this segment (`toRecords`). */
      readonly packed: Uint8Array<ArrayBuffer>;
    } & Segment)
  | { readonly kind: 'checkpoint'; readonly task: number }
  | { readonly kind: 'undo'; readonly task: number }
  | { readonly kind: 'done'; readonly task: number; readonly omitted: readonly Omission[] };

export const largeBytes = 4 << 20;
const sliceBytes = 1 << 20;
/** A deflate stream can refer this far back. */
export const windowBytes = 32 << 10;

export async function packTask(
  task: PackTask,
  root: string,
  builder: SegmentBuilder,
  send: (message: PackMessage) => Promise<void>,
): Promise<void> {
  const omitted: Omission[] = [];
  let packed: PackedFile[] = [];
  let contents: Buffer[] = [];
  let pending = 0;
  const flush = async (): Promise<void> => {
    const segment = builder.take();
    contents.forEach(freeMemory);
    contents = [];
    pending = 0;
    if (segment === undefined) return;
    const records = toRecords(packed);
    packed = [];
    await send({ kind: 'segment', task: task.id, packed: records, ...segment });
  };

  for (const [at, file] of task.files.entries()) {
    const omission: Omission | undefined = isUsableName(file.path)
      ? await packFile(file, task.first + at)
      : { path: file.path, reason: 'unusableName' };
    if (omission !== undefined) omitted.push(omission);
    if (pending >= largeBytes) await flush();
  }
  await flush();
  await send({ kind: 'done', task: task.id, omitted });

  async function packFile(file: FileToPack, index: number): Promise<Omission | undefined> {
    const result = await readSource(root, file.path, async (source, isLast) => {
      const isPacked =
        source.stat.size < largeBytes
          ? packWhole(file, index, source, isLast)
          : await packSlices(file, index, source, isLast);
      return isPacked ? 'packed' : undefined;
    });
    return result === 'packed' ? undefined : result;
  }

  /** False if the file changed while it was read. The last attempt keeps what it read. */
  function packWhole(file: FileToPack, index: number, source: SourceFile, isLast: boolean): boolean {
    const content = readAt(source.fd, source.stat.size, 0);
    if (!isLast && (content.length !== source.stat.size || !isUnchanged(source))) return false;
    builder.add(file, content);
    contents.push(content);
    packed.push({ index, bytes: content.length, sha256: hash('sha256', content, 'buffer') });
    pending += content.length;
    return true;
  }

  /** False if the file changed. Its part is dropped, since its header may state another length. */
  async function packSlices(
    file: FileToPack,
    index: number,
    source: SourceFile,
    isLast: boolean,
  ): Promise<boolean> {
    await flush();
    builder.checkpoint();
    await send({ kind: 'checkpoint', task: task.id });
    let complete = false;
    try {
      const sha256 = await addSlices(file, source);
      complete = sha256 !== undefined && (isLast || isUnchanged(source));
      if (complete && sha256 !== undefined) packed.push({ index, bytes: source.stat.size, sha256 });
    } finally {
      if (!complete) {
        builder.undo();
        await send({ kind: 'undo', task: task.id });
      }
    }
    await flush();
    return complete;
  }

  /** Undefined if the file ends early. The last slice is left to the caller's flush. */
  async function addSlices(file: FileToPack, source: SourceFile): Promise<Buffer | undefined> {
    const bytes = source.stat.size;
    const sha256 = createHash('sha256');
    builder.begin(file, bytes);
    for (let position = 0; position < bytes; position += sliceBytes) {
      const length = Math.min(sliceBytes, bytes - position);
      const content = readAt(source.fd, length, position);
      if (content.length < length) return undefined;
      sha256.update(content);
      builder.slice(content, position + length === bytes);
      contents.push(content);
      if (position + length < bytes) await flush();
    }
    return sha256.digest();
  }
}

/** Frees memory at once, because the garbage collector hardly counts memory outside its heap. */
export function freeMemory({ buffer, byteLength }: Uint8Array): void {
  // A part shares its buffer with others.
  if (buffer instanceof ArrayBuffer && byteLength > 0 && byteLength === buffer.byteLength) buffer.transfer(0);
}

export interface ManifestEntry {
  readonly path: string;
  readonly bytes: number;
  readonly sha256: string;
}

interface PackedFile {
  readonly index: number;
  readonly bytes: number;
  readonly sha256: Uint8Array;
}

const hashBytes = 32;
const recordBytes = 4 + 8 + hashBytes;

/** Very many objects with strings would take most of the memory, so these are bytes. */
export function toRecords(packed: readonly PackedFile[]): Uint8Array<ArrayBuffer> {
  const records = new Uint8Array(packed.length * recordBytes);
  const view = new DataView(records.buffer);
  for (const [number, { index, bytes, sha256 }] of packed.entries()) {
    const at = number * recordBytes;
    view.setUint32(at, index);
    view.setFloat64(at + 4, bytes);
    records.set(sha256, at + 12);
  }
  return records;
}

export class Manifest implements Iterable<ManifestEntry> {
  readonly #files: readonly Pick<SelectedFile, 'path'>[];
  readonly #blocks: Uint8Array<ArrayBuffer>[] = [];
  #length = 0;
  #bytes = 0;

  constructor(files: readonly Pick<SelectedFile, 'path'>[]) {
    this.#files = files;
  }

  get length(): number {
    return this.#length;
  }

  get bytes(): number {
    return this.#bytes;
  }

  add(records: Uint8Array<ArrayBuffer>): void {
    this.#blocks.push(records);
    const view = new DataView(records.buffer);
    for (let at = 0; at < records.length; at += recordBytes) {
      this.#length++;
      this.#bytes += view.getFloat64(at + 4);
    }
  }

  *[Symbol.iterator](): Iterator<ManifestEntry> {
    for (const records of this.#blocks) {
      const view = new DataView(records.buffer);
      const hashes = Buffer.from(records.buffer);
      for (let at = 0; at < records.length; at += recordBytes) {
        const path = this.#files[view.getUint32(at)]?.path ?? '';
        const sha256 = hashes.toString('hex', at + 12, at + recordBytes);
        yield { path, bytes: view.getFloat64(at + 4), sha256 };
      }
    }
  }
}

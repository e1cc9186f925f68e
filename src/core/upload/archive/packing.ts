import { createHash, hash } from 'node:crypto';
import { isUsableName } from '../../paths.ts';
import { isUnchanged, type Omission, readSource, readAt, type SourceFile } from '../sourceFile.ts';
import type { SelectedFile } from '../select/selection.ts';

/*
 * The list of files is cut into tasks, in order. A worker reads the files of a task, and a builder
 * (`TarBuilder`, `ZipBuilder`) makes segments from them: parts of the archive, which `writeArchive`
 * joins. A file is read before its header is built, but a file of `largeBytes` or more follows its
 * header in slices, and may be dropped if it changes meanwhile (`undo`).
 */

export type ArchiveFormat = 'tar_gz' | 'zip';

export interface FileToPack {
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

/** Joins the paths, because V8 would keep a second copy of each path that is sent by itself. */
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

/** The same calls give the same bytes. Added content must not change before the next `take`. */
export interface SegmentBuilder {
  add(file: FileToPack, content: Buffer): void;
  begin(file: FileToPack, bytes: number): void;
  slice(content: Buffer, last: boolean): void;
  take(): Segment | undefined;
  checkpoint(): void;
  undo(): void;
}

export type PackMessage = { readonly task: number } & (
  | ({
      readonly kind: 'segment';
      /** The files that end in this segment (`toRecords`). */
      readonly packed: Uint8Array<ArrayBuffer>;
    } & Segment)
  | { readonly kind: 'checkpoint' | 'undo' }
  | { readonly kind: 'done'; readonly omitted: readonly Omission[] }
);

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
  const packer = new Packer(task.id, builder, send);
  const omitted: Omission[] = [];
  for (const [at, file] of task.files.entries()) {
    const result: 'packed' | Omission = isUsableName(file.path)
      ? await readSource(root, file.path, (source, isLast) =>
          packer.pack(file, task.first + at, source, isLast),
        )
      : { path: file.path, reason: 'unusableName' };
    if (result !== 'packed') omitted.push(result);
  }
  await packer.flush();
  await send({ kind: 'done', task: task.id, omitted });
}

class Packer {
  readonly #task: number;
  readonly #builder: SegmentBuilder;
  readonly #send: (message: PackMessage) => Promise<void>;
  #packed: PackedFile[] = [];
  #contents: Buffer[] = [];
  #pendingBytes = 0;

  constructor(task: number, builder: SegmentBuilder, send: (message: PackMessage) => Promise<void>) {
    this.#task = task;
    this.#builder = builder;
    this.#send = send;
  }

  /** Undefined if the file changed. The last attempt drops only a large file that ends early. */
  async pack(
    file: FileToPack,
    index: number,
    source: SourceFile,
    isLast: boolean,
  ): Promise<'packed' | undefined> {
    const isLarge = source.stat.size >= largeBytes;
    const content = isLarge
      ? await this.#addLarge(file, source, isLast)
      : this.#addWhole(file, source, isLast);
    if (content === undefined) return undefined;
    this.#packed.push({ index, ...content });
    if (isLarge || this.#pendingBytes >= largeBytes) await this.flush();
    return 'packed';
  }

  async flush(): Promise<void> {
    const segment = this.#builder.take();
    this.#contents.forEach(freeMemory);
    this.#contents = [];
    this.#pendingBytes = 0;
    if (segment === undefined) return;
    const packed = toRecords(this.#packed);
    this.#packed = [];
    await this.#send({ kind: 'segment', task: this.#task, packed, ...segment });
  }

  #addWhole(file: FileToPack, source: SourceFile, isLast: boolean): PackedContent | undefined {
    const content = readAt(source.fd, source.stat.size, 0);
    if (!isLast && (content.length !== source.stat.size || !isUnchanged(source))) return undefined;
    this.#builder.add(file, content);
    this.#contents.push(content);
    this.#pendingBytes += content.length;
    return { bytes: content.length, sha256: hash('sha256', content, 'buffer') };
  }

  /** Unless it succeeds, drops what it added: the header may state a wrong length. */
  async #addLarge(file: FileToPack, source: SourceFile, isLast: boolean): Promise<PackedContent | undefined> {
    await this.flush();
    this.#builder.checkpoint();
    await this.#send({ kind: 'checkpoint', task: this.#task });
    let isComplete = false;
    try {
      const sha256 = await this.#addSlices(file, source);
      if (sha256 === undefined || !(isLast || isUnchanged(source))) return undefined;
      isComplete = true;
      return { bytes: source.stat.size, sha256 };
    } finally {
      if (!isComplete) {
        this.#builder.undo();
        await this.#send({ kind: 'undo', task: this.#task });
      }
    }
  }

  /** Undefined if the file ends early. `pack` flushes the last slice. */
  async #addSlices(file: FileToPack, source: SourceFile): Promise<Buffer | undefined> {
    const bytes = source.stat.size;
    const sha256 = createHash('sha256');
    this.#builder.begin(file, bytes);
    for (let position = 0; position < bytes; position += sliceBytes) {
      const length = Math.min(sliceBytes, bytes - position);
      const content = readAt(source.fd, length, position);
      if (content.length < length) return undefined;
      sha256.update(content);
      this.#builder.slice(content, position + length === bytes);
      this.#contents.push(content);
      if (position + length < bytes) await this.flush();
    }
    return sha256.digest();
  }
}

/** Frees memory at once, because the garbage collector hardly counts memory outside its heap. */
export function freeMemory({ buffer, byteLength }: Uint8Array): void {
  // A view of only a part is kept, because other views may share its buffer.
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

type PackedContent = Omit<PackedFile, 'index'>;

const hashBytes = 32;
const recordBytes = 4 + 8 + hashBytes;

/** Returns bytes, because objects for very many files would take most of the memory. */
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

export type ManifestFiles = readonly Pick<SelectedFile, 'path'>[];

export class Manifest implements Iterable<ManifestEntry> {
  length = 0;
  bytes = 0;
  readonly #files: ManifestFiles;
  readonly #blocks: Uint8Array<ArrayBuffer>[] = [];

  constructor(files: ManifestFiles) {
    this.#files = files;
  }

  add(records: Uint8Array<ArrayBuffer>): void {
    this.#blocks.push(records);
    const view = new DataView(records.buffer);
    for (let at = 0; at < records.length; at += recordBytes) {
      this.length++;
      this.bytes += view.getFloat64(at + 4);
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

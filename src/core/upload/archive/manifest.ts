import type { SelectedFile } from '../select/selection.ts';

/** A file in an archive. */
export interface ManifestEntry {
  readonly path: string;
  readonly bytes: number;
  /** Hex. */
  readonly sha256: string;
}

/** The same as a worker reports it; `index` is the file's place in the list of all files. */
export interface PackedFile {
  readonly index: number;
  readonly bytes: number;
  readonly sha256: Uint8Array;
}

const hashBytes = 32;
const recordBytes = 4 + 8 + hashBytes;

/** Packed files as bytes: as objects with strings, very many of them would take most of the memory. */
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

/** The files in an archive, in order; each entry is made during the iteration. */
export class Manifest implements Iterable<ManifestEntry> {
  readonly #files: readonly Pick<SelectedFile, 'path'>[];
  readonly #blocks: Uint8Array<ArrayBuffer>[] = [];
  #length = 0;
  #bytes = 0;

  /** `files` is the list of all files, in which `index` counts. */
  constructor(files: readonly Pick<SelectedFile, 'path'>[]) {
    this.#files = files;
  }

  get length(): number {
    return this.#length;
  }

  /** Sum over all files. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Adds the result of `toRecords`. */
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

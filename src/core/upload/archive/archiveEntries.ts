import type { SelectedFile } from '../select/selection.ts';

/** A file as it went into the archive. */
export interface ManifestEntry {
  readonly path: string;
  readonly bytes: number;
  /** Hex. */
  readonly sha256: string;
}

/** An entry as a packer writes it down: `index` is the file's place in the list of files to pack. */
export interface PackedEntry {
  readonly index: number;
  readonly bytes: number;
  readonly sha256: Uint8Array;
}

const hashBytes = 32;
const recordBytes = 4 + 8 + hashBytes;

/** Entries as bytes: very many of them, each an object with texts of its own, would be most of the memory that packing takes. */
export function toRecords(entries: readonly PackedEntry[]): Uint8Array<ArrayBuffer> {
  const records = new Uint8Array(entries.length * recordBytes);
  const view = new DataView(records.buffer);
  for (const [number, { index, bytes, sha256 }] of entries.entries()) {
    const at = number * recordBytes;
    view.setUint32(at, index);
    view.setFloat64(at + 4, bytes);
    records.set(sha256, at + 12);
  }
  return records;
}

/** What stands in an archive, in order; each entry is made when it is asked for. */
export class ArchiveEntries implements Iterable<ManifestEntry> {
  readonly #files: readonly Pick<SelectedFile, 'path'>[];
  readonly #blocks: Uint8Array<ArrayBuffer>[] = [];
  #length = 0;
  #bytes = 0;

  /** `files` is the list that the entries' indexes count in. */
  constructor(files: readonly Pick<SelectedFile, 'path'>[]) {
    this.#files = files;
  }

  get length(): number {
    return this.#length;
  }

  /** Of all files. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Takes over what `toRecords` made. */
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

import { constants, crc32, deflateRawSync } from 'node:zlib';
import { type FileToPack, type Segment, type SegmentBuilder, windowBytes } from './packing.ts';

/** zlib's default, which `git archive` uses. */
const zipLevel = 6;
const utf8Name = 0x0800;
const sizesFollow = 0x0008;
const date1980 = 0x0021;
const maxUint32 = 0xffffffff;
const zip64Tag = 0x0001;
const centralBytes = 46;

/** A larger entry may pass 4 GiB when it is compressed. */
const zip64From = 0xf0000000;

export interface ZipEntry {
  readonly path: string;
  readonly mode: number;
  readonly crc: number;
  readonly bytes: number;
  readonly compressedBytes: number;
  readonly deflated: boolean;
  /** Sizes and CRC follow the content, because the header is written before the content is read. */
  readonly streamed: boolean;
  readonly zip64: boolean;
}

interface Streamed {
  readonly entry: { -readonly [Key in keyof ZipEntry]: ZipEntry[Key] };
  readonly offset: number;
  dictionary: Buffer | undefined;
}

export class ZipBuilder implements SegmentBuilder {
  #pieces: Buffer[] = [];
  #central: Buffer[] = [];
  #offsets: number[] = [];
  #position = 0;
  #checkpoint = 0;
  #streamed: Streamed | undefined;

  add({ path, mode }: FileToPack, content: Buffer): void {
    // The result fits into one chunk: zlib's default of 16 kB for each small file would take most
    // of the memory.
    const chunkSize = Math.max(64, content.length + (content.length >> 8) + 64);
    const compressed = deflateRawSync(content, { level: zipLevel, chunkSize });
    const deflated = compressed.length < content.length;
    const data = deflated ? compressed : content;
    const sums = { crc: crc32(content), bytes: content.length, compressedBytes: data.length };
    const entry: ZipEntry = { path, mode, ...sums, deflated, streamed: false, zip64: false };
    this.#record(entry, this.#position);
    this.#push(localHeader(entry));
    this.#push(data);
  }

  begin(file: FileToPack, bytes: number): void {
    const sums = { crc: 0, bytes: 0, compressedBytes: 0 };
    const entry = { ...file, ...sums, deflated: true, streamed: true, zip64: bytes >= zip64From };
    this.#streamed = { entry, offset: this.#position, dictionary: undefined };
    this.#push(localHeader(entry));
  }

  slice(content: Buffer, last: boolean): void {
    if (this.#streamed === undefined) throw new Error('slice without begin');
    const { entry, offset, dictionary } = this.#streamed;
    const data = deflateRawSync(content, {
      level: zipLevel,
      finishFlush: last ? constants.Z_FINISH : constants.Z_SYNC_FLUSH,
      ...(dictionary === undefined ? {} : { dictionary }),
    });
    entry.crc = crc32(content, entry.crc);
    entry.bytes += content.length;
    entry.compressedBytes += data.length;
    this.#streamed.dictionary = Buffer.from(content.subarray(-windowBytes));
    this.#push(data);
    if (!last) return;
    this.#push(dataDescriptor(entry));
    this.#record(entry, offset);
    this.#streamed = undefined;
  }

  take(): Segment | undefined {
    if (this.#pieces.length === 0) return undefined;
    const data = Buffer.concat(this.#pieces);
    const central = Buffer.concat(this.#central);
    const offsets = Float64Array.from(this.#offsets);
    this.#clear();
    return { data, crc: 0, rawBytes: 0, central, offsets };
  }

  checkpoint(): void {
    this.#checkpoint = this.#position;
  }

  undo(): void {
    this.#clear();
    this.#position = this.#checkpoint;
    this.#streamed = undefined;
  }

  #push(piece: Buffer): void {
    this.#pieces.push(piece);
    this.#position += piece.length;
  }

  #record(entry: ZipEntry, offset: number): void {
    this.#central.push(centralRecord(entry));
    this.#offsets.push(offset);
  }

  #clear(): void {
    this.#pieces = [];
    this.#central = [];
    this.#offsets = [];
  }
}

export function localHeader(entry: ZipEntry): Buffer {
  const name = Buffer.from(entry.path);
  const extra = entry.zip64 ? sizesExtra([0, 0]) : Buffer.alloc(0);
  const header = Buffer.alloc(30);
  header.writeUInt32LE(0x04034b50, 0);
  writeCommon(header, 4, entry, !entry.streamed);
  header.writeUInt16LE(name.length, 26);
  header.writeUInt16LE(extra.length, 28);
  return Buffer.concat([header, name, extra]);
}

function dataDescriptor({ crc, bytes, compressedBytes, zip64 }: ZipEntry): Buffer {
  const descriptor = Buffer.alloc(zip64 ? 24 : 16);
  descriptor.writeUInt32LE(0x08074b50, 0);
  descriptor.writeUInt32LE(crc, 4);
  if (zip64) {
    descriptor.writeBigUInt64LE(BigInt(compressedBytes), 8);
    descriptor.writeBigUInt64LE(BigInt(bytes), 16);
  } else {
    descriptor.writeUInt32LE(compressedBytes, 8);
    descriptor.writeUInt32LE(bytes, 12);
  }
  return descriptor;
}

/** `putOffsets` writes the entry's offset. */
export function centralRecord(entry: ZipEntry): Buffer {
  const name = Buffer.from(entry.path);
  const extra = entry.zip64 ? sizesExtra([entry.bytes, entry.compressedBytes, 0]) : Buffer.alloc(0);
  const record = Buffer.alloc(centralBytes);
  record.writeUInt32LE(0x02014b50, 0);
  record.writeUInt16LE((3 << 8) | (entry.zip64 ? 45 : 20), 4); // "Made on Unix" makes modes count.
  writeCommon(record, 6, entry, true);
  record.writeUInt16LE(name.length, 28);
  record.writeUInt16LE(extra.length, 30);
  record.writeUInt32LE(((0o100000 | entry.mode) << 16) >>> 0, 38);
  if (entry.zip64) record.writeUInt32LE(maxUint32, 42);
  return Buffer.concat([record, name, extra]);
}

function writeCommon(header: Buffer, at: number, entry: ZipEntry, sizesKnown: boolean): void {
  header.writeUInt16LE(entry.zip64 ? 45 : 20, at);
  header.writeUInt16LE(utf8Name | (entry.streamed ? sizesFollow : 0), at + 2);
  header.writeUInt16LE(entry.deflated ? 8 : 0, at + 4);
  header.writeUInt16LE(0, at + 6);
  header.writeUInt16LE(date1980, at + 8);
  if (sizesKnown) header.writeUInt32LE(entry.crc, at + 10);
  if (sizesKnown || entry.zip64) {
    header.writeUInt32LE(entry.zip64 ? maxUint32 : entry.compressedBytes, at + 14);
    header.writeUInt32LE(entry.zip64 ? maxUint32 : entry.bytes, at + 18);
  }
}

function sizesExtra(values: readonly number[]): Buffer {
  const extra = Buffer.alloc(4 + 8 * values.length);
  extra.writeUInt16LE(zip64Tag, 0);
  extra.writeUInt16LE(8 * values.length, 2);
  for (const [index, value] of values.entries()) extra.writeBigUInt64LE(BigInt(value), 4 + 8 * index);
  return extra;
}

/**
 * Changes the records in place, and copies them only if one grows. `offsets` count from `start`,
 * where their task begins.
 */
export function putOffsets(records: Uint8Array, offsets: Float64Array, start: number): Uint8Array {
  const block = Buffer.from(records.buffer, records.byteOffset, records.byteLength);
  const pieces: Buffer[] = [];
  let from = 0;
  let at = 0;
  for (const offset of offsets) {
    const extra = block.readUInt16LE(at + 30);
    const length = centralBytes + block.readUInt16LE(at + 28) + extra;
    const record = block.subarray(at, at + length);
    at += length;
    const start64 = start + offset;
    if (extra > 0) record.writeBigUInt64LE(BigInt(start64), length - 8);
    else if (start64 < maxUint32) record.writeUInt32LE(start64, 42);
    else {
      record.writeUInt16LE(45, 6);
      record.writeUInt16LE(12, 30);
      record.writeUInt32LE(maxUint32, 42);
      pieces.push(block.subarray(from, at), sizesExtra([start64]));
      from = at;
    }
  }
  return pieces.length === 0 ? block : Buffer.concat([...pieces, block.subarray(from)]);
}

export function zipEnd(entries: number, directoryStart: number, directoryBytes: number): Buffer {
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(Math.min(entries, 0xffff), 8);
  end.writeUInt16LE(Math.min(entries, 0xffff), 10);
  end.writeUInt32LE(Math.min(directoryBytes, maxUint32), 12);
  end.writeUInt32LE(Math.min(directoryStart, maxUint32), 16);
  if (entries < 0xffff && directoryStart < maxUint32 && directoryBytes < maxUint32) return end;

  const wide = Buffer.alloc(56);
  wide.writeUInt32LE(0x06064b50, 0);
  wide.writeBigUInt64LE(44n, 4);
  wide.writeUInt16LE((3 << 8) | 45, 12);
  wide.writeUInt16LE(45, 14);
  wide.writeBigUInt64LE(BigInt(entries), 24);
  wide.writeBigUInt64LE(BigInt(entries), 32);
  wide.writeBigUInt64LE(BigInt(directoryBytes), 40);
  wide.writeBigUInt64LE(BigInt(directoryStart), 48);
  const locator = Buffer.alloc(20);
  locator.writeUInt32LE(0x07064b50, 0);
  locator.writeBigUInt64LE(BigInt(directoryStart + directoryBytes), 8);
  locator.writeUInt32LE(1, 16);
  return Buffer.concat([wide, locator, end]);
}

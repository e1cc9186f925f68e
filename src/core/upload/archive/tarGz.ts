import { constants, crc32, deflateRawSync } from 'node:zlib';
import { type FileToPack, freeMemory, type Segment, type SegmentBuilder, windowBytes } from './packing.ts';

/**
 * 1980-01-01, the earliest date that a zip can store. All entries have the same time, so that equal
 * content gives equal bytes.
 */
const fixedTime = 315_532_800;
const block = 512;
const maxOctalSize = 8 ** 11 - 1;
/**
 * At this level, Node's zlib compresses source code about as well as `pigz` at its default level,
 * 6. In Node, level 6 takes 1.5 times as long.
 */
const tarLevel = 5;
/** A typical task fits into one chunk. */
const outputBytes = 128 << 10;

export class TarBuilder implements SegmentBuilder {
  #pieces: Buffer[] = [];
  /** The end of the task's previous segment, to which the next may refer. */
  #dictionary: Buffer | undefined;
  #slicedBytes = 0;

  add({ path, mode }: FileToPack, content: Buffer): void {
    this.#pieces.push(tarHeader(path, mode, content.length), content, tarPadding(content.length));
  }

  begin({ path, mode }: FileToPack, bytes: number): void {
    this.#pieces.push(tarHeader(path, mode, bytes));
    this.#slicedBytes = 0;
  }

  slice(content: Buffer, last: boolean): void {
    this.#slicedBytes += content.length;
    this.#pieces.push(content);
    if (last) this.#pieces.push(tarPadding(this.#slicedBytes));
  }

  take(): Segment | undefined {
    if (this.#pieces.length === 0) return undefined;
    const raw = Buffer.concat(this.#pieces);
    this.#pieces = [];
    const data = deflateRawSync(raw, {
      level: tarLevel,
      chunkSize: outputBytes,
      finishFlush: constants.Z_SYNC_FLUSH,
      ...(this.#dictionary === undefined ? {} : { dictionary: this.#dictionary }),
    });
    const sums = { crc: crc32(raw), rawBytes: raw.length };
    this.#dictionary = Buffer.from(raw.subarray(-windowBytes));
    freeMemory(raw);
    return { data, ...sums, central: new Uint8Array(), offsets: new Float64Array() };
  }

  checkpoint(): void {
    this.#dictionary = undefined;
  }

  undo(): void {
    this.#pieces = [];
    this.#dictionary = undefined;
  }
}

/**
 * Writes POSIX ustar, with a PAX header before it if the name isn't ASCII, or if the name or the
 * size doesn't fit.
 */
function tarHeader(path: string, mode: number, bytes: number): Buffer {
  const name = Buffer.from(path);
  const split = name.length === path.length ? splitName(path) : undefined;
  const records = [
    ...(split === undefined ? [paxRecord('path', name)] : []),
    ...(bytes > maxOctalSize ? [paxRecord('size', Buffer.from(String(bytes)))] : []),
  ];
  const header = ustar(split ?? { prefix: '', name: 'long-name' }, mode, Math.min(bytes, maxOctalSize), '0');
  if (records.length === 0) return header;
  const pax = Buffer.concat(records);
  return Buffer.concat([
    ustar({ prefix: '', name: 'PaxHeader' }, 0o644, pax.length, 'x'),
    pax,
    tarPadding(pax.length),
    header,
  ]);
}

function tarPadding(bytes: number): Buffer {
  return Buffer.alloc((block - (bytes % block)) % block);
}

function splitName(path: string): { prefix: string; name: string } | undefined {
  if (path.length <= 100) return { prefix: '', name: path };
  const slash = path.indexOf('/', path.length - 101);
  return slash > 0 && slash <= 155 && slash < path.length - 1
    ? { prefix: path.slice(0, slash), name: path.slice(slash + 1) }
    : undefined;
}

/** The length in `<length> <key>=<value>\n` includes its own digits. */
function paxRecord(key: string, value: Buffer): Buffer {
  const remainder = Buffer.concat([Buffer.from(` ${key}=`), value, Buffer.from('\n')]);
  let length = remainder.length + 1;
  while (String(length).length + remainder.length !== length)
    length = String(length).length + remainder.length;
  return Buffer.concat([Buffer.from(String(length)), remainder]);
}

function ustar(
  split: { prefix: string; name: string },
  mode: number,
  bytes: number,
  type: '0' | 'x',
): Buffer {
  const header = Buffer.alloc(block);
  const octal = (value: number, at: number, width: number): void => {
    header.write(value.toString(8).padStart(width - 1, '0'), at, 'latin1');
  };
  header.write(split.name, 0, 'latin1');
  octal(mode, 100, 8);
  octal(0, 108, 8);
  octal(0, 116, 8);
  octal(bytes, 124, 12);
  octal(fixedTime, 136, 12);
  header.fill(' ', 148, 156);
  header.write(type, 156, 'latin1');
  header.write('ustar\x0000', 257, 'latin1');
  header.write(split.prefix, 345, 'latin1');
  let sum = 0;
  // An iterator takes several times as long.
  for (let at = 0; at < block; at++) sum += header[at] ?? 0;
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
  return header;
}

export const tarGzStart: Uint8Array = Uint8Array.of(0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff);

export function tarGzEnd(crc: number, rawBytes: number): Buffer {
  const raw = Buffer.alloc(2 * block);
  const data = deflateRawSync(raw, { level: tarLevel, finishFlush: constants.Z_SYNC_FLUSH });
  const crcWithEnd = combineCrc32(crc, crc32(raw), raw.length);
  return Buffer.concat([data, gzipEnd(crcWithEnd, rawBytes + raw.length)]);
}

/**
 * Ends a gzip member after a sync flush: an empty last block, then CRC-32 and length (modulo 2^32)
 * of the content.
 */
function gzipEnd(crc: number, bytes: number): Buffer {
  const end = Buffer.alloc(10);
  end.writeUInt16LE(0x0003, 0);
  end.writeUInt32LE(crc, 2);
  end.writeUInt32LE(bytes % 2 ** 32, 6);
  return end;
}

const polynomial = 0xedb88320;

/** Computes the CRC-32 of two pieces together, like zlib's `crc32_combine`. */
export function combineCrc32(first: number, second: number, secondBytes: number): number {
  let shift = 0x80000000; // x^0
  let power = 0x00800000; // x^8 is one byte further
  for (let bytes = secondBytes; bytes > 0; bytes = Math.floor(bytes / 2)) {
    if (bytes % 2 === 1) shift = multiply(power, shift);
    power = multiply(power, power);
  }
  return (multiply(shift, first) ^ second) >>> 0;
}

/** Multiplies two polynomials over GF(2), modulo `polynomial`. The highest bit is x^0. */
function multiply(a: number, b: number): number {
  let product = 0;
  let shifted = b;
  for (let bit = 0x80000000; bit !== 0; bit >>>= 1) {
    if ((a & bit) !== 0) product ^= shifted;
    shifted = (shifted & 1) === 0 ? shifted >>> 1 : (shifted >>> 1) ^ polynomial;
  }
  return product >>> 0;
}

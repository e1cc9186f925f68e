import { crc32, deflateSync, inflateSync } from 'node:zlib';

export interface Frame {
  readonly png: Buffer;
  readonly ms: number;
}

const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

/**
 * Joins pictures of one size into an animated PNG that repeats. Browsers play it; a program that
 * can’t shows the first picture.
 */
export function toMovingPicture(frames: readonly Frame[]): Buffer {
  const parts: Buffer[] = [];
  let header: Buffer | undefined;
  let sequence = 0;
  for (const [index, { png, ms }] of frames.entries()) {
    const chunks = chunksOf(png);
    const own = chunks.find(({ type }) => type === 'IHDR')?.data ?? Buffer.alloc(0);
    header ??= own;
    if (!own.equals(header)) throw new Error('The pictures differ in size or color type.');
    if (index === 0) parts.push(signature, chunk('IHDR', header), chunk('acTL', uint32s(frames.length, 0)));
    const location = uint32s(header.readUInt32BE(0), header.readUInt32BE(4), 0, 0);
    const delay = Buffer.from([...uint16(ms), ...uint16(1000), 0, 0]);
    parts.push(chunk('fcTL', Buffer.concat([uint32s(sequence++), location, delay])));
    const pixels = deflateSync(inflateSync(Buffer.concat(chunks.filter(isPixels).map(({ data }) => data))), {
      level: 9,
    });
    parts.push(
      index === 0 ? chunk('IDAT', pixels) : chunk('fdAT', Buffer.concat([uint32s(sequence++), pixels])),
    );
  }
  return Buffer.concat([...parts, chunk('IEND', Buffer.alloc(0))]);
}

export function durationsOf(picture: Buffer): readonly number[] {
  return chunksOf(picture)
    .filter(({ type }) => type === 'fcTL')
    .map(({ data }) => (1000 * data.readUInt16BE(20)) / data.readUInt16BE(22));
}

interface Chunk {
  readonly type: string;
  readonly data: Buffer;
}

const isPixels = ({ type }: Chunk): boolean => type === 'IDAT';

function chunksOf(png: Buffer): readonly Chunk[] {
  if (!png.subarray(0, signature.length).equals(signature)) throw new Error('This is no PNG.');
  const chunks: Chunk[] = [];
  for (let at = signature.length; at < png.length;) {
    const length = png.readUInt32BE(at);
    const data = png.subarray(at + 8, at + 8 + length);
    chunks.push({ type: png.toString('latin1', at + 4, at + 8), data });
    at += 12 + length;
  }
  return chunks;
}

function chunk(type: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  return Buffer.concat([uint32s(data.length), named, uint32s(crc32(named))]);
}

function uint32s(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(4 * values.length);
  for (const [index, value] of values.entries()) bytes.writeUInt32BE(value, 4 * index);
  return bytes;
}

function uint16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16BE(value);
  return bytes;
}

import { readAt } from '../sourceFile.ts';

/** How to decode a file. */
export interface Encoding {
  readonly name: 'utf8' | 'utf16le' | 'utf16be';
  readonly bomBytes: number;
}

/** A part of a file's text. */
export interface TextChunk {
  readonly text: string;
  /** Matches that start from here on belong to the next chunk. */
  readonly end: number;
  /** 1-based number of the first line. */
  readonly firstLine: number;
}

/** Small, because secretlint compares its findings in a text pairwise. */
const chunkBytes = 256 << 10;
/** Longer than the longest possible match, a private key of 10,000 characters. */
const overlapBytes = 32 << 10;
const headBytes = 8 << 10;

/** The encoding according to a file's first bytes; undefined for a binary file: one with a NUL in the first 8 KB, as for git, that UTF-16 does not explain. */
export function textEncoding(start: Buffer): Encoding | undefined {
  const head = start.subarray(0, headBytes);
  const [first, second, third] = head;
  if (first === 0xff && second === 0xfe && !(head[2] === 0 && head[3] === 0))
    return { name: 'utf16le', bomBytes: 2 };
  if (first === 0xfe && second === 0xff) return { name: 'utf16be', bomBytes: 2 };
  const bomBytes = first === 0xef && second === 0xbb && third === 0xbf ? 3 : 0;
  return head.includes(0) ? withoutBom(head) : { name: 'utf8', bomBytes };
}

/** In ASCII as UTF-16, every other byte is zero. */
function withoutBom(head: Buffer): Encoding | undefined {
  const zeros = [0, 0];
  head.forEach((byte, index) => {
    if (byte === 0) zeros[index % 2] = (zeros[index % 2] ?? 0) + 1;
  });
  const [even = 0, odd = 0] = zeros;
  if (even + odd < head.length / 4) return undefined;
  if (even === 0) return { name: 'utf16le', bomBytes: 0 };
  return odd === 0 ? { name: 'utf16be', bomBytes: 0 } : undefined;
}

/** The whole text of an open file in overlapping chunks; `start` holds the bytes of the first, already read. */
export function* textChunks(
  fd: number,
  bytes: number,
  start: Buffer,
  encoding: Encoding,
): Generator<TextChunk> {
  let firstLine = 1;
  for (let position = 0; position < Math.max(bytes, 1); position += chunkBytes) {
    const read = position === 0 ? start : readAt(fd, chunkBytes + overlapBytes, position);
    if (read.length === 0) return;
    const skip = position === 0 ? encoding.bomBytes : 0;
    const data = read.subarray(skip);
    const text = decode(data, encoding);
    const isLast = position + chunkBytes >= bytes;
    const end = isLast
      ? text.length
      : decode(data.subarray(0, Math.max(0, chunkBytes - skip)), encoding).length;
    yield { text, end, firstLine };
    if (!isLast) firstLine += linesIn(text, 0, end);
  }
}

/** Size of the first chunk with its overlap. */
export const startBytes = chunkBytes + overlapBytes;

/** How many lines end in a part of a text. */
export function linesIn(text: string, from: number, to: number): number {
  let lines = 0;
  for (let at = text.indexOf('\n', from); at >= 0 && at < to; at = text.indexOf('\n', at + 1)) lines++;
  return lines;
}

function decode(data: Buffer, { name }: Encoding): string {
  if (name === 'utf8') return data.toString('utf8');
  const even = data.subarray(0, data.length & ~1);
  return name === 'utf16be' ? Buffer.from(even).swap16().toString('utf16le') : even.toString('utf16le');
}

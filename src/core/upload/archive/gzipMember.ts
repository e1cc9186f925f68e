/** Starts a gzip member without name and time, "unknown" system. */
export const gzipHeader: Uint8Array = Uint8Array.of(0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff);

/** Ends a gzip member whose deflate stream was cut at sync flushes: an empty last block, CRC-32 and length (modulo 2^32) of the content. */
export function gzipEnd(crc: number, bytes: number): Buffer {
  const end = Buffer.alloc(10);
  end.writeUInt16LE(0x0003, 0);
  end.writeUInt32LE(crc, 2);
  end.writeUInt32LE(bytes % 2 ** 32, 6);
  return end;
}

const polynomial = 0xedb88320;

/** CRC-32 of two pieces one after another, from the CRC of each and the length of the second (zlib's `crc32_combine`). */
export function combineCrc32(first: number, second: number, secondBytes: number): number {
  let shift = 0x80000000; // x^0
  let power = 0x00800000; // x^8: one byte further
  for (let bytes = secondBytes; bytes > 0; bytes = Math.floor(bytes / 2)) {
    if (bytes % 2 === 1) shift = multiply(power, shift);
    power = multiply(power, power);
  }
  return (multiply(shift, first) ^ second) >>> 0;
}

/** Product of two polynomials over GF(2), modulo the CRC's; the highest bit is x^0. */
function multiply(a: number, b: number): number {
  let product = 0;
  let shifted = b;
  for (let bit = 0x80000000; bit !== 0; bit >>>= 1) {
    if ((a & bit) !== 0) product ^= shifted;
    shifted = (shifted & 1) === 0 ? shifted >>> 1 : (shifted >>> 1) ^ polynomial;
  }
  return product >>> 0;
}

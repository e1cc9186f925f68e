import { constants, crc32, deflateRawSync } from 'node:zlib';
import { tarLevel, type SegmentBuilder, windowBytes } from './segment.ts';
import { freeMemory } from './freeMemory.ts';
import { tarHeader, tarPadding } from './tarHeader.ts';

/** Room for what a usual task deflates to, so that it is not put together from many pieces. */
const outputBytes = 128 << 10;

/** Builds tar records, deflated so that pieces can follow each other in one gzip member. */
export function tarSegments(): SegmentBuilder {
  let pieces: Buffer[] = [];
  /** End of the slice before, which the next may refer to; nothing from before this file, so that pieces can be built side by side. */
  let dictionary: Buffer | undefined;
  let sliced = 0;

  return {
    add({ path, mode }, content) {
      pieces.push(tarHeader(path, mode, content.length), content, tarPadding(content.length));
    },
    begin({ path, mode }, bytes) {
      pieces.push(tarHeader(path, mode, bytes));
      sliced = 0;
    },
    slice(content, last) {
      sliced += content.length;
      pieces.push(content);
      if (last) pieces.push(tarPadding(sliced));
    },
    take() {
      if (pieces.length === 0) return undefined;
      const raw = Buffer.concat(pieces);
      pieces = [];
      const data = deflateRawSync(raw, {
        level: tarLevel,
        chunkSize: outputBytes,
        finishFlush: constants.Z_SYNC_FLUSH,
        ...(dictionary === undefined ? {} : { dictionary }),
      });
      const rawBytes = raw.length;
      const crc = crc32(raw);
      dictionary = Buffer.from(raw.subarray(-windowBytes));
      freeMemory(raw);
      return {
        data,
        crc,
        rawBytes,
        central: new Uint8Array(),
        offsets: new Float64Array(),
      };
    },
    mark() {
      dictionary = undefined;
    },
    undo() {
      pieces = [];
      dictionary = undefined;
    },
  };
}

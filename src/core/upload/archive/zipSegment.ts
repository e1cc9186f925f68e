import { constants, crc32, deflateRawSync } from 'node:zlib';
import { zipLevel, type EntryHead, type SegmentBuilder, windowBytes } from './segment.ts';
import { centralRecord, dataDescriptor, localHeader, type ZipEntry, zip64From } from './zipRecords.ts';

interface Streamed {
  readonly head: EntryHead;
  readonly offset: number;
  readonly zip64: boolean;
  crc: number;
  bytes: number;
  compressedBytes: number;
  dictionary: Buffer | undefined;
}

/** Builds zip entries: local header and content, and the records of the central directory beside them. */
export function zipSegments(): SegmentBuilder {
  let pieces: Buffer[] = [];
  let central: Buffer[] = [];
  let offsets: number[] = [];
  /** Bytes of this task's pieces so far. */
  let position = 0;
  let marked = 0;
  let streamed: Streamed | undefined;

  const push = (piece: Buffer): void => {
    pieces.push(piece);
    position += piece.length;
  };
  const record = (entry: ZipEntry, offset: number): void => {
    central.push(centralRecord(entry));
    offsets.push(offset);
  };

  return {
    add({ path, mode }, content) {
      // Room for the result at once: zlib's own 16 kB for each small file would be most of the memory used.
      const chunkSize = Math.max(64, content.length + (content.length >> 8) + 64);
      const deflated = deflateRawSync(content, { level: zipLevel, chunkSize });
      const smaller = deflated.length < content.length;
      const data = smaller ? deflated : content;
      const entry: ZipEntry = {
        path,
        mode,
        crc: crc32(content),
        bytes: content.length,
        compressedBytes: data.length,
        deflated: smaller,
        streamed: false,
        zip64: false,
      };
      record(entry, position);
      push(localHeader(entry));
      push(data);
    },
    begin(head, bytes) {
      const zip64 = bytes >= zip64From;
      streamed = {
        head,
        offset: position,
        zip64,
        crc: 0,
        bytes: 0,
        compressedBytes: 0,
        dictionary: undefined,
      };
      push(
        localHeader({ ...head, crc: 0, bytes: 0, compressedBytes: 0, deflated: true, streamed: true, zip64 }),
      );
    },
    slice(content, last) {
      if (streamed === undefined) throw new Error('slice without begin');
      const data = deflateRawSync(content, {
        level: zipLevel,
        finishFlush: last ? constants.Z_FINISH : constants.Z_SYNC_FLUSH,
        ...(streamed.dictionary === undefined ? {} : { dictionary: streamed.dictionary }),
      });
      streamed.crc = crc32(content, streamed.crc);
      streamed.bytes += content.length;
      streamed.compressedBytes += data.length;
      streamed.dictionary = Buffer.from(content.subarray(-windowBytes));
      push(data);
      if (!last) return;
      const { head, offset, zip64, crc, bytes, compressedBytes } = streamed;
      const entry: ZipEntry = { ...head, crc, bytes, compressedBytes, deflated: true, streamed: true, zip64 };
      push(dataDescriptor(entry));
      record(entry, offset);
      streamed = undefined;
    },
    take() {
      if (pieces.length === 0) return undefined;
      const segment = {
        data: Buffer.concat(pieces),
        crc: 0,
        rawBytes: 0,
        central: Buffer.concat(central),
        offsets: Float64Array.from(offsets),
      };
      pieces = [];
      central = [];
      offsets = [];
      return segment;
    },
    mark() {
      marked = position;
    },
    undo() {
      pieces = [];
      central = [];
      offsets = [];
      position = marked;
      streamed = undefined;
    },
  };
}

import { createHash } from 'node:crypto';
import { constants, crc32, deflateRawSync } from 'node:zlib';
import { AssessmentError } from '../errors.ts';
import type { ArchiveFormat } from './archive.ts';
import { combineCrc32, gzipEnd, gzipHeader } from './gzipMember.ts';
import type { ManifestEntry, PackMessage } from './packing.ts';
import { tarLevel } from './segment.ts';
import type { Omission } from './sourceFile.ts';
import { tarEnd } from './tarHeader.ts';
import { type CentralRecord, placeCentral, zipEnd } from './zipRecords.ts';

/** The file that an archive is written to; a `FileHandle` is one. */
export interface ArchiveOutput {
  write(
    data: Uint8Array,
    offset: number,
    length: number,
    position: number,
  ): Promise<{ bytesWritten: number }>;
  truncate(length: number): Promise<void>;
  close(): Promise<void>;
}

/** Writes the segments of an archive in order, and what stands before and after them. */
export interface ArchiveWriter {
  start(): Promise<void>;
  take(message: PackMessage): Promise<void>;
  /** Bytes of files written so far. */
  packedBytes(): number;
  end(): Promise<{ entries: ManifestEntry[]; omitted: Omission[]; bytes: number; sha256: string }>;
}

/** A writer that throws `archiveTooLarge` as soon as more than `maxBytes` would stand in the file. */
export function archiveWriter(output: ArchiveOutput, format: ArchiveFormat, maxBytes: number): ArchiveWriter {
  const entries: ManifestEntry[] = [];
  const omitted: Omission[] = [];
  const central: {
    readonly block: Buffer;
    readonly records: readonly CentralRecord[];
    readonly start: number;
  }[] = [];
  let state = { position: 0, crc: 0, rawBytes: 0, packed: 0, sha256: createHash('sha256') };
  let marked = state;
  let task = -1;
  let taskStart = 0;

  const write = async (data: Uint8Array): Promise<void> => {
    if (state.position + data.length > maxBytes) {
      throw new AssessmentError('archiveTooLarge', { limit: maxBytes, actual: state.position + data.length });
    }
    for (let written = 0; written < data.length;) {
      const { bytesWritten } = await output.write(
        data,
        written,
        data.length - written,
        state.position + written,
      );
      written += bytesWritten;
    }
    state.sha256.update(data);
    state.position += data.length;
  };
  const addRaw = (crc: number, bytes: number): void => {
    state.crc = combineCrc32(state.crc, crc, bytes);
    state.rawBytes += bytes;
  };

  return {
    async start() {
      if (format === 'tar_gz') await write(gzipHeader);
    },
    async take(message) {
      if (message.task !== task) {
        task = message.task;
        taskStart = state.position;
      }
      switch (message.kind) {
        case 'segment':
          await write(message.data);
          addRaw(message.crc, message.rawBytes);
          for (const entry of message.entries) {
            entries.push(entry);
            state.packed += entry.bytes;
          }
          if (message.records.length > 0) {
            central.push({ block: Buffer.from(message.central), records: message.records, start: taskStart });
          }
          return;
        case 'mark':
          marked = { ...state, sha256: state.sha256.copy() };
          return;
        case 'undo':
          state = { ...marked, sha256: marked.sha256.copy() };
          await output.truncate(state.position);
          return;
        case 'done':
          omitted.push(...message.omitted);
          return;
      }
    },
    packedBytes: () => state.packed,
    async end() {
      if (format === 'tar_gz') {
        const raw = tarEnd();
        await write(deflateRawSync(raw, { level: tarLevel, finishFlush: constants.Z_SYNC_FLUSH }));
        addRaw(crc32(raw), raw.length);
        await write(gzipEnd(state.crc, state.rawBytes));
      } else {
        const directory = state.position;
        for (const { block, records, start } of central) await write(placeCentral(block, records, start));
        await write(zipEnd(entries.length, directory, state.position - directory));
      }
      return { entries, omitted, bytes: state.position, sha256: state.sha256.digest('hex') };
    },
  };
}

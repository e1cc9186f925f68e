import { createHash } from 'node:crypto';
import { constants, crc32, deflateRawSync } from 'node:zlib';
import { AssessmentError } from '../../errors.ts';
import type { ArchiveFormat } from './archive.ts';
import { ArchiveEntries } from './archiveEntries.ts';
import { combineCrc32, gzipEnd, gzipHeader } from './gzipMember.ts';
import type { PackMessage } from './packing.ts';
import { type Segment, tarLevel } from './segment.ts';
import type { SelectedFile } from '../select/selection.ts';
import type { Omission } from '../sourceFile.ts';
import { tarEnd } from './tarHeader.ts';
import { placeCentral, zipEnd } from './zipRecords.ts';

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
  end(): Promise<{ entries: ArchiveEntries; omitted: Omission[]; bytes: number; sha256: string }>;
}

/** What is written, and what it holds. */
export interface WriterOptions {
  readonly format: ArchiveFormat;
  /** More than this in the file, and the writer throws `archiveTooLarge`. */
  readonly maxBytes: number;
  /** All files to pack: what the segments' entries refer to. */
  readonly files: readonly Pick<SelectedFile, 'path'>[];
}

/** A writer of one archive. */
export function archiveWriter(
  output: ArchiveOutput,
  { format, maxBytes, files }: WriterOptions,
): ArchiveWriter {
  const entries = new ArchiveEntries(files);
  const omitted: Omission[] = [];
  const central: (Pick<Segment, 'central' | 'offsets'> & { readonly start: number })[] = [];
  let state = { position: 0, crc: 0, rawBytes: 0, sha256: createHash('sha256') };
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
          entries.add(message.entries);
          if (message.offsets.length > 0) {
            central.push({ central: message.central, offsets: message.offsets, start: taskStart });
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
    packedBytes: () => entries.bytes,
    async end() {
      if (format === 'tar_gz') {
        const raw = tarEnd();
        await write(deflateRawSync(raw, { level: tarLevel, finishFlush: constants.Z_SYNC_FLUSH }));
        addRaw(crc32(raw), raw.length);
        await write(gzipEnd(state.crc, state.rawBytes));
      } else {
        const directory = state.position;
        for (const { central: records, offsets, start } of central)
          await write(placeCentral(records, offsets, start));
        await write(zipEnd(entries.length, directory, state.position - directory));
      }
      return { entries, omitted, bytes: state.position, sha256: state.sha256.digest('hex') };
    },
  };
}

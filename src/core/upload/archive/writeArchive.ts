import { createHash } from 'node:crypto';
import { type FileHandle, open, rm } from 'node:fs/promises';
import { AssessmentError, fileError } from '../../errors.ts';
import type { OnBytes } from '../../ports.ts';
import type { SelectedFile } from '../select/selection.ts';
import type { Omission } from '../sourceFile.ts';
import { bytesOf, cutTasks, runInWorkers } from '../workers.ts';
import type { PackOrder, PackStart } from './archiveWorker.ts';
import {
  type ArchiveFormat,
  freeMemory,
  largeBytes,
  Manifest,
  type ManifestFiles,
  type PackMessage,
  type Segment,
  toPackedPaths,
} from './packing.ts';
import { combineCrc32, tarGzEnd, tarGzStart } from './tarGz.ts';
import { putOffsets, zipEnd } from './zip.ts';

export interface ArchiveOptions {
  /** The path is absolute and free of links (`Selection.root`). */
  readonly root: string;
  readonly files: readonly SelectedFile[];
  readonly format: ArchiveFormat;
  /** The file must not exist. */
  readonly to: string;
  readonly maxBytes: number;
  readonly workerFile: string | URL;
  readonly workers?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly onBytes?: OnBytes | undefined;
}

export interface Archive {
  readonly bytes: number;
  readonly sha256: string;
  readonly manifest: Manifest;
  readonly omitted: readonly Omission[];
}

const taskBytes = 256 << 10;

/**
 * Equal content gives equal bytes, whatever the number of workers and the files' times. A failed
 * call leaves no file of its own.
 */
export async function writeArchive(options: ArchiveOptions): Promise<Archive> {
  const { root, files, format, to, workerFile, workers, signal, onBytes } = options;
  signal?.throwIfAborted();
  if (files.length === 0) throw new AssessmentError('nothingToSend', { subject: root });
  const total = bytesOf(files);
  const output = await open(to, 'wx', 0o600).catch((error: unknown) => {
    throw fileError(error, to) ?? error;
  });
  try {
    try {
      const writer = new ArchiveWriter(output, options);
      await writer.start();
      const workerData: PackStart = { root, format };
      const messages = runInWorkers<PackMessage>(cutTasks(files, taskBytes, largeBytes), {
        workerFile,
        workerData,
        workers,
        resourceLimits: { maxYoungGenerationSizeMb: 2 },
        signal,
        exitsItself: true,
        toMessage: ({ id, first, files }): PackOrder => ({ id, first, files: toPackedPaths(files) }),
      });
      for await (const message of messages) {
        await writer.take(message);
        if (message.kind === 'segment') freeMemory(message.data);
        onBytes?.(Math.min(writer.manifest.bytes, total), total);
      }
      const { bytes, sha256 } = await writer.end();
      const { manifest, omitted } = writer;
      if (manifest.length === 0) throw new AssessmentError('nothingToSend', { subject: root });
      return { bytes, sha256, manifest, omitted };
    } finally {
      await output.close();
    }
  } catch (error) {
    await rm(to, { force: true });
    throw fileError(error, to) ?? error;
  }
}

export class ArchiveWriter {
  readonly manifest: Manifest;
  readonly omitted: Omission[] = [];
  readonly #output: FileHandle;
  readonly #format: ArchiveFormat;
  readonly #maxBytes: number;
  readonly #central: (Pick<Segment, 'central' | 'offsets'> & { readonly start: number })[] = [];
  #state = { position: 0, crc: 0, rawBytes: 0, sha256: createHash('sha256') };
  #marked = this.#state;
  #task = -1;
  #taskStart = 0;

  constructor(
    output: FileHandle,
    { format, maxBytes, files }: Pick<ArchiveOptions, 'format' | 'maxBytes'> & { files: ManifestFiles },
  ) {
    this.#output = output;
    this.#format = format;
    this.#maxBytes = maxBytes;
    this.manifest = new Manifest(files);
  }

  async start(): Promise<void> {
    if (this.#format === 'tar_gz') await this.#write(tarGzStart);
  }

  async take(message: PackMessage): Promise<void> {
    if (message.task !== this.#task) {
      this.#task = message.task;
      this.#taskStart = this.#state.position;
    }
    switch (message.kind) {
      case 'segment':
        await this.#write(message.data);
        this.#state.crc = combineCrc32(this.#state.crc, message.crc, message.rawBytes);
        this.#state.rawBytes += message.rawBytes;
        this.manifest.add(message.packed);
        if (message.offsets.length > 0) {
          this.#central.push({ central: message.central, offsets: message.offsets, start: this.#taskStart });
        }
        return;
      case 'checkpoint':
        this.#marked = { ...this.#state, sha256: this.#state.sha256.copy() };
        return;
      case 'undo':
        this.#state = { ...this.#marked, sha256: this.#marked.sha256.copy() };
        await this.#output.truncate(this.#state.position);
        return;
      case 'done':
        this.omitted.push(...message.omitted);
        return;
    }
  }

  async end(): Promise<{ bytes: number; sha256: string }> {
    if (this.#format === 'tar_gz') await this.#write(tarGzEnd(this.#state.crc, this.#state.rawBytes));
    else {
      const directory = this.#state.position;
      for (const { central, offsets, start } of this.#central)
        await this.#write(putOffsets(central, offsets, start));
      await this.#write(zipEnd(this.manifest.length, directory, this.#state.position - directory));
    }
    return { bytes: this.#state.position, sha256: this.#state.sha256.digest('hex') };
  }

  async #write(data: Uint8Array): Promise<void> {
    const { position, sha256 } = this.#state;
    const end = position + data.length;
    if (end > this.#maxBytes) {
      throw new AssessmentError('archiveTooLarge', { limit: this.#maxBytes, actual: end });
    }
    for (let written = 0; written < data.length;) {
      const { bytesWritten } = await this.#output.write(
        data,
        written,
        data.length - written,
        position + written,
      );
      written += bytesWritten;
    }
    sha256.update(data);
    this.#state.position = end;
  }
}

import { type FileHandle, open, rm } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { AssessmentError, fileError } from '../../errors.ts';
import type { OnBytes } from '../../ports.ts';
import type { ArchiveEntries } from './archiveEntries.ts';
import { type ArchiveOutput, archiveWriter } from './archiveWriter.ts';
import { packInWorkers } from './packInWorkers.ts';
import { largeBytes, type PackTask } from './packing.ts';
import type { SelectedFile } from '../select/selection.ts';
import type { Omission } from '../sourceFile.ts';

/** The archive formats that the service takes ("Input files" in the API reference). */
export type ArchiveFormat = 'tar_gz' | 'zip';

/** What to write, and where. */
export interface ArchiveOptions {
  /** `Selection.root`: absolute, free of links. */
  readonly root: string;
  /** In the order in which they will stand in the archive. */
  readonly files: readonly SelectedFile[];
  readonly format: ArchiveFormat;
  /** The file to create, mode 0600; nothing may be there yet. */
  readonly to: string;
  /** The archive may not be larger. */
  readonly maxBytes: number;
  /** The packing worker's entry: `archiveWorker.ts`, or its bundle. */
  readonly workerFile: string | URL;
  readonly workers?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Bytes of files packed, of the bytes selected. */
  readonly onBytes?: OnBytes | undefined;
  /** Creates `to`; for tests of a full disk. */
  readonly createFile?: (path: string) => Promise<ArchiveOutput>;
}

/** A finished archive. */
export interface Archive {
  readonly path: string;
  readonly format: ArchiveFormat;
  readonly bytes: number;
  /** Hex. */
  readonly sha256: string;
  readonly entries: ArchiveEntries;
  /** Selected files that could not be packed. */
  readonly omitted: readonly Omission[];
}

const taskFiles = 128;
const taskBytes = 256 << 10;
/** Below both, a second worker takes longer to start than it saves. */
const smallFiles = 500;
const smallBytes = 8 << 20;

/**
 * Packs files into one archive: the same bytes for the same content, whatever the number of workers and the files' times. Throws
 * `nothingToSend`, `archiveTooLarge`, `diskFull`, `storage`, or the signal's reason; no file is left then.
 */
export async function writeArchive(options: ArchiveOptions): Promise<Archive> {
  const { root, files, format, to, maxBytes, workerFile, signal } = options;
  signal?.throwIfAborted();
  if (files.length === 0) throw new AssessmentError('nothingToSend', { subject: root });
  const total = files.reduce((sum, file) => sum + file.bytes, 0);
  const output = await createOutput(options);
  try {
    try {
      const writer = archiveWriter(output, { format, maxBytes, files });
      await writer.start();
      const tasks = cutTasks(files);
      const workers =
        options.workers ??
        (files.length <= smallFiles && total <= smallBytes
          ? 1
          : Math.min(4, Math.max(2, availableParallelism())));
      for await (const message of packInWorkers(tasks, {
        root,
        format,
        workerFile,
        workers: Math.min(workers, tasks.length),
        signal,
      })) {
        await writer.take(message);
        options.onBytes?.(Math.min(writer.packedBytes(), total), total);
      }
      const { entries, omitted, bytes, sha256 } = await writer.end();
      if (entries.length === 0) throw new AssessmentError('nothingToSend', { subject: root });
      return { path: to, format, bytes, sha256, entries, omitted };
    } finally {
      await output.close();
    }
  } catch (error) {
    await rm(to, { force: true });
    throw fileError(error, to) ?? error;
  }
}

async function createOutput({ to, createFile }: ArchiveOptions): Promise<ArchiveOutput> {
  try {
    return await (createFile ?? createPrivateFile)(to);
  } catch (error) {
    throw fileError(error, to) ?? error;
  }
}

async function createPrivateFile(path: string): Promise<FileHandle> {
  return open(path, 'wx', 0o600);
}

/** Cuts the list where enough files or bytes have come together; only the list decides, so that the archive's bytes do not depend on the machine. */
function cutTasks(files: readonly SelectedFile[]): PackTask[] {
  const tasks: PackTask[] = [];
  let first = 0;
  let bytes = 0;
  const cut = (end: number): void => {
    if (end > first) tasks.push({ id: tasks.length, first, files: files.slice(first, end) });
    first = end;
    bytes = 0;
  };
  for (const [at, file] of files.entries()) {
    if (file.bytes >= largeBytes) cut(at);
    bytes += file.bytes;
    if (at + 1 - first >= taskFiles || bytes >= taskBytes) cut(at + 1);
  }
  cut(files.length);
  return tasks;
}

import { createHash, hash } from 'node:crypto';
import { closeSync } from 'node:fs';
import { type PackedEntry, toRecords } from './archiveEntries.ts';
import { isUsableName } from '../ignore/entryName.ts';
import { freeMemory } from './freeMemory.ts';
import type { EntryHead, Segment, SegmentBuilder } from './segment.ts';
import { isUnchanged, type Omission, openSource, readAt, type SourceFile } from '../sourceFile.ts';

/** Files to pack, in order. Where tasks are cut decides about the archive's bytes, who packs them does not. */
export interface PackTask {
  readonly id: number;
  /** The place of the first of them in the list of all files. */
  readonly first: number;
  readonly files: readonly EntryHead[];
}

/** What a packer says, in order, about one task. */
export type PackMessage =
  | ({
      readonly kind: 'segment';
      readonly task: number;
      /** The entries that end in this segment (`toRecords`). */
      readonly entries: Uint8Array<ArrayBuffer>;
    } & Segment)
  /** Remember this place. */
  | { readonly kind: 'mark'; readonly task: number }
  /** Drop what came since the mark: the file changed while it was read. */
  | { readonly kind: 'undo'; readonly task: number }
  | { readonly kind: 'done'; readonly task: number; readonly omitted: readonly Omission[] };

/** Files from this size on are packed in slices. */
export const largeBytes = 4 << 20;
const sliceBytes = 1 << 20;
const attempts = 3;

/** Packs the files of one task; `send` resolves when more may be sent. */
export async function packTask(
  task: PackTask,
  root: string,
  builder: SegmentBuilder,
  send: (message: PackMessage) => Promise<void>,
): Promise<void> {
  const omitted: Omission[] = [];
  let entries: PackedEntry[] = [];
  let contents: Buffer[] = [];
  let pending = 0;
  const flush = async (): Promise<void> => {
    const segment = builder.take();
    contents.forEach(freeMemory);
    contents = [];
    pending = 0;
    if (segment === undefined) return;
    const done = toRecords(entries);
    entries = [];
    await send({ kind: 'segment', task: task.id, entries: done, ...segment });
  };

  for (const [at, file] of task.files.entries()) {
    const omission: Omission | undefined = isUsableName(file.path)
      ? await packFile(file, task.first + at)
      : { path: file.path, reason: 'unusableName' };
    if (omission !== undefined) omitted.push(omission);
    if (pending >= largeBytes) await flush();
  }
  await flush();
  await send({ kind: 'done', task: task.id, omitted });

  async function packFile(file: EntryHead, index: number): Promise<Omission | undefined> {
    let failure: Omission = { path: file.path, reason: 'changed' };
    for (let attempt = 1; attempt <= attempts; attempt++) {
      const source = openSource(root, file.path);
      if ('reason' in source) {
        if (source.reason !== 'changed') return source;
        continue;
      }
      try {
        const last = attempt === attempts;
        const packed =
          source.stat.size < largeBytes
            ? packWhole(file, index, source, last)
            : await packSlices(file, index, source, last);
        if (packed) return undefined;
      } catch (error) {
        if (!isSystemError(error)) throw error;
        failure = { path: file.path, reason: 'unreadable', code: error.code };
      } finally {
        closeSync(source.fd);
      }
    }
    return failure;
  }

  /** False when the file changed under the reading; the last attempt takes what it read, which is consistent in itself. */
  function packWhole(file: EntryHead, index: number, source: SourceFile, last: boolean): boolean {
    const content = readAt(source.fd, source.stat.size, 0);
    if (!last && (content.length !== source.stat.size || !isUnchanged(source))) return false;
    builder.add(file, content);
    contents.push(content);
    entries.push({ index, bytes: content.length, sha256: hash('sha256', content, 'buffer') });
    pending += content.length;
    return true;
  }

  /** False when the file changed under the reading: what was begun is taken back, since its header may promise more than came. */
  async function packSlices(
    file: EntryHead,
    index: number,
    source: SourceFile,
    last: boolean,
  ): Promise<boolean> {
    await flush();
    builder.mark();
    await send({ kind: 'mark', task: task.id });
    let complete = false;
    try {
      const sha256 = await addSlices(file, source);
      complete = sha256 !== undefined && (last || isUnchanged(source));
      if (complete && sha256 !== undefined) {
        entries.push({ index, bytes: source.stat.size, sha256 });
      }
    } finally {
      if (!complete) {
        builder.undo();
        await send({ kind: 'undo', task: task.id });
      }
    }
    await flush();
    return complete;
  }

  /** The SHA-256 of all slices but the last sent, the last one built; undefined when the file ended early. */
  async function addSlices(file: EntryHead, source: SourceFile): Promise<Buffer | undefined> {
    const bytes = source.stat.size;
    const sha256 = createHash('sha256');
    builder.begin(file, bytes);
    for (let position = 0; position < bytes; position += sliceBytes) {
      const wanted = Math.min(sliceBytes, bytes - position);
      const content = readAt(source.fd, wanted, position);
      if (content.length < wanted) return undefined;
      sha256.update(content);
      builder.slice(content, position + wanted === bytes);
      contents.push(content);
      if (position + wanted < bytes) await flush();
    }
    return sha256.digest();
  }
}

function isSystemError(error: unknown): error is Error & { code: string } {
  return error instanceof Error && 'syscall' in error && 'code' in error && typeof error.code === 'string';
}

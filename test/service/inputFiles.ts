import { randomUUID } from 'node:crypto';
import { copyFile, link, rm } from 'node:fs/promises';
import { Refusal, storageRefusal, type Reply } from './replies.ts';
import type { Clock, PresignedStorage, StoredContent } from './storage.ts';

/** Section 3 names only the moves between these states. */
export type InputFileState = 'reserved' | 'uploaded' | 'confirmed' | 'cancelled' | 'deleted' | 'expired';

/** `sha256` is there once content has arrived (section 2.2). */
export interface InputFile {
  readonly fileId: string;
  readonly organizationId: string;
  readonly bytes: number;
  readonly state: InputFileState;
  readonly sha256?: string;
}

interface Needs {
  readonly clock: Clock;
  readonly storage: PresignedStorage;
  readonly capacityBytes: number;
  readonly uploadUrlSeconds: number;
  readonly retentionMs: number;
}

interface Entry extends Omit<InputFile, 'state' | 'sha256'> {
  state: InputFileState;
  retainedUntil: number;
  content?: StoredContent;
}

/**
 * Input files of all organizations are reserved, uploaded, confirmed, released, and kept (sections
 * 2.2, 3, and 4.1).
 */
export class InputFiles {
  readonly #entries = new Map<string, Entry>();
  readonly #needs: Needs;

  constructor(needs: Needs) {
    this.#needs = needs;
  }

  /**
   * get-upload-url: reserves capacity, refused with 413 when the organization has not enough left.
   */
  reserve(organizationId: string, contentLength: number) {
    const { clock, storage, capacityBytes, uploadUrlSeconds, retentionMs } = this.#needs;
    const used = this.list()
      .filter((file) => file.organizationId === organizationId && isHeld(file.state))
      .reduce((sum, file) => sum + file.bytes, 0);
    if (used + contentLength > capacityBytes) {
      throw new Refusal(
        'storage_capacity_exceeded',
        `${contentLength} bytes do not fit: ${capacityBytes - used} of ${capacityBytes} bytes are free.`,
      );
    }
    const fileId = `file-${randomUUID()}`;
    const retainedUntil = clock.now() + retentionMs;
    const entry: Entry = { fileId, organizationId, bytes: contentLength, state: 'reserved', retainedUntil };
    this.#entries.set(fileId, entry);
    const uploadUrl = storage.presign(
      {
        method: 'PUT',
        contentLength,
        refusal: () => this.#putRefusal(entry),
        store: async (content) => {
          const earlier = entry.content;
          entry.content = content;
          entry.state = 'uploaded';
          if (earlier) await rm(earlier.path, { force: true });
        },
      },
      uploadUrlSeconds,
    );
    return { file_id: fileId, upload_url: uploadUrl, expires_in_seconds: uploadUrlSeconds };
  }

  /** confirm-upload: only content that has arrived can be confirmed, and only once. */
  confirm(organizationId: string, fileId: string) {
    const entry = this.#find(organizationId, fileId, 'confirm', ['uploaded']);
    entry.state = 'confirmed';
    entry.retainedUntil = this.#needs.clock.now() + this.#needs.retentionMs;
    return { file_id: fileId };
  }

  /** cancel-upload: releases a pending reservation, also after its upload address has expired. */
  async cancel(organizationId: string, fileId: string) {
    await this.#release(this.#find(organizationId, fileId, 'cancel', ['reserved', 'uploaded']), 'cancelled');
    return { file_id: fileId };
  }

  /**
   * delete: deletes a confirmed file; runs that were dispatched with it keep their own copy.
   * Section 8 lets it release a reservation, too; here that is left to cancel.
   */
  async delete(organizationId: string, fileId: string) {
    await this.#release(this.#find(organizationId, fileId, 'delete', ['confirmed']), 'deleted');
    return { file_id: fileId };
  }

  /** Refuses a dispatch that names a file which is not a confirmed upload of the organization. */
  requireConfirmed(organizationId: string, fileId: string): void {
    this.#find(organizationId, fileId, 'dispatch', ['confirmed']);
  }

  /** Gives a run its own copy of a confirmed file at `path`. */
  async copyTo(organizationId: string, fileId: string, path: string): Promise<void> {
    const { content } = this.#find(organizationId, fileId, 'dispatch', ['confirmed']);
    if (!content) throw new Error(`${fileId} is confirmed without content`);
    const source = content.path;
    // A file system without hard links costs a copy.
    await link(source, path).catch(() => copyFile(source, path));
  }

  /** Includes deleted files, in order of reservation. */
  list(): InputFile[] {
    return [...this.#entries.values()].map((entry) => {
      this.#expire(entry);
      const { fileId, organizationId, bytes, state, content } = entry;
      return { fileId, organizationId, bytes, state, ...(content && { sha256: content.sha256 }) };
    });
  }

  #find(organizationId: string, fileId: string, move: string, from: readonly InputFileState[]): Entry {
    const entry = this.#entries.get(fileId);
    if (entry) this.#expire(entry);
    if (entry?.organizationId !== organizationId || !isHeld(entry.state)) {
      throw new Refusal('file_not_found', `There is no file ${fileId} in this organization.`);
    }
    if (!from.includes(entry.state)) {
      throw new Refusal(
        'wrong_file_state',
        `Cannot ${move} ${fileId}: it is ${entry.state}, not ${from.join(' or ')}.`,
      );
    }
    return entry;
  }

  #putRefusal(entry: Entry): Reply | undefined {
    this.#expire(entry);
    if (entry.state === 'reserved' || entry.state === 'uploaded') return undefined;
    return entry.state === 'confirmed'
      ? storageRefusal(409, 'InvalidObjectState', 'The upload has been finalized.')
      : storageRefusal(404, 'NoSuchUpload', 'The upload has been cancelled or deleted.');
  }

  #expire(entry: Entry): void {
    if (!isHeld(entry.state) || this.#needs.clock.now() < entry.retainedUntil) return;
    void this.#release(entry, 'expired');
  }

  async #release(entry: Entry, state: InputFileState): Promise<void> {
    entry.state = state;
    if (entry.content) await rm(entry.content.path, { force: true });
  }
}

function isHeld(state: InputFileState): boolean {
  return state === 'reserved' || state === 'uploaded' || state === 'confirmed';
}

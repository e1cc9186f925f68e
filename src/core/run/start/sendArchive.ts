import type { AssessmentClient } from '../../api/client.ts';
import type { HashedFile } from '../../api/http.ts';
import { isTransient, withRetry } from '../../api/retry.ts';
import type { UploadUrl } from '../../api/schema.ts';
import { AssessmentError } from '../../errors.ts';
import type { Clock, Logger, OnBytes } from '../../ports.ts';
import { releaseFile } from '../finish/removeUploads.ts';

/** An upload address with less time left, or with less than half of a shorter time, is renewed before bytes are sent to it. */
const leastValidityMs = 30_000;
const mostAddresses = 3;

/** What an upload works with; `onReserved` is called with the file ID and the address, and resolves when they are on disk. */
export interface SendOptions {
  readonly client: AssessmentClient;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Logger;
  readonly signal: AbortSignal | undefined;
  readonly onBytes: OnBytes;
  readonly onReserved: (fileId: string, uploadUrl: string) => Promise<unknown>;
}

/** Reserves an address and PUTs an archive to it, replaying it whole after a fault and renewing the address when it has expired (API reference, section 4.1); the file still has to be confirmed. */
export async function sendArchive(archive: HashedFile, options: SendOptions): Promise<void> {
  const { client, signal } = options;
  for (let addresses = 1; ; addresses += 1) {
    const address = await client.getUploadUrl(archive.bytes, { signal });
    const left = validity(address.expires_in_seconds * 1000, options.clock);
    await noteReservation(address, options);
    try {
      await putWhileValid(archive, address, left, options);
      return;
    } catch (error) {
      if (!isExpired(error)) throw error;
      if (addresses >= mostAddresses) throw left() > 0 ? error : tooSlow(error);
      // The old reservation goes first: two would count twice against the organization's storage.
      await releaseFile(address.file_id, 'reserved', client, signal);
    }
  }
}

/** A reservation that cannot be noted is given back: nothing would remember it. */
async function noteReservation(
  { file_id: fileId, upload_url: uploadUrl }: UploadUrl,
  options: SendOptions,
): Promise<void> {
  try {
    await options.onReserved(fileId, uploadUrl);
  } catch (error) {
    await releaseFile(fileId, 'reserved', options.client).catch((failure: unknown) => {
      options.log.warn(`A reservation could not be given back: ${String(failure)}`);
    });
    throw error;
  }
}

async function putWhileValid(
  archive: HashedFile,
  address: UploadUrl,
  left: () => number,
  options: SendOptions,
): Promise<void> {
  const { client, signal, onBytes } = options;
  const leastMs = Math.min(leastValidityMs, address.expires_in_seconds * 500);
  await withRetry(
    { attempts: 4, mayRetry: isTransient },
    async () => {
      if (left() < leastMs) throw tooSlow();
      await client.putArchive(address, archive, { signal, onBytes });
    },
    options,
  );
}

/** Milliseconds that remain of a span; a clock that slept with the machine cannot hide that it is over. */
function validity(ms: number, clock: Clock): () => number {
  const [wall, monotonic] = [clock.now(), clock.monotonic()];
  return () => ms - Math.max(clock.now() - wall, clock.monotonic() - monotonic);
}

/** A transfer that took longer than its address is valid. */
function tooSlow(cause?: AssessmentError): AssessmentError {
  return new AssessmentError('forbidden', { ...cause?.data, subject: 'upload' }, { cause });
}

/** True when another address may do. */
function isExpired(error: unknown): error is AssessmentError {
  return error instanceof AssessmentError && (error.kind === 'addressRefused' || error.kind === 'forbidden');
}

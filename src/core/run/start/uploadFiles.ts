import { join } from 'node:path';
import { foreignHost } from '../../api/address.ts';
import { isTransient, withRetry } from '../../api/retry.ts';
import type { UploadUrl } from '../../api/schema.ts';
import { AssessmentError, knownError } from '../../errors.ts';
import { type OnBytes, stopwatch } from '../../ports.ts';
import type { RunEvent } from '../state/advance.ts';
import type { Run, RunIn, Target } from '../state/run.ts';
import type { RunDeps, StartDeps } from '../steps/step.ts';
import { removeFile } from '../steps/sendRemovals.ts';

/**
 * An upload URL with less time left is replaced before use. If the URL is valid for less than a
 * minute, the limit is half of its validity.
 */
const minValidityMs = 30_000;
const maxAddresses = 3;

/**
 * Reserves, uploads, and confirms each archive (docs/api.md, section 3). Throws `busyElsewhere` if
 * another window has taken the run over.
 */
export async function uploadFiles(
  run: RunIn<'preparing'>,
  deps: StartDeps,
  signal: AbortSignal,
): Promise<void> {
  const { clientFor, clock } = deps;
  const total = run.targets.reduce((sum, { archive }) => sum + (archive?.bytes ?? 0), 0);
  const fileIds = new Map<number, string>();
  let doneBytes = 0;
  for (const [index, { archive }] of run.targets.entries()) {
    if (archive === undefined) continue;
    const onBytes = (done: number): void => deps.onUploading?.(doneBytes + done, total);
    fileIds.set(index, await sendArchive(run, index, archive, { ...deps, signal, onBytes }));
    doneBytes += archive.bytes;
  }
  for (const [target, fileId] of fileIds) {
    await clientFor(run)
      .confirmUpload(fileId, { signal })
      .catch((error: unknown) => {
        // An earlier attempt whose reply was lost may have confirmed the file. If not, the dispatch
        // is refused.
        if (!['conflict', 'notFound'].includes(knownError(error).kind)) throw error;
      });
    await save(run, { type: 'confirmed', target, at: clock.now() }, deps);
  }
}

async function save({ id }: Run, event: RunEvent, { store }: RunDeps): Promise<void> {
  const { state } = await store.apply(id, event);
  if (state !== 'preparing') throw new AssessmentError('busyElsewhere');
}

/** Retries after a transient failure and, with a new URL, after expiry. Returns the file's ID. */
async function sendArchive(
  run: RunIn<'preparing'>,
  index: number,
  archive: NonNullable<Target['archive']>,
  deps: RunDeps & { readonly signal: AbortSignal; readonly onBytes: OnBytes },
): Promise<string> {
  const { clock, signal, onBytes } = deps;
  const client = deps.clientFor(run);
  for (let addresses = 1; ; addresses += 1) {
    const address = await client.getUploadUrl(archive.bytes, { signal });
    const passedMs = stopwatch(clock);
    const leftMs = (): number => address.expires_in_seconds * 1000 - passedMs();
    await saveReservation(run, index, address, deps);
    try {
      const file = { ...archive, path: join(deps.store.folderOf(run.id), archive.file) };
      const minMs = Math.min(minValidityMs, address.expires_in_seconds * 500);
      const put = (): Promise<void> => {
        if (leftMs() < minMs) throw tooSlow();
        return client.putArchive(address, file, { signal, onBytes });
      };
      await withRetry({ attempts: 4, mayRetry: isTransient }, put, deps);
      return address.file_id;
    } catch (error) {
      if (!isExpired(error)) throw error;
      if (addresses >= maxAddresses) throw leftMs() > 0 ? error : tooSlow(error);
      // Two reservations would count twice against the organization's storage.
      await removeFile(address.file_id, 'reserved', client, signal);
    }
  }
}

async function saveReservation(
  run: RunIn<'preparing'>,
  index: number,
  { file_id: fileId, upload_url: uploadUrl }: UploadUrl,
  deps: RunDeps,
): Promise<void> {
  const host = foreignHost(uploadUrl, run.baseUrl);
  const event = { type: 'reserved', target: index, fileId, host, at: deps.clock.now() } as const;
  try {
    await save(run, event, deps);
  } catch (error) {
    await removeFile(fileId, 'reserved', deps.clientFor(run)).catch((failure: unknown) => {
      deps.log.warn(`Run ${run.id}: a reservation could not be cancelled: ${String(failure)}`);
    });
    throw error;
  }
}

function tooSlow(cause?: AssessmentError): AssessmentError {
  return new AssessmentError('forbidden', { ...cause?.data, subject: 'upload' }, { cause });
}

function isExpired(error: unknown): error is AssessmentError {
  return error instanceof AssessmentError && (error.kind === 'addressRefused' || error.kind === 'forbidden');
}

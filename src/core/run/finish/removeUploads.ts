import type { AssessmentClient } from '../../api/client.ts';
import { AssessmentError } from '../../errors.ts';
import type { Clock, Logger } from '../../ports.ts';
import { visibleLine } from '../../visibleText.ts';
import { isFinal, type Run } from '../state/run.ts';
import type { RunStore } from '../disk/runStore.ts';

/** After so long the service's own retention has removed what could not be. */
const retriedForMs = 30 * 24 * 60 * 60 * 1000;
/** No wish of the service is for longer: a time further off was noted by a clock that has been set back since. */
const longestWaitMs = 24 * 60 * 60 * 1000;

/** True when an ended run may still have files on the service that are to go. */
export function hasRemains(run: Run, confirmedToo: boolean, now: number): boolean {
  if (!isFinal(run) || now - run.endedAt > retriedForMs) return false;
  return run.targets.some(
    ({ upload }) =>
      upload?.state === 'reserved' ||
      (upload?.state === 'confirmed' && (confirmedToo || !isSurelyConfirmed(run, upload))),
  );
}

/** What was dispatched is surely confirmed; else a conflict may have been taken for it (`confirm`), until the service has said more. */
function isSurelyConfirmed(run: Run, upload: { readonly isSure?: boolean | undefined }): boolean {
  return upload.isSure === true || ('runId' in run && run.runId !== undefined);
}

/** Takes a run's files off the service: pending ones are cancelled, also those that only seemed to be confirmed, and confirmed ones deleted when `confirmedToo` (API reference, section 4.1). Returns the first failure, or the one that the service wants to wait after longest; one may still be there then. Asks nothing while the service wants to be left alone. */
export async function releaseUploads(
  run: Run,
  confirmedToo: boolean,
  deps: { store: RunStore; client: AssessmentClient; clock: Clock; log: Logger },
): Promise<AssessmentError | undefined> {
  const { store, clock, log } = deps;
  const waitMs = (run.releaseNotBefore ?? 0) - clock.now();
  if (waitMs > 0 && waitMs <= longestWaitMs)
    return new AssessmentError('rateLimited', { retryAfterMs: waitMs });
  let failure: AssessmentError | undefined;
  for (const [index, { upload }] of run.targets.entries()) {
    if (upload === undefined || upload.state === 'cancelled' || upload.state === 'deleted') continue;
    const isKept = upload.state === 'confirmed' && !confirmedToo;
    if (isKept && isSurelyConfirmed(run, upload)) continue;
    try {
      const state = isKept
        ? await releaseReservation(upload.fileId, deps.client)
        : await releaseFile(upload.fileId, upload.state, deps.client);
      const change =
        state === undefined ? ({ type: 'foundConfirmed' } as const) : ({ type: 'released', state } as const);
      await store.apply(run.id, { ...change, target: index, at: clock.now() });
    } catch (error) {
      if (!(error instanceof AssessmentError)) throw error;
      const waitsLonger = (error.data.retryAfterMs ?? 0) > (failure?.data.retryAfterMs ?? 0);
      if (failure === undefined || waitsLonger) failure = error;
      log.warn(
        `Run ${run.id}: the uploaded file ${visibleLine(upload.fileId)} could not be removed from the service: ${error.message}`,
      );
      if (error.kind === 'rateLimited') break;
    }
  }
  const { retryAfterMs } = failure?.data ?? {};
  // For other windows, and for after a restart.
  if (retryAfterMs !== undefined)
    await store
      .apply(run.id, { type: 'releaseDelayed', retryAfterMs, at: clock.now() })
      .catch((error: unknown) =>
        log.warn(`Run ${run.id}: how long to leave its files alone was not noted: ${String(error)}`),
      );
  return failure;
}

/** Takes one file off the service, whichever of the two states a call with a lost reply left it in; a file that neither call knows counts as gone. */
export async function releaseFile(
  fileId: string,
  believed: 'reserved' | 'confirmed',
  client: AssessmentClient,
  signal?: AbortSignal,
): Promise<'cancelled' | 'deleted'> {
  const cancel = async (): Promise<'cancelled'> => {
    await client.cancelUpload(fileId, { signal });
    return 'cancelled';
  };
  const remove = async (): Promise<'deleted'> => {
    await client.deleteFile(fileId, { signal });
    return 'deleted';
  };
  const [likely, other] = believed === 'reserved' ? [cancel, remove] : [remove, cancel];
  try {
    return await likely();
  } catch (error) {
    if (!isOtherState(error)) throw error;
    try {
      return await other();
    } catch (second) {
      // Unknown to one call alone may only say that the file is in the other state.
      const isGone = isKind(error, 'notFound') && isKind(second, 'notFound');
      if (isGone) return believed === 'reserved' ? 'cancelled' : 'deleted';
      throw second;
    }
  }
}

/** Takes a file off the service that may not be confirmed after all; undefined, and nothing is done, when it is. */
async function releaseReservation(
  fileId: string,
  client: AssessmentClient,
): Promise<'cancelled' | undefined> {
  try {
    await client.cancelUpload(fileId);
    return 'cancelled';
  } catch (error) {
    if (isOtherState(error)) return undefined;
    throw error;
  }
}

/** True for answers to a call about a file in another state; which they are is not shown (API reference, section 7). */
function isOtherState(error: unknown): boolean {
  return isKind(error, 'conflict') || isKind(error, 'rejected') || isKind(error, 'notFound');
}

function isKind(error: unknown, kind: AssessmentError['kind']): boolean {
  return error instanceof AssessmentError && error.kind === kind;
}

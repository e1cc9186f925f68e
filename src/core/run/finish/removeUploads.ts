import type { AssessmentClient } from '../../api/client.ts';
import { maxRetryAfterMs } from '../../api/retry.ts';
import { AssessmentError } from '../../errors.ts';
import { visibleLine } from '../../visibleText.ts';
import type { RunDeps } from '../runDeps.ts';
import { backoffMs, tokenRetryMs } from '../state/backoff.ts';
import { retentionMs } from '../state/deadlines.ts';
import { isFinal, type Run, runIdOf, waitsForToken } from '../state/run.ts';

/** A run whose uploads could not be removed in this window. */
interface FailedRemoval {
  readonly times: number;
  /** When to try again, by the monotonic clock; Infinity while that waits for another token. */
  readonly notBefore: number;
  /** Tokens that have changed since the first was refused. */
  readonly tokens: number;
}

/** Removes the uploads of ended runs from the service. A failure is retried after a growing wait, and after a refused token not before that has changed. */
export class UploadRemoval {
  readonly #deps: RunDeps;
  readonly #failed = new Map<string, FailedRemoval>();

  constructor(deps: RunDeps) {
    this.#deps = deps;
  }

  /** True for an ended run that may still have files on the service, once it is time to try again. */
  isDue(run: Run): boolean {
    return this.#isTime(run.id) && this.#hasUploads(run);
  }

  /** True for an ended run that may still have files on the service, whose removal does not wait for another token. */
  isPending(run: Run): boolean {
    return this.#failed.get(run.id)?.notBefore !== Infinity && this.#hasUploads(run);
  }

  /** Removes what is left of a run's uploads, when it is time to; a failure is logged. */
  async remove(run: Run): Promise<void> {
    if (!this.#isTime(run.id)) return;
    const { deleteSourceAfterRun, log } = this.#deps;
    try {
      const failure = await removeUploads(run, deleteSourceAfterRun(), this.#deps);
      if (failure === undefined) this.#failed.delete(run.id);
      else this.#planRetry(run.id, failure);
    } catch (error) {
      log.warn(`Run ${run.id}: its uploads could not be removed: ${String(error)}`);
      this.#planRetry(run.id);
    }
  }

  /** Retries what waits for another token after `tokenRetryMs`, and at once where a person has changed the source of tokens. */
  tokenChanged(isTokenOf: (run: Run) => boolean, isNewSource: boolean): void {
    const { store, clock, random } = this.#deps;
    for (const [id, failed] of this.#failed) {
      const run = store.get(id);
      if (run === undefined || failed.notBefore !== Infinity || !isTokenOf(run)) continue;
      if (isNewSource) {
        this.#failed.delete(id);
        continue;
      }
      const tokens = failed.tokens + 1;
      const notBefore = clock.monotonic() + tokenRetryMs(tokens, random());
      this.#failed.set(id, { ...failed, tokens, notBefore });
    }
  }

  #hasUploads(run: Run): boolean {
    return hasUploads(run, this.#deps.deleteSourceAfterRun(), this.#deps.clock.now());
  }

  #isTime(id: string): boolean {
    return this.#deps.clock.monotonic() >= (this.#failed.get(id)?.notBefore ?? -Infinity);
  }

  #planRetry(id: string, failure?: AssessmentError): void {
    const { clock, random } = this.#deps;
    const { times: before, tokens } = this.#failed.get(id) ?? { times: 0, tokens: 0 };
    const times = before + 1;
    const waitMs =
      failure !== undefined && waitsForToken(failure)
        ? Infinity
        : backoffMs(times, failure?.data.retryAfterMs ?? 0, random());
    this.#failed.set(id, { times, tokens, notBefore: clock.monotonic() + waitMs });
  }
}

/** True when an ended run may still have files on the service that are to be removed; past `retentionMs` the service has removed them itself. */
export function hasUploads(run: Run, confirmedToo: boolean, now: number): boolean {
  if (!isFinal(run) || now - run.endedAt > retentionMs) return false;
  return run.targets.some(
    ({ upload }) =>
      upload?.state === 'reserved' ||
      (upload?.state === 'confirmed' && (confirmedToo || !isSurelyConfirmed(run, upload))),
  );
}

/** A dispatched file is confirmed; another may still be a reservation, since a conflict counts as confirmed (`confirm`). */
function isSurelyConfirmed(run: Run, upload: { readonly isSure?: boolean | undefined }): boolean {
  return upload.isSure === true || runIdOf(run) !== undefined;
}

/**
 * Removes a run's files from the service: pending ones are cancelled, also those that may be wrongly believed to be confirmed, and confirmed ones
 * deleted when `confirmedToo` (docs/api.md, section 4.1). Returns the first failure, or the one with the longest `Retry-After`: then a file
 * may still be there. Sends nothing before `Retry-After` has passed.
 */
export async function removeUploads(
  run: Run,
  confirmedToo: boolean,
  { store, clientFor, clock, log }: RunDeps,
): Promise<AssessmentError | undefined> {
  const waitMs = (run.removeNotBefore ?? 0) - clock.now();
  // A longer wait was written by a clock that has been set back since.
  if (waitMs > 0 && waitMs <= maxRetryAfterMs)
    return new AssessmentError('rateLimited', { retryAfterMs: waitMs });
  const client = clientFor(run);
  let failure: AssessmentError | undefined;
  for (const [index, { upload }] of run.targets.entries()) {
    if (upload === undefined || upload.state === 'cancelled' || upload.state === 'deleted') continue;
    const isKept = upload.state === 'confirmed' && !confirmedToo;
    if (isKept && isSurelyConfirmed(run, upload)) continue;
    try {
      const state = isKept
        ? await removeReservation(upload.fileId, client)
        : await removeFile(upload.fileId, upload.state, client);
      const change =
        state === undefined
          ? ({ type: 'foundConfirmed' } as const)
          : ({ type: 'uploadRemoved', state } as const);
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
      .apply(run.id, { type: 'removalDelayed', retryAfterMs, at: clock.now() })
      .catch((error: unknown) =>
        log.warn(`Run ${run.id}: the wait before its uploads are removed was not saved: ${String(error)}`),
      );
  return failure;
}

/** Removes one file from the service, in whichever of the two states a call with a lost reply left it; a file that neither call knows counts as removed. */
export async function removeFile(
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
      // Unknown to one call alone, the file may be in the other state.
      const isGone = isKind(error, 'notFound') && isKind(second, 'notFound');
      if (isGone) return believed === 'reserved' ? 'cancelled' : 'deleted';
      throw second;
    }
  }
}

/** Cancels an upload that may not be confirmed after all; undefined, with nothing done, when it is confirmed. */
async function removeReservation(fileId: string, client: AssessmentClient): Promise<'cancelled' | undefined> {
  try {
    await client.cancelUpload(fileId);
    return 'cancelled';
  } catch (error) {
    if (isOtherState(error)) return undefined;
    throw error;
  }
}

/** True for the answers to a call about a file in another state; the reference does not say which they are (docs/api.md, section 7). */
function isOtherState(error: unknown): boolean {
  return isKind(error, 'conflict') || isKind(error, 'rejected') || isKind(error, 'notFound');
}

function isKind(error: unknown, kind: AssessmentError['kind']): boolean {
  return error instanceof AssessmentError && error.kind === kind;
}

import type { AssessmentClient } from '../../api/client.ts';
import { maxRetryAfterMs } from '../../api/retry.ts';
import { AssessmentError, knownError } from '../../errors.ts';
import { visibleLine } from '../../visibleText.ts';
import type { RunDeps } from '../runDeps.ts';
import { backoffMs, tokenRetryMs } from '../state/backoff.ts';
import { retentionMs } from '../state/deadlines.ts';
import { isFinal, type Run, runIdOf, type Target, waitsForToken } from '../state/run.ts';

interface FailedRemoval {
  readonly failures: number;
  /** When to retry, by the monotonic clock; Infinity while the removal waits for another token. */
  readonly notBefore: number;
  readonly tokens: number;
}

/** Removes the uploads of ended runs from the service. Retries wait longer after each failure; after a refused token they wait for another. */
export class UploadRemoval {
  readonly #deps: RunDeps;
  readonly #failed = new Map<string, FailedRemoval>();

  constructor(deps: RunDeps) {
    this.#deps = deps;
  }

  /** True for an ended run that may have files on the service, unless a retry has to wait. */
  isDue(run: Run): boolean {
    return this.#isTime(run.id) && this.#hasUploads(run);
  }

  /** True for an ended run that may have files on the service, unless the removal waits for another token. */
  isPending(run: Run): boolean {
    return this.#failed.get(run.id)?.notBefore !== Infinity && this.#hasUploads(run);
  }

  /** Removes a run's uploads, unless a retry has to wait; a failure is logged and its retry planned. */
  async remove(run: Run): Promise<void> {
    if (!this.#isTime(run.id)) return;
    const { deleteSourceAfterRun, log } = this.#deps;
    const failure = await removeUploads(run, deleteSourceAfterRun(), this.#deps).catch((error: unknown) => {
      log.warn(`Run ${run.id}: its uploads could not be removed: ${String(error)}`);
      return knownError(error);
    });
    if (failure === undefined) this.#failed.delete(run.id);
    else this.#planRetry(run.id, failure);
  }

  /** Plans removals that wait for another token: after `tokenRetryMs`, or at once if a person has changed the source of tokens. */
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

  #planRetry(id: string, failure: AssessmentError): void {
    const { clock, random } = this.#deps;
    const previous = this.#failed.get(id);
    const failures = (previous?.failures ?? 0) + 1;
    const waitMs = waitsForToken(failure)
      ? Infinity
      : backoffMs(failures, failure.data.retryAfterMs ?? 0, random());
    this.#failed.set(id, { failures, tokens: previous?.tokens ?? 0, notBefore: clock.monotonic() + waitMs });
  }
}

/** True when an ended run may have files to remove on the service; past `retentionMs` the service has removed them itself. */
export function hasUploads(run: Run, includeConfirmed: boolean, now: number): boolean {
  if (!isFinal(run) || now - run.endedAt > retentionMs) return false;
  return run.targets.some(({ upload }) => isToRemove(upload, run, includeConfirmed));
}

/** The files of a run with a run ID are confirmed. Of another run, one may still be a reservation, because `confirm` takes a conflict for success. */
function isToRemove(
  upload: Target['upload'],
  run: Run,
  includeConfirmed: boolean,
): upload is NonNullable<Target['upload']> & { state: 'reserved' | 'confirmed' } {
  if (upload?.state !== 'confirmed') return upload?.state === 'reserved';
  const isSurelyConfirmed = upload.isSure === true || runIdOf(run) !== undefined;
  return includeConfirmed || !isSurelyConfirmed;
}

/**
 * Removes a run's files from the service: cancels those that are, or may be, pending reservations, and deletes confirmed ones if `includeConfirmed`
 * (docs/api.md, section 4.1). Returns the first failure, or the one with the longest `Retry-After`: then a file may be left. Sends nothing before
 * `Retry-After` has passed.
 */
export async function removeUploads(
  run: Run,
  includeConfirmed: boolean,
  { store, clientFor, clock, log }: RunDeps,
): Promise<AssessmentError | undefined> {
  const waitMs = (run.removeNotBefore ?? 0) - clock.now();
  // A longer wait was saved under a wrong clock.
  if (waitMs > 0 && waitMs <= maxRetryAfterMs)
    return new AssessmentError('rateLimited', { retryAfterMs: waitMs });
  const client = clientFor(run);
  let failure: AssessmentError | undefined;
  for (const [index, { upload }] of run.targets.entries()) {
    if (!isToRemove(upload, run, includeConfirmed)) continue;
    try {
      const change = await removeUpload(upload, includeConfirmed, client);
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
  // Saved for other windows and for the next start.
  if (retryAfterMs !== undefined)
    await store
      .apply(run.id, { type: 'removalDelayed', retryAfterMs, at: clock.now() })
      .catch((error: unknown) =>
        log.warn(`Run ${run.id}: the wait before its uploads are removed was not saved: ${String(error)}`),
      );
  return failure;
}

async function removeUpload(
  { fileId, state }: { readonly fileId: string; readonly state: 'reserved' | 'confirmed' },
  includeConfirmed: boolean,
  client: AssessmentClient,
): Promise<{ type: 'uploadRemoved'; state: 'cancelled' | 'deleted' } | { type: 'foundConfirmed' }> {
  if (state === 'reserved' || includeConfirmed)
    return { type: 'uploadRemoved', state: await removeFile(fileId, state, client) };
  try {
    await client.cancelUpload(fileId);
    return { type: 'uploadRemoved', state: 'cancelled' };
  } catch (error) {
    if (isOtherState(error)) return { type: 'foundConfirmed' };
    throw error;
  }
}

/** Removes one file, which a call with a lost reply may have left in the other state. A file that neither call knows counts as removed. */
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
  const [first, second] = believed === 'reserved' ? [cancel, remove] : [remove, cancel];
  try {
    return await first();
  } catch (error) {
    if (!isOtherState(error)) throw error;
    try {
      return await second();
    } catch (secondError) {
      const isGone = isKind(error, 'notFound') && isKind(secondError, 'notFound');
      if (isGone) return believed === 'reserved' ? 'cancelled' : 'deleted';
      throw secondError;
    }
  }
}

/** True for possible answers to a call about a file in another state; docs/api.md, section 7, does not say which they are. */
function isOtherState(error: unknown): boolean {
  return isKind(error, 'conflict') || isKind(error, 'rejected') || isKind(error, 'notFound');
}

function isKind(error: unknown, kind: AssessmentError['kind']): boolean {
  return error instanceof AssessmentError && error.kind === kind;
}

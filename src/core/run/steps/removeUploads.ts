import type { AssessmentClient } from '../../api/client.ts';
import { AssessmentError, knownError } from '../../errors.ts';
import { visibleLine } from '../../visibleText.ts';
import type { EventOf, RunEvent } from '../state/event.ts';
import { mayHaveUploads, uploadsToRemove, type UploadToRemove } from '../state/next.ts';
import { type Run, toFailure } from '../state/run.ts';
import type { RunDeps, StepDeps } from './step.ts';

type RemovalDeps = Pick<StepDeps, 'clientFor' | 'clock' | 'log' | 'save'> & {
  readonly signal?: AbortSignal;
};

/** Removes the uploads of an ended run from the service. A failure is the event of the next try. */
export async function removeUploads(
  run: Run,
  deps: RemovalDeps & Pick<StepDeps, 'deleteSourceAfterRun' | 'random'>,
): Promise<EventOf<'removalFailed'> | undefined> {
  const error = await tryToRemove(run, deps.deleteSourceAfterRun(), deps);
  if (error === undefined) return undefined;
  const retryAfterMs = error.data.retryAfterMs ?? 0;
  const jitter = deps.random();
  return { type: 'removalFailed', failure: toFailure(error), retryAfterMs, jitter, at: deps.clock.now() };
}

/** For a person: tries once. Returns the first failure, after which some uploads may be left. */
export function removeOnce(
  run: Run,
  includeConfirmed: boolean,
  deps: RunDeps,
): Promise<AssessmentError | undefined> {
  const save = (event: RunEvent): Promise<Run> => deps.store.apply(run.id, event);
  return tryToRemove(run, includeConfirmed, { ...deps, save });
}

/** As `removeOnce`, as the setting says, after ending a run that has not ended. Throws `changedMeanwhile`. */
export async function endAndRemove(run: Run, deps: RunDeps): Promise<AssessmentError | undefined> {
  const { store, clock, deleteSourceAfterRun } = deps;
  const isUndispatched = run.state === 'unknown' || run.state === 'preparing';
  try {
    const ended = isUndispatched
      ? await store.applyIfDue(run.id, { type: 'abandoned', at: clock.now() })
      : run;
    if (ended !== undefined)
      return mayHaveUploads(ended, deleteSourceAfterRun(), clock.now())
        ? await removeOnce(ended, deleteSourceAfterRun(), deps)
        : undefined;
  } catch (error) {
    return knownError(error);
  }
  throw new AssessmentError('changedMeanwhile');
}

/**
 * Cancels the files of a run that are, or may be, pending reservations, and deletes confirmed ones if `includeConfirmed`
 * (docs/api.md, section 4.1). Returns the first failure, or the one with the longest `Retry-After`: then a file may be
 * left. Sends nothing before the `Retry-After` of an earlier try has passed.
 */
export async function tryToRemove(
  run: Run,
  includeConfirmed: boolean,
  { clientFor, clock, log, save, signal }: RemovalDeps,
): Promise<AssessmentError | undefined> {
  const { at = 0, firmMs = 0 } = run.removal?.wait ?? {};
  const waitMs = at + firmMs - clock.now();
  // A longer wait was saved under a wrong clock.
  if (waitMs > 0 && waitMs <= firmMs) return new AssessmentError('rateLimited', { retryAfterMs: waitMs });
  const client = clientFor(run);
  let failure: AssessmentError | undefined;
  for (const upload of uploadsToRemove(run, includeConfirmed)) {
    try {
      const change = await removeUpload(upload, includeConfirmed, { client, signal });
      await save({ ...change, target: upload.target, at: clock.now() });
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
  return failure;
}

async function removeUpload(
  { fileId, state }: UploadToRemove,
  includeConfirmed: boolean,
  { client, signal }: { client: AssessmentClient; signal: AbortSignal | undefined },
): Promise<{ type: 'uploadRemoved'; state: 'cancelled' | 'deleted' } | { type: 'foundConfirmed' }> {
  if (state === 'reserved' || includeConfirmed)
    return { type: 'uploadRemoved', state: await removeFile(fileId, state, client, signal) };
  try {
    await client.cancelUpload(fileId, { signal });
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

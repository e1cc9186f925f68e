import type { AssessmentClient } from '../../api/client.ts';
import { AssessmentError } from '../../errors.ts';
import { uploadsToRemove } from '../state/retention.ts';
import type { Run } from '../state/run.ts';
import type { RunDeps } from './step.ts';

/** Stops at the first failure. A file that is gone counts as removed. */
export async function sendRemovals(
  run: Run,
  deletesSource: boolean,
  { store, clientFor, clock }: RunDeps,
  signal?: AbortSignal,
): Promise<undefined> {
  const client = clientFor(run);
  for (const { target, fileId, state } of uploadsToRemove(run, deletesSource, clock.now())) {
    const removed = await removeFile(fileId, state, client, signal);
    await store.apply(run.id, { type: 'uploadRemoved', target, state: removed, at: clock.now() });
  }
}

/**
 * Tries the call that fits the file's believed state, then the other call: a call whose reply was
 * lost may have changed the state. The file is gone if the deletion fails with `notFound`, and the
 * cancellation with `notFound` or `conflict`.
 */
export async function removeFile(
  fileId: string,
  believed: 'reserved' | 'confirmed',
  client: AssessmentClient,
  signal?: AbortSignal,
): Promise<'cancelled' | 'deleted'> {
  const calls = {
    cancelled: () => client.cancelUpload(fileId, { signal }),
    deleted: () => client.deleteFile(fileId, { signal }),
  };
  const failures: Partial<Record<keyof typeof calls, AssessmentError>> = {};
  const order = ['cancelled', 'deleted'] as const;
  for (const outcome of believed === 'reserved' ? order : order.toReversed()) {
    const failure = await failureOf(calls[outcome]());
    if (failure === undefined) return outcome;
    // The service may report these for a file in another state: docs/api.md, section 7, doesn't say
    // which.
    if (!['conflict', 'rejected', 'notFound'].includes(failure.kind)) throw failure;
    failures[outcome] = failure;
  }
  const { cancelled, deleted } = failures;
  const isGone = deleted?.kind === 'notFound' && cancelled !== undefined && cancelled.kind !== 'rejected';
  if (isGone) return believed === 'reserved' ? 'cancelled' : 'deleted';
  throw (believed === 'reserved' ? deleted : cancelled) ?? new AssessmentError('unexpected');
}

async function failureOf(call: Promise<unknown>): Promise<AssessmentError | undefined> {
  try {
    await call;
    return undefined;
  } catch (error) {
    if (error instanceof AssessmentError) return error;
    throw error;
  }
}

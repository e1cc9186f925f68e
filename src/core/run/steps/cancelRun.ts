import { wasRefused } from '../../api/failure.ts';
import { idempotent, withRetry } from '../../api/retry.ts';
import { AssessmentError } from '../../errors.ts';
import type { RunIn } from '../state/run.ts';
import type { RunDeps } from './step.ts';

/** Returns the service's `conflict` instead of throwing it, because the run may have ended. */
export async function sendCancellation(
  run: RunIn<'running'>,
  deps: RunDeps,
): Promise<AssessmentError | undefined> {
  const { store, clientFor, clock, log } = deps;
  const client = clientFor(run);
  const sentAt = clock.now();
  const save = (answer?: 'accepted' | 'refused') =>
    store.apply(run.id, { type: 'cancelSent', sentAt, answer, at: clock.now() });
  let saved: Promise<unknown> | undefined;
  // The request is saved first, because its response may be lost. A failure to save does not stop
  // the request, because a run that continues spends credits.
  const beforeSend = async (): Promise<void> => {
    saved ??= save().catch((error: unknown) => {
      log.warn(`Run ${run.id}: its cancellation was not saved: ${String(error)}`);
    });
    await saved;
  };
  const progress = { mayBeAccepted: false };
  const send = async (): Promise<void> => {
    try {
      await client.cancel(run.workflow, run.runId, { beforeSend });
    } catch (error) {
      progress.mayBeAccepted ||= !(error instanceof AssessmentError && wasRefused(error));
      throw error;
    }
  };
  try {
    await withRetry(idempotent, send, deps);
  } catch (error) {
    if (!(error instanceof AssessmentError)) throw error;
    if (!progress.mayBeAccepted) await save('refused');
    if (error.kind !== 'conflict') throw error;
    return error;
  }
  await save('accepted');
  return undefined;
}

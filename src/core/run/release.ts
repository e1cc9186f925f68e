import type { AssessmentClient } from '../api/client.ts';
import { AssessmentError } from '../errors.ts';
import type { Clock, Logger } from '../ports.ts';
import type { Run } from './run.ts';
import type { RunStore } from './runStore.ts';

/** Takes a run's files off the service: pending ones are cancelled, confirmed ones deleted when `confirmedToo` (API reference, section 4.1). Returns false when one may still be there. */
export async function releaseUploads(
  run: Run,
  confirmedToo: boolean,
  deps: { store: RunStore; client: AssessmentClient; clock: Clock; log: Logger },
): Promise<boolean> {
  let allGone = true;
  for (const [index, { upload }] of run.targets.entries()) {
    if (upload === undefined || upload.state === 'cancelled' || upload.state === 'deleted') continue;
    if (upload.state === 'confirmed' && !confirmedToo) continue;
    try {
      const state = await release(upload.fileId, upload.state, deps.client);
      await deps.store.apply(run.id, { type: 'released', target: index, state, at: deps.clock.now() });
    } catch (error) {
      if (!(error instanceof AssessmentError)) throw error;
      allGone = false;
      deps.log.warn(
        `Run ${run.id}: an uploaded file could not be removed from the service: ${error.message}`,
      );
    }
  }
  return allGone;
}

async function release(
  fileId: string,
  state: 'reserved' | 'confirmed',
  client: AssessmentClient,
): Promise<'cancelled' | 'deleted'> {
  if (state === 'reserved') {
    try {
      await client.cancelUpload(fileId);
      return 'cancelled';
    } catch (error) {
      if (isKind(error, 'notFound')) return 'cancelled';
      // Confirmed after all, by a call whose reply was lost.
      if (!isKind(error, 'conflict') && !isKind(error, 'rejected')) throw error;
    }
  }
  try {
    await client.deleteFile(fileId);
  } catch (error) {
    if (!isKind(error, 'notFound')) throw error;
  }
  return 'deleted';
}

function isKind(error: unknown, kind: AssessmentError['kind']): boolean {
  return error instanceof AssessmentError && error.kind === kind;
}

import { hash } from 'node:crypto';
import { join } from 'node:path';
import { AssessmentError, isAbortError } from '../../errors.ts';
import { type Lease, takeLease } from '../disk/lease.ts';
import type { RunDeps } from '../steps/step.ts';

const claimRenewMs = 5_000;

/** The right to start a run of some subjects: folders, or an application (`applicationSubject`). One start at a time has it, across all windows. */
export interface StartClaim {
  release(): Promise<void>;
}

/** Claims all subjects or none, by leases that are renewed until released. Throws `startedElsewhere`, and `storage` where runs cannot be saved. */
export async function claimStart(
  subjects: readonly string[],
  { store, clock, log }: Pick<RunDeps, 'store' | 'clock' | 'log'>,
): Promise<StartClaim> {
  await store.requireWritable();
  const leases: Lease[] = [];
  const forEachLease = async (act: (lease: Lease) => Promise<unknown>): Promise<void> => {
    for (const lease of leases)
      await act(lease).catch((error: unknown) =>
        log.warn(`A claim on a start could not be renewed or released: ${String(error)}`),
      );
  };
  const releaseAll = (): Promise<void> => forEachLease((lease) => lease.release());
  try {
    for (const subject of new Set(subjects)) {
      const lease = await takeLease(join(store.startingFolder, keyOf(subject)), clock);
      if (lease === undefined) throw new AssessmentError('startedElsewhere');
      leases.push(lease);
    }
  } catch (error) {
    await releaseAll();
    throw error;
  }
  const stop = new AbortController();
  const renew = async (): Promise<void> => {
    while (leases.length > 0) {
      await clock.sleep(claimRenewMs, stop.signal);
      await forEachLease((lease) => lease.renew());
    }
  };
  const renewing = renew().catch((error: unknown) => {
    if (!isAbortError(error)) throw error;
  });
  return {
    release: async () => {
      stop.abort();
      await renewing;
      await releaseAll();
    },
  };
}

function keyOf(subject: string): string {
  return hash('sha256', subject, 'hex').slice(0, 32);
}

import { mkdir } from 'node:fs/promises';
import { AssessmentError, systemCode } from '../../errors.ts';
import type { Clock } from '../../ports.ts';
import { takeLease } from './lease.ts';

const againMs = 10;

/**
 * Runs `act` while no other process does so for the same folder, so that what was read is still so when it is written. It is for moments: who
 * has died, or holds it so long that a lease may be taken over, is passed. Throws `notFound` when the folder that the lock's folder lies in is gone.
 */
export async function withJournalLock<T>(folder: string, clock: Clock, act: () => Promise<T>): Promise<T> {
  for (;;) {
    await makeFolder(folder);
    const lease = await takeLease(folder, clock);
    if (lease === undefined) {
      await clock.sleep(againMs);
      continue;
    }
    try {
      return await act();
    } finally {
      await lease.release();
    }
  }
}

/** Not with its parents: a run that was removed must not come back as an empty folder. */
async function makeFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder, { mode: 0o700 });
  } catch (error) {
    if (systemCode(error) === 'ENOENT') throw new AssessmentError('notFound', {}, { cause: error });
    if (systemCode(error) !== 'EEXIST') throw error;
  }
}

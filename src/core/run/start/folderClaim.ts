import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { AssessmentError, isAbortError } from '../../errors.ts';
import type { Clock, Logger } from '../../ports.ts';
import { type Lease, takeLease } from '../disk/lease.ts';

const renewMs = 5_000;

/** The right to start a run of some folders, which one start at a time has, in whichever window. */
export interface FolderClaim {
  /** Lets other starts of these folders begin. */
  release(): Promise<void>;
}

/** Claims folders, each of them or none, by leases below `root`, which are kept however long a person reads the questions; throws `startedElsewhere` while a start that has one of them goes on. */
export async function claimFolders(
  folders: readonly string[],
  { root, clock, log }: { root: string; clock: Clock; log: Logger },
): Promise<FolderClaim> {
  const leases: Lease[] = [];
  const releaseAll = async (): Promise<void> => {
    for (const lease of leases) {
      await lease.release().catch((error: unknown) => {
        log.warn(`The claim on a folder could not be given back: ${String(error)}`);
      });
    }
  };
  try {
    for (const folder of new Set(folders)) {
      const lease = await takeLease(join(root, keyOf(folder)), clock);
      if (lease === undefined) throw new AssessmentError('startedElsewhere');
      leases.push(lease);
    }
  } catch (error) {
    await releaseAll();
    throw error;
  }
  const stop = new AbortController();
  const renew = async (): Promise<void> => {
    for (;;) {
      await clock.sleep(renewMs, stop.signal);
      for (const lease of leases) {
        await lease.renew().catch((error: unknown) => {
          log.warn(`A start could not be kept to this window: ${String(error)}`);
        });
      }
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

function keyOf(folder: string): string {
  return createHash('sha256').update(folder).digest('hex').slice(0, 32);
}

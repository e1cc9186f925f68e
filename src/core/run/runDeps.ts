import type { AssessmentClient } from '../api/client.ts';
import type { Clock, Logger } from '../ports.ts';
import type { RunNotes } from './disk/recoveryNotes.ts';
import type { RunStore } from './disk/runStore.ts';
import type { Run } from './state/run.ts';

export interface RunDeps {
  readonly store: RunStore;
  /** A client for the run's origin and organization; its messages hold none of the run's passwords. */
  readonly clientFor: (place: Pick<Run, 'baseUrl' | 'organizationId' | 'input'>) => AssessmentClient;
  /** The passwords of a blackbox run's credentials, in their order; throws `noPassword` for a missing one. */
  readonly passwordsOf?: ((run: Run) => Promise<readonly string[]>) | undefined;
  readonly clock: Clock;
  /** 0 to 1, for jitter. */
  readonly random: () => number;
  readonly log: Logger;
  readonly workerFile: string;
  readonly deleteSourceAfterRun: () => boolean;
  readonly retainLocalDays: () => number;
  /** Called between the download of the artifacts and the removal of the archives; a failure is logged and delays nothing. */
  readonly keepSource?: ((run: Run, signal: AbortSignal) => Promise<void>) | undefined;
  /** Notes what the disk may not have taken yet: an accepted run, a reserved input file. */
  readonly notes?: Pick<RunNotes, 'keep' | 'keepReservation'> | undefined;
}

import type { AssessmentClient } from '../api/client.ts';
import type { Clock, Logger } from '../ports.ts';
import type { RunNotes } from './disk/recoveryNotes.ts';
import type { RunStore } from './disk/runStore.ts';
import type { Run } from './state/run.ts';

/** What the life of runs depends on; each part of it takes what it uses. */
export interface RunDeps {
  readonly store: RunStore;
  /** A client for a run's own origin and organization, whose messages hold none of the run's passwords. */
  readonly clientFor: (place: Pick<Run, 'baseUrl' | 'organizationId' | 'input'>) => AssessmentClient;
  /** The passwords of a blackbox run's credentials, in their order; throws `noPassword` for one that is not kept. */
  readonly passwordsOf?: ((run: Run) => Promise<readonly string[]>) | undefined;
  readonly clock: Clock;
  /** 0 to 1, for jitter. */
  readonly random: () => number;
  readonly log: Logger;
  readonly workerFile: string;
  readonly deleteSourceAfterRun: () => boolean;
  readonly retainLocalDays: () => number;
  /** Keeps what is wanted of a run's archives, once its artifacts are in its folder and before the archives are removed; a failure is logged and delays nothing. */
  readonly keepSource?: ((run: Run, signal: AbortSignal) => Promise<void>) | undefined;
  /** Notes what the journals may not have yet: a run that the service has accepted, and an input file that it has reserved. */
  readonly notes?: Pick<RunNotes, 'keep' | 'keepReservation'> | undefined;
}

import type { AssessmentClient } from '../../api/client.ts';
import type { AssessmentError } from '../../errors.ts';
import type { Clock, Emitter, Logger, OnBytes } from '../../ports.ts';
import type { RunNotes } from '../disk/runNotes.ts';
import type { RunStore } from '../disk/runStore.ts';
import type { Circumstances } from '../state/next.ts';
import type { Run } from '../state/run.ts';

/** What all work on runs is done with. */
export interface RunDeps {
  readonly store: RunStore;
  /** Its messages hold none of the run's passwords. */
  readonly clientFor: (account: Pick<Run, 'baseUrl' | 'organizationId' | 'input'>) => AssessmentClient;
  /**
   * The passwords of a blackbox run's credentials, in their order; throws `noPassword` for a
   * missing one.
   */
  readonly passwordsOf?: ((run: Run) => Promise<readonly string[]>) | undefined;
  readonly clock: Clock;
  /** 0 to 1, for jitter. */
  readonly random: () => number;
  readonly log: Logger;
  readonly workerFile: string;
  readonly deleteSourceAfterRun: () => boolean;
  readonly retainLocalDays: () => number;
  /**
   * Works out the findings of a run, as it will be once it has ended, while its archives are here;
   * resolves also if it never can. Throws what may succeed later.
   */
  readonly workOut?: ((run: Run, signal: AbortSignal) => Promise<void>) | undefined;
  /** Asks VS Code's workbench anything. Without an answer, this window drives no run. */
  readonly askWorkbench?: (() => PromiseLike<unknown>) | undefined;
  readonly notes?: Pick<RunNotes, 'keep' | 'runIdFor'> | undefined;
}

export function circumstances(run: Run, { clock, deleteSourceAfterRun, notes }: RunDeps): Circumstances {
  return { now: clock.now(), notedRunId: notes?.runIdFor(run), deletesSource: deleteSourceAfterRun() };
}

/**
 * A run was accepted, and the disk does not take that yet: its local ID and `notKept` (subject: the
 * run ID).
 */
export interface NotSaved {
  readonly id: string;
  readonly error: AssessmentError;
}

/** What a start works with. */
export interface StartDeps extends RunDeps {
  readonly notSaved: Emitter<NotSaved>;
  /** Aborts when the window closes. */
  readonly stopped: AbortSignal;
  /** Aborts when a user cancels. */
  readonly cancelled: AbortSignal | undefined;
  readonly onPackaging?: OnBytes | undefined;
  readonly onUploading?: OnBytes | undefined;
}

/**
 * What a step of a drive works with. A step performs one effect, and returns what it has learned as
 * an event. Each may be performed again, where its event could not be saved or its window was
 * closed.
 */
export interface StepDeps extends RunDeps {
  /** A run has ended, or waits for a user. */
  readonly ended: Emitter<Run>;
  /** When the drive first saw what it has seen at each look since, by the monotonic clock. */
  readonly firstSeen: Map<string, number>;
  /** Aborts when the window closes or loses the lease, or when a user asks for what cannot wait. */
  readonly signal: AbortSignal;
}

/** By the monotonic clock: nothing is given up because the wall clock jumped. */
export function msSinceFirstSeen(
  what: string,
  { firstSeen, clock }: Pick<StepDeps, 'firstSeen' | 'clock'>,
): number {
  const now = clock.monotonic();
  const seen = firstSeen.get(what) ?? now;
  firstSeen.set(what, seen);
  return now - seen;
}

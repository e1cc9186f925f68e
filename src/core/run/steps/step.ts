import type { AssessmentClient } from '../../api/client.ts';
import type { AssessmentError } from '../../errors.ts';
import type { Clock, Emitter, Logger, OnBytes } from '../../ports.ts';
import type { RunNotes } from '../disk/runNotes.ts';
import type { RunStore } from '../disk/runStore.ts';
import type { Circumstances } from '../state/next.ts';
import type { Run } from '../state/run.ts';

export interface RunDeps {
  readonly store: RunStore;
  /** The client's errors contain none of the run's passwords. */
  readonly clientFor: (account: Pick<Run, 'baseUrl' | 'organizationId' | 'input'>) => AssessmentClient;
  /** The passwords of a blackbox run's credentials, in the same order. */
  readonly passwordsOf?: ((run: Run) => Promise<readonly string[]>) | undefined;
  readonly clock: Clock;
  /** The range is 0 to 1. */
  readonly random: () => number;
  readonly log: Logger;
  readonly workerFile: string;
  readonly deleteSourceAfterRun: () => boolean;
  readonly retainLocalDays: () => number;
  /**
   * Computes and saves the findings of an ended run. Throws only if a later attempt may succeed.
   */
  readonly saveResult?: ((run: Run, signal: AbortSignal) => Promise<void>) | undefined;
  /** Makes a call to VS Code's workbench. Without a response, this window drives no run. */
  readonly askWorkbench?: (() => PromiseLike<unknown>) | undefined;
  readonly notes?: Pick<RunNotes, 'keep' | 'runIdFor'> | undefined;
}

export function circumstances(run: Run, { clock, deleteSourceAfterRun, notes }: RunDeps): Circumstances {
  return { now: clock.now(), notedRunId: notes?.runIdFor(run), deletesSource: deleteSourceAfterRun() };
}

/**
 * An accepted run whose journal can't be written yet. `id` is the local ID. The error's subject is
 * the run ID.
 */
export interface NotSaved {
  readonly id: string;
  readonly error: AssessmentError;
}

export interface StartDeps extends RunDeps {
  readonly notSaved: Emitter<NotSaved>;
  /** Aborts when the window closes. */
  readonly stopped: AbortSignal;
  readonly cancelled: AbortSignal | undefined;
  readonly onPackaging?: OnBytes | undefined;
  readonly onUploading?: OnBytes | undefined;
}

/** A step may be performed again if its event couldn't be saved or its window was closed. */
export interface StepDeps extends RunDeps {
  readonly ended: Emitter<Run>;
  /** When the drive first saw a condition that has lasted since, by the monotonic clock. */
  readonly firstSeen: Map<string, number>;
  /** Aborts when the drive is stopped. */
  readonly signal: AbortSignal;
}

export function msSinceFirstSeen(
  what: string,
  { firstSeen, clock }: Pick<StepDeps, 'firstSeen' | 'clock'>,
): number {
  const now = clock.monotonic();
  const seen = firstSeen.get(what) ?? now;
  firstSeen.set(what, seen);
  return now - seen;
}

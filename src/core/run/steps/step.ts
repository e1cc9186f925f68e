import type { AssessmentClient } from '../../api/client.ts';
import type { Clock, Emitter, Logger } from '../../ports.ts';
import type { RunNotes } from '../disk/runNotes.ts';
import type { RunStore } from '../disk/runStore.ts';
import type { Circumstances } from '../state/next.ts';
import type { Run } from '../state/run.ts';

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
  /**
   * Works out the findings of a run, as it will be once it has ended, whose results were
   * downloaded, while its archives are here; resolves also if it never can. May be repeated: throws
   * what may succeed later.
   */
  readonly workOut?: ((run: Run, signal: AbortSignal) => Promise<void>) | undefined;
  /** Asks VS Code's workbench anything. Without an answer, this window drives no run. */
  readonly askWorkbench?: (() => PromiseLike<unknown>) | undefined;
  /** Of accepted runs, whose journals the disk may not have taken yet. */
  readonly notes?: Pick<RunNotes, 'keep' | 'runIdFor'> | undefined;
}

/** What every drive of a window shares. */
export interface DriveDeps extends RunDeps {
  /** A run has ended, or waits for a person. */
  readonly ended: Emitter<Run>;
  /** The runs whose end this window has shown, although it could not note that. */
  readonly shown: Set<string>;
}

export function circumstances(run: Run, { clock, deleteSourceAfterRun, notes }: RunDeps): Circumstances {
  return { now: clock.now(), notedRunId: notes?.runIdFor(run), deletesSource: deleteSourceAfterRun() };
}

/**
 * What a step works with. A step performs one effect, and returns what it has learned as an event. Each may be performed again, where its event could
 * not be saved or its window was closed.
 */
export interface StepDeps extends DriveDeps {
  /** When the drive first saw what it has seen at each look since, by the monotonic clock. */
  readonly firstSeen: Map<string, number>;
  /** Aborts when the window closes or loses the lease, or when a person asks for what cannot wait. */
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

import type { AssessmentClient } from '../../api/client.ts';
import type { AssessmentError } from '../../errors.ts';
import type { Clock, Emitter, Logger, OnBytes } from '../../ports.ts';
import type { ManifestEntry } from '../../upload/archive/packing.ts';
import type { RunNotes } from '../disk/recoveryNotes.ts';
import type { RunStore } from '../disk/runStore.ts';
import type { RunEvent } from '../state/event.ts';
import type { Assessment } from '../state/newRun.ts';
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
  /** Works out the findings of a run whose results were downloaded, while its archives are here. */
  readonly workOut?: ((run: Run, signal: AbortSignal) => Promise<void>) | undefined;
  /** Asks VS Code's workbench anything. Without an answer, this window drives no run. */
  readonly askWorkbench?: (() => PromiseLike<unknown>) | undefined;
  /** Notes an accepted run, which the disk may not have taken yet. */
  readonly notes?: Pick<RunNotes, 'keep'> | undefined;
}

/** What this window tells of the runs that it drives. */
export interface RunEvents {
  /** A run has ended, or waits for a person. */
  readonly ended: Emitter<Run>;
  /** The service may soon delete a run's results, which this machine does not have. */
  readonly nearRetention: Emitter<Run>;
  /** A run was accepted, and the disk does not take that yet: its local ID and `notKept` (subject: the run ID). */
  readonly failToKeep: Emitter<{ readonly id: string; readonly error: AssessmentError }>;
}

export type DriveDeps = RunDeps & RunEvents;

export function circumstances(
  { clock, deleteSourceAfterRun, retainLocalDays }: RunDeps,
  isStarter: boolean,
): Circumstances {
  return {
    now: clock.now(),
    isStarter,
    deletesSource: deleteSourceAfterRun(),
    retainLocalDays: retainLocalDays(),
  };
}

export interface StartOptions {
  readonly signal?: AbortSignal | undefined;
  readonly onPackaging?: OnBytes | undefined;
  readonly onUploading?: OnBytes | undefined;
}

/** What only the window that starts a run has. */
export interface Start extends StartOptions {
  /** Absent for a start request that is sent again. */
  readonly assessment?: Assessment | undefined;
  /** Of each packaged folder. */
  manifests?: readonly Iterable<ManifestEntry>[] | undefined;
}

/** What a step works with. A step performs one effect, and returns what it has learned as an event. */
export interface StepDeps extends DriveDeps {
  readonly start: Start;
  /** True for a poll that comes out of turn. */
  readonly isExtra: boolean;
  /** Aborts when the window closes or loses the lease, or when a person cancels. */
  readonly signal: AbortSignal;
  /** The event is on disk when this resolves; throws where it cannot be saved. For what must be saved before an effect. */
  readonly save: (event: RunEvent) => Promise<Run>;
  /** The event counts at once, and is saved when the disk takes it. Returns the run with it. */
  readonly record: (event: RunEvent) => Promise<Run>;
  /** False once another window drives the run. */
  readonly renewLease: () => Promise<boolean>;
}

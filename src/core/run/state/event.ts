import type { Artifact, Exit, Failure, Target } from './run.ts';

/** Events that plan a wait bring their `jitter`, 0 to 1. */
export type RunEvent = { readonly at: number } & (
  | ({ readonly type: 'archived'; readonly target: number } & Required<Pick<Target, 'archive' | 'coverage'>>)
  | { readonly type: 'packaged' }
  /** The person agreed to the upload. */
  | { readonly type: 'agreed' }
  | {
      readonly type: 'reserved';
      readonly target: number;
      readonly fileId: string;
      readonly host?: string | undefined;
    }
  | { readonly type: 'uploaded' }
  | { readonly type: 'confirmed'; readonly target: number }
  | { readonly type: 'dispatchIntended' }
  | { readonly type: 'dispatched'; readonly runId: string }
  | { readonly type: 'runIdGiven'; readonly runId: string }
  | { readonly type: 'dispatchStopped'; readonly by: 'person' | 'windowClose' }
  | { readonly type: 'dispatchLost'; readonly reason: Failure }
  | { readonly type: 'takenOver' }
  /** The service's answer (`toAnswered`). `exit` is present once the answer says in full how the run ended. */
  | {
      readonly type: 'answered';
      readonly status: string;
      readonly exit?: Exit | undefined;
      readonly jitter: number;
    }
  /** A poll or a download failed. One that came out of turn (`isExtra`) neither counts nor moves the next. */
  | {
      readonly type: 'pollFailed';
      readonly failure: Failure;
      readonly retryAfterMs: number;
      readonly jitter: number;
      readonly isExtra?: boolean;
    }
  | { readonly type: 'tokenChanged'; readonly isNewSource: boolean; readonly jitter: number }
  | { readonly type: 'cancelAsked' }
  | { readonly type: 'cancelSent' }
  | { readonly type: 'cancelRefused'; readonly sentAt: number }
  | { readonly type: 'artifactDownloaded'; readonly artifact: Artifact }
  | { readonly type: 'downloaded'; readonly artifacts: readonly Artifact[] }
  | { readonly type: 'workOutBegun' }
  /** Before its end, by a window that closes or loses the lease. */
  | { readonly type: 'workOutStopped' }
  | { readonly type: 'collected' }
  | { readonly type: 'failed'; readonly failure: Failure }
  | { readonly type: 'abandoned' }
  | { readonly type: 'uploadRemoved'; readonly target: number; readonly state: 'cancelled' | 'deleted' }
  | { readonly type: 'foundConfirmed'; readonly target: number }
  | {
      readonly type: 'removalFailed';
      readonly failure: Failure;
      readonly retryAfterMs: number;
      readonly jitter: number;
    }
  | { readonly type: 'endNotified' }
  | { readonly type: 'unwatched' }
  | { readonly type: 'downloadedAgain'; readonly artifacts: readonly Artifact[] }
  | { readonly type: 'retentionNotified' }
  | { readonly type: 'cleanUpDue' }
  | { readonly type: 'cleanUpNotDue' }
  | { readonly type: 'archivesRemoved' }
  | { readonly type: 'renamed'; readonly label: string }
  | { readonly type: 'answeredIsSame'; readonly isSame: boolean }
);

export type EventOf<T extends RunEvent['type']> = Extract<RunEvent, { type: T }>;

import { deniesRun, mayStopWatching } from './trouble.ts';
import {
  type Artifact,
  type Exit,
  type Failure,
  isFinal,
  isLive,
  keptOrFailed,
  type LiveRun,
  type Run,
  type RunIn,
  shared,
  type Target,
  type UploadState,
} from './run.ts';

export type RunEvent = { readonly at: number } & (
  | {
      readonly type: 'reserved';
      readonly target: number;
      readonly fileId: string;
      readonly host?: string | undefined;
    }
  | { readonly type: 'confirmed'; readonly target: number }
  | { readonly type: 'dispatchIntended' }
  | { readonly type: 'dispatched'; readonly intendedAt: number; readonly runId: string }
  | { readonly type: 'dispatchStopped'; readonly intendedAt: number; readonly by: 'user' | 'windowClose' }
  | { readonly type: 'dispatchLost'; readonly reason: Failure }
  | { readonly type: 'takenOver' }
  /**
   * `exit` is present once the response says in full how the run ended. `withoutOutcomeMs` is how
   * long the drive has seen EXITED without it.
   */
  | {
      readonly type: 'answered';
      readonly status: string;
      readonly exit?: Exit | undefined;
      readonly withoutOutcomeMs?: number;
    }
  | { readonly type: 'stepFailed'; readonly failure: Failure; readonly retryAt?: number | undefined }
  /** `answer` is absent while it is unknown whether the service accepted the cancellation. */
  | {
      readonly type: 'cancelSent';
      readonly sentAt: number;
      readonly answer?: 'accepted' | 'refused' | undefined;
    }
  | { readonly type: 'artifactDownloaded'; readonly artifact: Artifact }
  | { readonly type: 'collected'; readonly lacksRecord?: boolean }
  | { readonly type: 'recordSaved' }
  /** `intendedAt` is absent if the run failed before the start request was intended. */
  | { readonly type: 'failed'; readonly intendedAt?: number; readonly failure: Failure }
  | { readonly type: 'abandoned' }
  | { readonly type: 'uploadRemoved'; readonly target: number; readonly state: 'cancelled' | 'deleted' }
  | { readonly type: 'endNotified' }
  | { readonly type: 'unwatched' }
  | { readonly type: 'downloadedAgain'; readonly artifacts: readonly Artifact[] }
  | { readonly type: 'archivesRemoved' }
  | { readonly type: 'renamed'; readonly label: string }
  | { readonly type: 'answeredIsSame'; readonly isSame: boolean }
);

export type EventOf<T extends RunEvent['type']> = Extract<RunEvent, { type: T }>;

/** If EXITED lasts this long without an outcome, no outcome is expected. */
const maxWithoutOutcomeMs = 30 * 60 * 1000;

/** If this returns `run` itself, nothing is written. */
export function advance(run: Run, event: RunEvent): Run {
  // An event of another intent doesn't change this run.
  if ('intendedAt' in event && !('intendedAt' in run && run.intendedAt === event.intendedAt)) return run;
  // Retention counts from `at`, which must not be before the run's creation, even if the clock was
  // set back.
  const at = Math.max(event.at, run.createdAt);
  switch (event.type) {
    case 'reserved':
      return run.state === 'preparing'
        ? withTarget(run, event.target, {
            upload: { fileId: event.fileId, state: 'reserved', at, host: event.host },
          })
        : run;
    case 'confirmed':
      return run.state === 'preparing' ? withUpload(run, event.target, 'confirmed', at) : run;
    case 'dispatchIntended':
      return intendDispatch(run, event.at);
    case 'dispatched':
      return dispatched(run, event);
    case 'dispatchStopped':
      return run.state === 'dispatching' ? dispatchStopped(run, event, at) : run;
    case 'dispatchLost':
      return run.state === 'dispatching' ? dispatchLost(run, event.reason) : run;
    case 'takenOver':
      return takenOver(run, at);
    case 'answered':
      return run.state === 'running' || run.state === 'cancelling' ? answered(run, event, at) : run;
    case 'stepFailed':
      return stepFailed(run, event);
    case 'cancelSent':
      return cancelSent(run, event);
    case 'artifactDownloaded':
      return run.state === 'collecting' ? withArtifact(run, event.artifact) : run;
    case 'collected':
      return run.state === 'collecting' ? { ...collected(run, at), lacksRecord: event.lacksRecord } : run;
    case 'recordSaved':
      return run.lacksRecord === true ? { ...run, lacksRecord: false } : run;
    case 'failed':
      return failed(run, event.failure, at);
    case 'abandoned':
      if (run.state === 'unknown') return { ...toCancelled(run, at), noticeDue: false, mayStillRun: true };
      return run.state === 'preparing' ? toCancelled(run, at) : run;
    case 'uploadRemoved':
      return withUpload(run, event.target, event.state, at);
    case 'endNotified':
      return run.noticeDue ? { ...run, noticeDue: false } : run;
    case 'unwatched':
      return isLive(run) ? unwatched(run, at) : run;
    case 'downloadedAgain':
      return isFinal(run) && 'exit' in run && run.exit !== undefined
        ? { ...run, artifacts: [...event.artifacts], lacksRecord: true }
        : run;
    case 'archivesRemoved':
      return { ...run, archivesRemovedAt: at };
    case 'renamed':
      return renamed(run, event.label.trim());
    case 'answeredIsSame':
      return run.confirms === undefined || run.isSame === event.isSame
        ? run
        : { ...run, isSame: event.isSame };
  }
}

function intendDispatch(run: Run, at: number): Run {
  if (run.state === 'preparing') {
    const isConfirmed = run.targets.every(
      ({ archive, upload }) => archive === undefined || upload?.state === 'confirmed',
    );
    return isConfirmed ? { ...shared(run), state: 'dispatching', confirmedAt: at, intendedAt: at } : run;
  }
  if (run.state !== 'unknown') return run;
  const resendOf = { intendedAt: run.intendedAt, reason: run.reason };
  return { ...shared(run), noticeDue: false, state: 'dispatching', intendedAt: at, resendOf };
}

function dispatched(run: Run, { runId, intendedAt }: EventOf<'dispatched'>): Run {
  if (run.state !== 'dispatching' && run.state !== 'unknown') return run;
  // The intent's time counts: the run ID may have been found in a note days later.
  return { ...shared(run), noticeDue: false, runId, state: 'running', dispatchedAt: intendedAt };
}

/**
 * A stopped resend makes the run `unknown` again, because the lost dispatch may have been accepted.
 */
function dispatchStopped(run: RunIn<'dispatching'>, { by }: EventOf<'dispatchStopped'>, at: number): Run {
  if (run.resendOf !== undefined) return { ...shared(run), state: 'unknown', ...run.resendOf };
  return by === 'user' ? toCancelled(run, at) : toFailed(run, { kind: 'interrupted' }, at);
}

function dispatchLost(run: RunIn<'dispatching'>, reason: Failure): Run {
  return { ...shared(run), state: 'unknown', intendedAt: run.intendedAt, reason, noticeDue: true };
}

/** An interrupted dispatch may have been accepted. */
function takenOver(run: Run, at: number): Run {
  if (run.state === 'dispatching') return dispatchLost(run, { kind: 'interrupted' });
  return run.state === 'preparing' ? toFailed(run, { kind: 'interrupted' }, at) : run;
}

/** Never ends a run that the service may have accepted. */
function failed(run: Run, failure: Failure, at: number): Run {
  if (run.state === 'dispatching' && run.resendOf !== undefined)
    return { ...shared(run), state: 'unknown', ...run.resendOf, refusal: failure, noticeDue: true };
  return run.state === 'preparing' || run.state === 'dispatching' ? toFailed(run, failure, at) : run;
}

function answered(
  run: RunIn<'running' | 'cancelling'>,
  { status, exit, withoutOutcomeMs = 0 }: EventOf<'answered'>,
  at: number,
): Run {
  const { runId, dispatchedAt } = run;
  const cancelAt = run.state === 'running' ? run.cancelSentAt : run.cancelAskedAt;
  if (exit !== undefined) {
    const ranAt = run.lastAnswerAt ?? dispatchedAt;
    const times = { dispatchedAt, exitedAt: at, ranAt, cancelAskedAt: cancelAt };
    return { ...shared(run), state: 'collecting', runId, exit, ...times };
  }
  if (withoutOutcomeMs < maxWithoutOutcomeMs) {
    const unknown = status === 'RUNNING' || status === 'EXITED' ? undefined : status;
    return { ...run, lastAnswerAt: at, trouble: undefined, retryAt: undefined, status: unknown };
  }
  return cancelAt === undefined
    ? { ...toFailed(run, { kind: 'noResult' }, at), runId, dispatchedAt }
    : { ...toCancelled(run, at), runId, dispatchedAt, exitedAt: at, noticeDue: true };
}

function stepFailed(run: Run, { failure, retryAt, at }: EventOf<'stepFailed'>): Run {
  if (!isLive(run)) return retryAt === undefined ? run : { ...run, retryAt };
  const { firstSeen = at, deniedSince = deniesRun(failure) ? at : undefined } = run.trouble ?? {};
  const trouble = { ...failure, firstSeen, deniedSince };
  const isSame = JSON.stringify([trouble, retryAt]) === JSON.stringify([run.trouble, run.retryAt]);
  return isSame ? run : { ...run, trouble, retryAt };
}

function collected(run: RunIn<'collecting'>, at: number): Run {
  const { runId, dispatchedAt, exit, exitedAt, ranAt, artifacts = [] } = run;
  const times = { dispatchedAt, exitedAt, ranAt, endedAt: at };
  const end = { ...shared(run), ...times, runId, exit, artifacts, noticeDue: true };
  if (exit.kind === 'SUCCESS') return { ...end, state: 'succeeded' };
  return { ...end, state: run.cancelAskedAt === undefined ? 'aborted' : 'cancelled' };
}

function unwatched(run: LiveRun, at: number): Run {
  if (!mayStopWatching(run, at)) return run;
  const { runId, dispatchedAt } = run;
  const failure: Failure = { kind: 'unanswered' };
  if (run.state !== 'collecting')
    return { ...toFailed(run, failure, at), runId, dispatchedAt, noticeDue: false };
  const artifacts = run.exit.artifacts.map((name) => keptOrFailed(run, name, failure));
  return { ...collected({ ...run, artifacts }, at), noticeDue: false, lacksRecord: true };
}

/**
 * A refusal undoes only the cancellation that it answers: an earlier cancellation may have been
 * accepted.
 */
function cancelSent(run: Run, { sentAt, answer, at }: EventOf<'cancelSent'>): Run {
  if (run.state === 'collecting' && answer === 'refused' && run.cancelAskedAt === sentAt)
    return { ...run, cancelAskedAt: undefined };
  if (run.state !== 'running') return run;
  const { cancelSentAt, ...running } = run;
  if (answer === 'accepted') return { ...running, state: 'cancelling', cancelAskedAt: at };
  if (answer === 'refused') return cancelSentAt === sentAt ? running : run;
  return cancelSentAt === undefined ? { ...run, cancelSentAt: sentAt } : run;
}

function renamed(run: Run, label: string): Run {
  return label === (run.label ?? '') ? run : { ...run, label: label === '' ? undefined : label };
}

/** Replaces the artifact of the same name, except that a failure never replaces a file. */
function withArtifact(run: RunIn<'collecting'>, artifact: Artifact): Run {
  const { name, failure } = artifact;
  const others = run.artifacts?.filter((each) => each.name !== name) ?? [];
  const kept = failure === undefined ? artifact : keptOrFailed(run, name, failure);
  return { ...run, artifacts: [...others, kept] };
}

function toCancelled(run: Run, at: number): RunIn<'cancelled'> {
  return { ...shared(run), state: 'cancelled', endedAt: at };
}

function toFailed(run: Run, failure: Failure, at: number): RunIn<'failed'> {
  return { ...shared(run), state: 'failed', failure, endedAt: at, noticeDue: true };
}

function withTarget(run: Run, index: number, change: Partial<Target>): Run {
  return {
    ...run,
    targets: run.targets.map((target, at) => (at === index ? { ...target, ...change } : target)),
  };
}

function withUpload(run: Run, index: number, state: UploadState, at: number): Run {
  const upload = run.targets[index]?.upload;
  return withTarget(run, index, upload === undefined ? {} : { upload: { ...upload, state, at } });
}

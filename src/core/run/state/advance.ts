import type { Description } from '../../api/schema.ts';
import {
  type Artifact,
  deniesRun,
  type Failure,
  isFinal,
  isLive,
  isPreparing,
  mayBeInVain,
  type Run,
  type RunIn,
  shared,
  type Target,
  type Trouble,
  type UploadState,
} from './run.ts';
import { isRetentionNoticeDue } from './deadlines.ts';
import { answered, collected, toFailed, unwatched } from './runEnd.ts';

/** What can happen to a run; `at` is wall-clock milliseconds. */
export type RunEvent = { readonly at: number } & (
  | { readonly type: 'archived'; readonly target: number; readonly archive: NonNullable<Target['archive']> }
  | { readonly type: 'packaged' }
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
  | { readonly type: 'dispatchStopped' }
  | { readonly type: 'dispatchLost'; readonly reason: Failure }
  | { readonly type: 'answered'; readonly description: Description }
  | {
      readonly type: 'askFailed';
      readonly failure: Failure;
      readonly retryAfterMs: number;
      /** Waking time since the last look. */
      readonly wakingMs: number;
    }
  | { readonly type: 'cancelAsked' }
  | { readonly type: 'cancelSent' }
  | { readonly type: 'cancelRefused'; readonly sentAt: number }
  | { readonly type: 'artifactKept'; readonly artifact: Artifact }
  | { readonly type: 'collected'; readonly artifacts: readonly Artifact[] }
  | { readonly type: 'failed'; readonly failure: Failure }
  | { readonly type: 'abandoned' }
  | { readonly type: 'released'; readonly target: number; readonly state: 'cancelled' | 'deleted' }
  | { readonly type: 'foundConfirmed'; readonly target: number }
  | { readonly type: 'releaseDelayed'; readonly retryAfterMs: number }
  | { readonly type: 'noticed' }
  | { readonly type: 'unwatched'; readonly by: 'person' | 'time' }
  | { readonly type: 'recollected'; readonly artifacts: readonly Artifact[] }
  | { readonly type: 'retentionNoticed' }
  | { readonly type: 'renamed'; readonly label: string }
);

/** The next state of a run. Pure; an event that does not belong to the state, or comes after a final state, changes nothing (but what became of the upload and when more may, of the artifacts here and of the notices, and a person's name for the run, is always noted). */
export function advance(run: Run, event: RunEvent): Run {
  switch (event.type) {
    case 'archived':
      return run.state === 'packaging'
        ? withTarget(run, event.target, (target) => ({ ...target, archive: event.archive }))
        : run;
    case 'packaged':
      return run.state === 'packaging' ? { ...run, state: 'uploading', packagedAt: event.at } : run;
    case 'reserved':
      return run.state === 'uploading'
        ? withTarget(run, event.target, (target) => ({ ...target, upload: toReserved(event) }))
        : run;
    case 'uploaded':
      return run.state === 'uploading' ? { ...run, state: 'confirming', uploadedAt: event.at } : run;
    case 'confirmed':
      return run.state === 'confirming' ? withUpload(run, event.target, 'confirmed', event.at) : run;
    case 'dispatchIntended':
      return intendDispatch(run, event.at);
    case 'dispatched':
      return dispatched(run, event.runId, event.at);
    case 'runIdGiven':
      // While a dispatch is sent again, the run that it starts is the one to watch.
      return run.state === 'unknown' ? dispatched(run, event.runId, event.at) : run;
    case 'dispatchLost':
      return run.state === 'dispatching'
        ? { ...shared(run), state: 'unknown', intendedAt: run.intendedAt, reason: event.reason }
        : run;
    case 'dispatchStopped':
      if (run.state !== 'dispatching') return run;
      return run.resendOf === undefined
        ? { ...shared(run), state: 'cancelled', endedAt: event.at }
        : { ...shared(run), state: 'unknown', ...run.resendOf };
    case 'answered':
      return run.state === 'running' || run.state === 'cancelling'
        ? answered(run, event.description, event.at)
        : run;
    case 'askFailed':
      return isLive(run) ? { ...run, trouble: worsened(run.trouble, event) } : run;
    case 'cancelAsked':
      return run.state === 'running' ? toCancelling(run, event.at) : run;
    case 'cancelSent':
      return run.state === 'running' && run.cancelSentAt === undefined
        ? { ...run, cancelSentAt: event.at }
        : run;
    case 'cancelRefused':
      return cancelRefused(run, event.sentAt);
    case 'artifactKept':
      return run.state === 'collecting'
        ? { ...run, artifacts: [...(run.artifacts ?? []), event.artifact] }
        : run;
    case 'collected':
      return run.state === 'collecting' ? collected(run, event.artifacts, event.at) : run;
    case 'failed':
      return failed(run, event.failure, event.at);
    case 'abandoned':
      return isPreparing(run) || run.state === 'unknown'
        ? { ...shared(run), state: 'cancelled', endedAt: event.at }
        : run;
    case 'released':
      return withUpload(run, event.target, event.state, event.at);
    case 'foundConfirmed':
      return withTarget(run, event.target, (target) =>
        target.upload?.state === 'confirmed'
          ? { ...target, upload: { ...target.upload, isSure: true } }
          : target,
      );
    case 'releaseDelayed':
      return { ...run, releaseNotBefore: event.at + event.retryAfterMs };
    case 'noticed':
      return run.noticeDue ? { ...run, noticeDue: false } : run;
    case 'unwatched':
      return unwatched(run, event.by, event.at);
    case 'recollected':
      return isFinal(run) && 'exit' in run && run.exit !== undefined
        ? { ...run, artifacts: [...event.artifacts] }
        : run;
    case 'retentionNoticed':
      return isRetentionNoticeDue(run, event.at) ? { ...run, retentionNoticedAt: event.at } : run;
    case 'renamed':
      return renamed(run, event.label.trim());
  }
}

function intendDispatch(run: Run, at: number): Run {
  if (run.state === 'confirming') {
    const confirmed = run.targets.every((target) => target.upload?.state === 'confirmed');
    return confirmed ? { ...run, state: 'dispatching', confirmedAt: at, intendedAt: at } : run;
  }
  if (run.state !== 'unknown') return run;
  const { intendedAt, reason } = run;
  return { ...shared(run), state: 'dispatching', intendedAt: at, resendOf: { intendedAt, reason } };
}

/** Once the service may have a run, no failure on this side ends it. */
function failed(run: Run, failure: Failure, at: number): Run {
  if (run.state === 'dispatching' && run.resendOf !== undefined)
    return { ...shared(run), state: 'unknown', ...run.resendOf, refusal: failure };
  return isPreparing(run) || run.state === 'dispatching' ? toFailed(run, failure, at) : run;
}

/** The reply to the dispatch, which may come late, or the run ID that a person found for a lost one. */
function dispatched(run: Run, runId: string, at: number): Run {
  if (run.state !== 'dispatching' && run.state !== 'unknown') return run;
  const dispatchedAt = run.state === 'unknown' ? run.intendedAt : at;
  return { ...shared(run), state: 'running', runId, dispatchedAt, bareExits: 0 };
}

function toCancelling(run: RunIn<'running'>, at: number): RunIn<'cancelling'> {
  return { ...withoutCancel(run), state: 'cancelling', cancelAskedAt: at };
}

function withoutCancel<R extends RunIn<'running' | 'collecting'>>(run: R): R {
  const next = { ...run };
  if (next.state === 'running') delete next.cancelSentAt;
  else delete next.cancelAskedAt;
  return next;
}

/** A cancellation that was refused; one sent before it, whose answer was lost, may have been taken all the same. */
function cancelRefused(run: Run, sentAt: number): Run {
  if (run.state === 'running') return run.cancelSentAt === sentAt ? withoutCancel(run) : run;
  // It ended by itself while the cancellation was under way.
  return run.state === 'collecting' && run.cancelAskedAt === sentAt ? withoutCancel(run) : run;
}

function renamed(run: Run, label: string): Run {
  if (label === (run.label ?? '')) return run;
  const next = { ...run, label };
  if (label === '') delete (next as { label?: string }).label;
  return next;
}

function worsened(
  previous: Trouble | undefined,
  event: { failure: Failure; retryAfterMs: number; wakingMs: number; at: number },
): Trouble {
  const { failure, retryAfterMs, at } = event;
  const wait = retryAfterMs > 0 ? { notBefore: at + retryAfterMs } : {};
  const deniedSince = previous?.deniedSince ?? (deniesRun(failure) ? at : undefined);
  const denied = deniedSince === undefined ? {} : { deniedSince };
  const timesBefore = previous?.kind === failure.kind ? previous.times : 0;
  const { since = at, vainLooks = 0, wakingMs = 0 } = previous ?? {};
  const vain = mayBeInVain(failure)
    ? { vainLooks: vainLooks + 1, wakingMs: wakingMs + event.wakingMs }
    : { vainLooks, wakingMs };
  return { ...failure, ...wait, ...denied, since, times: timesBefore + 1, ...vain };
}

function withTarget<R extends Run>(run: R, index: number, change: (target: Target) => Target): R {
  return { ...run, targets: run.targets.map((target, at) => (at === index ? change(target) : target)) };
}

function toReserved({ fileId, host, at }: Extract<RunEvent, { type: 'reserved' }>): Target['upload'] {
  return { fileId, state: 'reserved', at, ...(host === undefined ? {} : { host }) };
}

/** What became of a file that was reserved. */
function withUpload<R extends Run>(run: R, index: number, state: UploadState, at: number): R {
  return withTarget(run, index, (target) => {
    if (target.upload === undefined) return target;
    const upload = { ...target.upload, state, at };
    delete upload.isSure;
    return { ...target, upload };
  });
}

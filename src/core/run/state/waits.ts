import type { Clock } from '../../ports.ts';
import type { EventOf } from './event.ts';
import { type Failure, isLive, type LiveRun, type Run, type Trouble, type Wait } from './run.ts';

const minPollMs = 15_000;
const maxPollMs = 10 * 60_000;
const maxBackoffMs = 15 * 60_000;
/** With 10 %, a run could be polled more than 240 times in its first day. */
const maxJitter = 0.08;

/** The wait of a step that another token makes due. A person may try without one. */
export const untilTokenChanges: Wait = { at: 0, ms: Infinity, firmMs: 0 };

/** Before the next poll: 5 % of a run's age, at most 10 min, minus up to 8 % jitter (0 to 1), at least 15 s. */
export function pollWait(at: number, ageMs: number, jitter: number): Wait {
  const interval = Math.min(ageMs * 0.05, maxPollMs);
  return { at, ms: Math.max(interval * (1 - maxJitter * jitter), minPollMs), firmMs: 0 };
}

/** After failures in a row: `Retry-After`, and full jitter (0 to 1) from 1 s up to a ceiling that doubles to 15 min. */
export function backoffWait(at: number, failures: number, retryAfterMs: number, jitter: number): Wait {
  const ceiling = Math.min(maxBackoffMs, minPollMs * 2 ** Math.min(failures, 10));
  return { at, ms: retryAfterMs + 1_000 + jitter * (ceiling - 1_000), firmMs: retryAfterMs };
}

/**
 * After the `changes`th change of the token since the last success: none at first, then longer. A token command may
 * print a new token at every try.
 */
export function tokenWait(at: number, changes: number, jitter: number): Wait {
  return changes <= 1 ? { at, ms: 0, firmMs: 0 } : backoffWait(at, changes, 0, jitter);
}

/**
 * True once a wait has passed by the wall clock, or by the monotonic clock since this window first saw it: a wrong wall
 * clock cannot extend it. Of a wait that is cut short, only the firm part counts.
 */
export function isOver(wait: Wait, firstSeenMs: number, clock: Clock, isCutShort: boolean): boolean {
  const ms = isCutShort ? wait.firmMs : wait.ms;
  return clock.now() >= wait.at + ms || clock.monotonic() - firstSeenMs >= ms;
}

type Failed = EventOf<'pollFailed' | 'removalFailed'> & { readonly isExtra?: boolean };

export function pollFailed(run: LiveRun, event: Failed): Run {
  const trouble = worsened(run.trouble, event);
  if (event.isExtra === true && event.retryAfterMs === 0 && run.check !== undefined)
    return { ...run, trouble };
  return { ...run, trouble, check: waitAfter(trouble, event) };
}

/** Undefined for a failure that waits for another token. */
function waitAfter(
  { kind, failures }: Pick<Trouble, 'kind' | 'failures'>,
  { retryAfterMs, jitter, at }: Failed,
): Wait | undefined {
  return waitsForToken({ kind }) ? undefined : backoffWait(at, Math.max(failures, 1), retryAfterMs, jitter);
}

function worsened(previous: Trouble | undefined, { failure, isExtra = false, at }: Failed): Trouble {
  const timesBefore = previous?.kind === failure.kind ? previous.times : 0;
  const { since = at, failures = 0, tokens = 0 } = previous ?? {};
  return {
    ...failure,
    since,
    deniedSince: previous?.deniedSince ?? (deniesRun(failure) ? at : undefined),
    times: isExtra ? Math.max(timesBefore, 1) : timesBefore + 1,
    failures: isExtra ? failures : failures + 1,
    tokens,
  };
}

export function removalFailed(run: Run, event: Failed): Run {
  const failures = (run.removal?.failures ?? 0) + 1;
  const wait = waitAfter({ ...event.failure, failures }, event);
  return { ...run, removal: { ...event.failure, failures, tokens: run.removal?.tokens ?? 0, wait } };
}

/** For a run that waits for a token, or whose uploads do. */
export function tokenChanged(run: Run, { isNewSource, jitter, at }: EventOf<'tokenChanged'>): Run {
  const next = (before: { tokens: number }, wait: Wait | undefined) => {
    const tokens = isNewSource ? 0 : before.tokens + 1;
    const again = tokenWait(at, tokens, jitter);
    // A change during the wait after an earlier one does not extend the wait.
    return { tokens, wait: again.ms === 0 || wait === undefined ? again : wait };
  };
  if (!mayNeedOtherToken(run)) return run;
  if (isLive(run) && run.trouble !== undefined) {
    const { tokens, wait } = next(run.trouble, run.check);
    return { ...run, trouble: { ...run.trouble, tokens }, check: wait };
  }
  const { removal } = run;
  return removal === undefined ? run : { ...run, removal: { ...removal, ...next(removal, removal.wait) } };
}

/** True for a run whose polls, or whose removal of uploads, another token or token command may help, or a late answer of the secret storage. */
export function mayNeedOtherToken(run: Run): boolean {
  const failure = isLive(run) ? run.trouble : run.removal;
  if (failure === undefined) return false;
  return waitsForToken(failure) || failure.kind === 'tokenCommand' || failure.kind === 'secretStorage';
}

/** True for a lost dispatch, and for a token that does not work. */
export function needsPerson(run: Run): boolean {
  if (!isLive(run)) return run.state === 'unknown';
  // After a failed token command the run is still polled: the command may work next time.
  return run.trouble !== undefined && (waitsForToken(run.trouble) || run.trouble.kind === 'tokenCommand');
}

/** True for a live run that is polled only after its token has changed. */
export function needsToken(run: Run): boolean {
  return isLive(run) && run.trouble !== undefined && waitsForToken(run.trouble);
}

export function waitsForToken({ kind }: Pick<Failure, 'kind'>): boolean {
  return kind === 'unauthorized' || kind === 'notSignedIn';
}

/** True when the service says that it does not know the run, or may not show it. */
export function deniesRun({ kind }: Pick<Failure, 'kind'>): boolean {
  return kind === 'notFound' || kind === 'forbidden';
}

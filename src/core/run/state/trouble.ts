import type { EventOf } from './event.ts';
import { type Failure, isLive, type LiveRun, type Run, type Trouble } from './run.ts';
import { backoffWait, tokenWait, type Wait } from './waits.ts';

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

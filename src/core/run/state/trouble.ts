import { dayMs, type Failure, isLive, type LiveRun, retentionMs, type Run } from './run.ts';

const calmMs = 10 * 60 * 1000;

/** True while no request leaves this machine. */
export function isOffline(run: Run): boolean {
  return isLive(run) && run.trouble?.kind === 'unsent';
}

export function lastGoodAnswerAt(run: LiveRun): number {
  return run.state === 'collecting' ? run.exitedAt : (run.lastAnswerAt ?? run.dispatchedAt);
}

/**
 * True when a person may stop watching a run. For a day: the service has denied the run, its cancellation has not ended
 * it, or its results are not all here after its exit. Or polls have failed for longer than the service keeps results.
 */
export function mayStopWatching(run: Run, now: number): boolean {
  if (!isLive(run)) return false;
  const { trouble } = run;
  if (trouble !== undefined && now - lastGoodAnswerAt(run) >= retentionMs) return true;
  if (run.state === 'collecting') return now - run.exitedAt >= dayMs;
  if (run.state === 'cancelling' && now - run.cancelAskedAt >= dayMs) return true;
  return trouble !== undefined && deniesRun(trouble) && now - (trouble.deniedSince ?? now) >= dayMs;
}

export function needsDecision(run: Run, now: number): boolean {
  return needsPerson(run) || mayStopWatching(run, now);
}

/** True if a person is needed, or polls have failed for 10 minutes: shorter trouble mostly ends by itself. */
export function isTroubleWarning(run: Run, now: number): boolean {
  const since = isLive(run) ? run.trouble?.since : undefined;
  return needsDecision(run, now) || (since !== undefined && now - since >= calmMs);
}

/** True for a lost dispatch, and for a token that does not work. */
export function needsPerson(run: Run): boolean {
  if (!isLive(run)) return run.state === 'unknown';
  // After a failed token command the run is still polled: the command may work next time.
  return run.trouble !== undefined && (waitsForToken(run.trouble) || run.trouble.kind === 'tokenCommand');
}

/** True for a live run whose user has to sign in. */
export function needsToken(run: Run): boolean {
  return isLive(run) && run.trouble !== undefined && waitsForToken(run.trouble);
}

export function waitsForToken({ kind }: Pick<Failure, 'kind'>): boolean {
  return kind === 'unauthorized' || kind === 'notSignedIn';
}

/** True for no token, and one that the service refuses, also where the token command prints it again. */
export function lacksToken({ kind, detail }: Pick<Failure, 'kind' | 'detail'>): boolean {
  return waitsForToken({ kind }) || (kind === 'tokenCommand' && detail === 'sameToken');
}

/** True when the service says that it does not know the run, or may not show it. */
export function deniesRun({ kind }: Pick<Failure, 'kind'>): boolean {
  return kind === 'notFound' || kind === 'forbidden';
}

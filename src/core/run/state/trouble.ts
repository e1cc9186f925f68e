import { dayMs, type Failure, isLive, type LiveRun, retentionMs, type Run } from './run.ts';

const calmMs = 10 * 60 * 1000;

export function isOffline(run: Run): boolean {
  return isLive(run) && run.trouble?.kind === 'unsent';
}

export function lastGoodAnswerAt(run: LiveRun): number {
  return run.state === 'collecting' ? run.exitedAt : (run.lastAnswerAt ?? run.dispatchedAt);
}

/**
 * True if, for a day, the service has denied the run, a cancellation hasn't ended it, or the run
 * has been `collecting`. Also true if checks fail and the last good response is `retentionMs` old.
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
  return needsUser(run) || mayStopWatching(run, now);
}

export function isTroubleWarning(run: Run, now: number): boolean {
  const firstSeen = isLive(run) ? run.trouble?.firstSeen : undefined;
  return needsDecision(run, now) || (firstSeen !== undefined && now - firstSeen >= calmMs);
}

export function needsUser(run: Run): boolean {
  if (!isLive(run)) return run.state === 'unknown';
  // A failed token command is retried, but a user may have to fix it.
  return run.trouble !== undefined && (waitsForToken(run.trouble) || run.trouble.kind === 'tokenCommand');
}

export function needsToken(run: Run): boolean {
  return isLive(run) && run.trouble !== undefined && waitsForToken(run.trouble);
}

export function waitsForToken({ kind }: Pick<Failure, 'kind'>): boolean {
  return kind === 'unauthorized' || kind === 'notSignedIn';
}

/** Also true if the token command prints the refused token again. */
export function lacksToken({ kind, detail }: Pick<Failure, 'kind' | 'detail'>): boolean {
  return waitsForToken({ kind }) || (kind === 'tokenCommand' && detail === 'sameToken');
}

export function deniesRun({ kind }: Pick<Failure, 'kind'>): boolean {
  return kind === 'notFound' || kind === 'forbidden';
}

import { deniesRun, isFinal, isLive, mayBeInVain, needsPerson, type Run, type RunIn } from './run.ts';
import { leastWakingMs } from '../finish/wakingTime.ts';

const dayMs = 24 * 60 * 60 * 1000;
/** The service keeps results for at least so long after the exit (API reference, section 8). */
const retentionMs = 30 * dayMs;
/** So many looks in vain come before a run is given up. */
const leastVainLooks = 48;
/** So long before the results may go, a person is told that they are not here. */
const warnedBeforeMs = 5 * dayMs;

/** True while the service cannot be reached at all: no request has left this machine since. */
export function isOffline(run: Run): boolean {
  return isLive(run) && run.trouble?.kind === 'unsent';
}

/** When the service last said something of a live run, in wall-clock milliseconds. */
export function lastGoodAnswerAt(run: RunIn<'running' | 'cancelling' | 'collecting'>): number {
  return run.state === 'collecting' ? run.exitedAt : (run.lastAnswerAt ?? run.dispatchedAt);
}

/** True once a run has been refused or unknown to the service for a day, has not ended within a day of its cancellation, has results that are not all here a day after its end was seen, or waits for a token or the network while the service need not know it any more: a person may want to let it go. */
export function mayStopWatching(run: Run, now: number): boolean {
  if (!isLive(run)) return false;
  const { trouble } = run;
  if ((needsPerson(run) || isOffline(run)) && isPastWatching(run, now)) return true;
  if (run.state === 'collecting') return now - run.exitedAt >= dayMs;
  if (run.state === 'cancelling' && now - run.cancelAskedAt >= dayMs) return true;
  return trouble !== undefined && deniesRun(trouble) && now - (trouble.deniedSince ?? now) >= dayMs;
}

/** True when a run waits for a person, or when they may want to let it go. */
export function needsDecision(run: Run, now: number): boolean {
  return needsPerson(run) || mayStopWatching(run, now);
}

/** True when a live run has had no good answer for thirty days, after which the service need not know it any more. */
export function isPastWatching(run: Run, now: number): boolean {
  return isLive(run) && now - lastGoodAnswerAt(run) >= retentionMs;
}

/** True for such a run that was asked about in vain often, and for long, by a clock that nobody sets: the service may have kept the results for longer than it need. One that waits for a person or for the network is kept. */
export function isGivenUp(run: Run, now: number): boolean {
  if (!isLive(run) || run.trouble === undefined || !isPastWatching(run, now)) return false;
  const { vainLooks, wakingMs } = run.trouble;
  return mayBeInVain(run.trouble) && vainLooks >= leastVainLooks && wakingMs >= leastWakingMs;
}

/** Until when the service keeps a run's results at least, in wall-clock milliseconds, counted from when it surely had not ended; undefined for a run that has none there. */
export function resultsKeptUntil(run: Run): number | undefined {
  if (run.state === 'running' || run.state === 'cancelling') return lastGoodAnswerAt(run) + retentionMs;
  return 'exit' in run && run.exit !== undefined && run.exitedAt !== undefined
    ? (run.ranAt ?? run.exitedAt) + retentionMs
    : undefined;
}

/** True in the last days in which the service surely has a run's results. */
export function isNearRetentionEnd(run: Run, now: number): boolean {
  const until = resultsKeptUntil(run);
  return until !== undefined && now < until && until - now <= warnedBeforeMs;
}

/** True in those days, before a person was told of them: what a wrong clock, or a run that went on, had told before does not count. */
export function isRetentionNoticeDue(run: Run, now: number): boolean {
  if (!isNearRetentionEnd(run, now)) return false;
  const told = run.retentionNoticedAt;
  return told === undefined || told > now || !isNearRetentionEnd(run, told);
}

/** True for an ended run that a person needs no more after so many days: told, and with nothing left on the service. */
export function isOutlived(run: Run, retainLocalDays: number, now: number): boolean {
  if (!isFinal(run) || run.noticeDue) return false;
  const left = run.targets.some(
    ({ upload }) => upload?.state === 'reserved' || upload?.state === 'confirmed',
  );
  // The service's own retention has taken what was left by then.
  const days = left ? Math.max(retainLocalDays, retentionMs / dayMs) : retainLocalDays;
  return now - run.endedAt > days * dayMs;
}

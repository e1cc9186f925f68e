import { isFinal, isLive, type LiveRun, type Run } from './run.ts';
import { deniesRun, needsPerson } from './waits.ts';

export const dayMs = 24 * 60 * 60 * 1000;
/** The service keeps results, and files that nobody removes, at least this long (docs/api.md, section 8). */
export const retentionMs = 30 * dayMs;
/** Of the local archives, which are source code. */
export const maxArchiveAgeMs = 7 * dayMs;
const calmMs = 10 * 60 * 1000;
/** How long before the service may delete missing results the notice comes. */
const warnBeforeMs = 5 * dayMs;

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

/** Until when (wall clock, ms) the service keeps a run's results: 30 days after it was last seen running; undefined without results. */
export function resultsKeptUntil(run: Run): number | undefined {
  if (run.state === 'running' || run.state === 'cancelling') return lastGoodAnswerAt(run) + retentionMs;
  return 'exit' in run && run.exit !== undefined && run.exitedAt !== undefined
    ? (run.ranAt ?? run.exitedAt) + retentionMs
    : undefined;
}

export function isNearRetentionEnd(run: Run, now: number): boolean {
  const until = resultsKeptUntil(run);
  return until !== undefined && now < until && until - now <= warnBeforeMs;
}

/** A notice under a wrong clock, or before the run went on, does not count. */
export function isRetentionNoticeDue(run: Run, now: number): boolean {
  if (!isNearRetentionEnd(run, now)) return false;
  const notifiedAt = run.retentionNoticedAt;
  return notifiedAt === undefined || notifiedAt > now || !isNearRetentionEnd(run, notifiedAt);
}

/** True for an ended run whose end was shown. A run that may have files on the service is kept until the service has removed them itself. */
export function isPastLocalRetention(run: Run, retainLocalDays: number, now: number): boolean {
  if (!isFinal(run) || run.noticeDue) return false;
  const hasUploads = run.targets.some(
    ({ upload }) => upload?.state === 'reserved' || upload?.state === 'confirmed',
  );
  const days = hasUploads ? Math.max(retainLocalDays, retentionMs / dayMs) : retainLocalDays;
  return now - run.endedAt > days * dayMs;
}

import { maxRetryAfterMs } from '../../api/retry.ts';
import { isLive, type Run } from './run.ts';

const minPollMs = 15_000;
const maxPollMs = 10 * 60_000;
const maxBackoffMs = 15 * 60_000;
/** With 10 %, a run could be polled more than 240 times in its first day. */
const maxJitter = 0.08;
const firstPauseMs = 5_000;
const maxPauseMs = 5 * 60_000;

/** Between polls: 5 % of a run's age, at most 10 min, minus up to 8 % jitter (0 to 1), at least 15 s. */
export function pollInterval(ageMs: number, jitter: number): number {
  return Math.max(Math.min(ageMs * 0.05, maxPollMs) * (1 - maxJitter * jitter), minPollMs);
}

/** After failures of the service in a row: full jitter (0 to 1) from 1 s up to a ceiling that doubles to 15 min. */
export function backoff(failures: number, jitter: number): number {
  const ceiling = Math.min(maxBackoffMs, minPollMs * 2 ** Math.min(failures, 10));
  return 1_000 + jitter * (ceiling - 1_000);
}

/** After local failures in a row, such as writes on a full disk. */
export function pause(failures: number): number {
  return Math.min(firstPauseMs * 2 ** Math.min(failures - 1, 10), maxPauseMs);
}

/** After so many answers in a row that say EXITED without saying how: five of them take the half hour in which a better one may come. */
export function emptyExitDelay(answers: number): number {
  return Math.min(60_000 * 2 ** Math.min(answers - 1, 10), maxBackoffMs);
}

/** Before a poll for one more changed token since the last good answer: a token command may print a new token at every try. */
export function tokenGap(changes: number): number {
  return changes <= 1 ? 0 : Math.min(60_000 * 2 ** Math.min(changes - 2, 10), maxBackoffMs);
}

/** Milliseconds left of what a `Retry-After` asked for. What is longer than any was saved under a wrong clock. */
export function retryAfterMs({ retryAt }: Pick<Run, 'retryAt'>, now: number): number {
  const left = (retryAt ?? 0) - now;
  return left > 0 && left <= maxRetryAfterMs ? left : 0;
}

/** When another window is to poll a run, as far as its journal tells (wall clock, ms). */
export function expectedCheckAt(run: Run): number | undefined {
  if (!isLive(run) || run.state === 'collecting' || run.trouble !== undefined) return undefined;
  const lastAt = run.lastAnswerAt ?? run.dispatchedAt;
  return lastAt + pollInterval(lastAt - run.dispatchedAt, 0);
}

/** At a take-over, milliseconds until the first poll: the holder before may just have polled. */
export function takeOverDelay(run: Run, now: number): number {
  if (!isLive(run) || run.state === 'collecting') return 0;
  const sinceMs = now - Math.max(run.lastAnswerAt ?? run.dispatchedAt, run.trouble?.since ?? 0);
  return sinceMs < 0 ? 0 : Math.max(0, minPollMs - sinceMs);
}

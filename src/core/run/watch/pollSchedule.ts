const shortestMs = 15_000;
const longestMs = 10 * 60_000;
const longestBackoffMs = 15 * 60_000;

/** With 10 %, the most unlucky run would be asked about more than 240 times in its first day. */
const mostJitter = 0.08;

/** Milliseconds until a run of this age is asked about again: 5 % of its age, at most 10 min, minus up to 8 % jitter (`random` in 0..1), at least 15 s. */
export function pollIntervalMs(ageMs: number, random: number): number {
  const interval = Math.min(ageMs * 0.05, longestMs);
  return Math.max(interval * (1 - mostJitter * random), shortestMs);
}

/** Milliseconds until the next try after `times` failures in a row: full jitter from 1 s to 15 min, never earlier than the service asked for. */
export function backoffMs(times: number, retryAfterMs: number, random: number): number {
  const ceiling = Math.min(longestBackoffMs, shortestMs * 2 ** Math.min(times, 10));
  return retryAfterMs + 1_000 + random * (ceiling - 1_000);
}

const minPollMs = 15_000;
const maxPollMs = 10 * 60_000;
const maxBackoffMs = 15 * 60_000;
/** With 10 %, a run could be polled more than 240 times in its first day. */
const maxJitter = 0.08;

/** 5 % of a run's age, at most 10 min, minus up to 8 % jitter (`random` in 0..1), at least 15 s. */
export function pollIntervalMs(ageMs: number, random: number): number {
  const interval = Math.min(ageMs * 0.05, maxPollMs);
  return Math.max(interval * (1 - maxJitter * random), minPollMs);
}

/** The wait after `times` failures in a row: `Retry-After`, and full jitter from 1 s up to a ceiling that doubles to 15 min. */
export function backoffMs(times: number, retryAfterMs: number, random: number): number {
  const ceiling = Math.min(maxBackoffMs, minPollMs * 2 ** Math.min(times, 10));
  return retryAfterMs + 1_000 + random * (ceiling - 1_000);
}

/** The wait after the `changes`th change of the token since the last success: 0 at first, then longer. A token command may print a new token at every try. */
export function tokenRetryMs(changes: number, random: number): number {
  return changes <= 1 ? 0 : backoffMs(changes, 0, random);
}

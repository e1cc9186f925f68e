import * as z from 'zod/mini';
import type { Clock } from '../../ports.ts';
import { looseObject } from '../../workflows/application.ts';

const minPollMs = 15_000;
const maxPollMs = 10 * 60_000;
const maxBackoffMs = 15 * 60_000;
/** With 10 %, a run could be polled more than 240 times in its first day. */
const maxJitter = 0.08;

/** A wait of `ms` from `at` on. Nothing shortens its first `firmMs`, for which the service has asked. */
export const waitSchema = looseObject({ at: z.number(), ms: z.number(), firmMs: z.number() });
export type Wait = z.infer<typeof waitSchema>;

/** The wait of a step that only an event makes due: the person's agreement. */
export const untilAgreed: Wait = { at: 0, ms: Infinity, firmMs: Infinity };

/** As `untilAgreed`, for another token. A person may try without one. */
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

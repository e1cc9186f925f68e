import { AssessmentError } from '../errors.ts';
import type { Clock, Logger } from '../ports.ts';

export interface RetryPolicy {
  readonly attempts: number;
  readonly mayRetry: (error: AssessmentError) => boolean;
  /** A cancellation counts only before and between attempts. */
  readonly isNeverAborted?: boolean;
}

export const idempotent: RetryPolicy = { attempts: 4, mayRetry: isTransient };

/** A retry may duplicate the call, but a duplicate only reserves more storage. */
export const reserving: RetryPolicy = { attempts: 3, mayRetry: isTransient };

export const noRetry: RetryPolicy = { attempts: 1, mayRetry: () => false };

const firstDelayMs = 1_000;
const maxDelayMs = 15_000;
/** A user may wait for the call, so a longer `Retry-After` is left to the caller. */
const maxWaitMs = 120_000;

export async function withRetry<T>(
  policy: RetryPolicy,
  attempt: () => Promise<T>,
  deps: { clock: Clock; log: Logger; random: () => number; signal?: AbortSignal | undefined },
): Promise<T> {
  for (let attempts = 1; ; attempts += 1) {
    try {
      return await attempt();
    } catch (error) {
      const isRetryable = error instanceof AssessmentError && policy.mayRetry(error);
      if (!isRetryable || attempts >= policy.attempts) throw error;
      const asked = error.data.retryAfterMs ?? 0;
      if (asked > maxWaitMs) throw error;
      const jitter = deps.random() * Math.min(maxDelayMs, firstDelayMs * 2 ** (attempts - 1));
      const waitMs = Math.round(asked + jitter);
      deps.log.debug(`${error.message}, again in ${String(waitMs)} ms`);
      await deps.clock.sleep(waitMs, deps.signal);
    }
  }
}

export function isTransient({ kind }: Pick<AssessmentError, 'kind'>): boolean {
  return ['unsent', 'connectionLost', 'timeout', 'intercepted', 'rateLimited', 'serverError'].includes(kind);
}

/** A longer wait is shortened to a day, because the wall clock may be wrong. */
export const maxRetryAfterMs = 24 * 60 * 60 * 1000;

/** Returns milliseconds from `now`, or 0 without a valid header. */
export function parseRetryAfter(header: string | undefined, now: number): number {
  const text = header?.trim() ?? '';
  const ms = /^\d+$/.test(text) ? Number(text) * 1000 : (parseHttpDate(text) ?? now) - now;
  return Math.min(Math.max(ms, 0), maxRetryAfterMs);
}

/** RFC 9110, section 5.6.7. `Date.parse` alone finds a date in almost any text with a number. */
export function parseHttpDate(text: string): number | undefined {
  const isAsctime = /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d{2}:\d{2}:\d{2} \d{4}$/.test(text);
  const isNamed = /^[A-Z][a-z]{2,8}, .*\d{2}:\d{2}:\d{2} GMT$/.test(text);
  const at = isAsctime ? Date.parse(`${text} GMT`) : isNamed ? Date.parse(text) : NaN;
  return Number.isNaN(at) ? undefined : at;
}

import { AssessmentError } from '../errors.ts';
import type { Clock } from '../ports.ts';

/** How often a call may be tried, and after which failures. */
export interface RetryPolicy {
  /** Sends in all. */
  readonly attempts: number;
  readonly mayRetry: (error: AssessmentError) => boolean;
  /** True for a call that a cancellation stops before a send and between two, and does not tear off once it was sent. */
  readonly keepsSent?: boolean;
}

/** For calls that do no harm when they arrive twice. */
export const idempotent: RetryPolicy = { attempts: 4, mayRetry: isPassing };

/** For calls whose second arrival costs storage, not money. */
export const reserving: RetryPolicy = { attempts: 3, mayRetry: isPassing };

/** For one look, when the caller has a schedule of its own. */
export const once: RetryPolicy = { attempts: 1, mayRetry: () => false };

const firstDelayMs = 1_000;
const longestDelayMs = 15_000;
/** A person waits for these calls: a longer wish of the service becomes the error's `retryAfterMs`. */
const longestWaitMs = 120_000;

/** Tries a call until it succeeds or its policy ends, with full jitter and never earlier than `Retry-After` asks. */
export async function withRetry<T>(
  policy: RetryPolicy,
  attempt: () => Promise<T>,
  deps: { clock: Clock; random: () => number; signal?: AbortSignal | undefined },
): Promise<T> {
  for (let attempts = 1; ; attempts += 1) {
    try {
      return await attempt();
    } catch (error) {
      const passing = error instanceof AssessmentError && policy.mayRetry(error);
      if (!passing || attempts >= policy.attempts) throw error;
      const asked = error.data.retryAfterMs ?? 0;
      if (asked > longestWaitMs) throw error;
      const jitter = deps.random() * Math.min(longestDelayMs, firstDelayMs * 2 ** (attempts - 1));
      await deps.clock.sleep(asked + jitter, deps.signal);
    }
  }
}

/** Failures that may be gone in a moment: the network's, 429 and 5xx. */
export function isPassing({ kind }: Pick<AssessmentError, 'kind'>): boolean {
  return ['unsent', 'connectionLost', 'timeout', 'rateLimited', 'serverError'].includes(kind);
}

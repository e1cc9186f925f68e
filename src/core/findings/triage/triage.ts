import * as z from 'zod/mini';
import { clip } from '../../visibleText.ts';

/**
 * A decision refers to a finding in a folder by the finding's name. `book` has what this machine
 * decided and accepted. `triageFiles` reads and extends the book and the shared folder, where
 * decisions of others wait to be accepted. `triageStore` holds the books of folders. `decide` says
 * which decision holds for a finding of a run.
 */

export const TRIAGE_STATES = ['open', 'confirmed', 'falsePositive', 'acceptedRisk', 'fixed'] as const;

export type TriageState = (typeof TRIAGE_STATES)[number];

export interface TriageDecision {
  readonly state: TriageState;
  readonly note: string;
  /** This is in wall-clock milliseconds. */
  readonly at: number;
  /**
   * The last day of an accepted risk is `YYYY-MM-DD` in local time, or an invalid text. It stays
   * when the acceptance has ended.
   */
  readonly until?: string | undefined;
  /** If absent, a user decided. */
  readonly via?: 'agent' | 'tool' | undefined;
}

/** Omits what an entry of a book adds, such as files and runs of this machine. */
export function toDecision({ state, note, at, until, via }: TriageDecision): TriageDecision {
  return { state, note, at, until, via };
}

export const undecided: TriageDecision = { state: 'open', note: '', at: 0 };

export function isUndecided({ state, note, until }: TriageDecision): boolean {
  return state === 'open' && note === '' && until === undefined;
}

export function isAcceptanceEnded({ state, until }: TriageDecision): boolean {
  return state === 'open' && until !== undefined;
}

/** An accepted risk is open if its last day is past or invalid. */
export function asOf<T extends TriageDecision>(decision: T, today: string): T {
  const { until } = decision;
  const hasEnded = until !== undefined && (!isDay(until) || until < today);
  return hasEnded ? { ...decision, state: 'open' } : decision;
}

/** Undoes `asOf`. */
export function asDecided<T extends TriageDecision>(decision: T): T {
  return isAcceptanceEnded(decision) ? { ...decision, state: 'acceptedRisk' } : decision;
}

export function isDay(text: string): boolean {
  return z.iso.date().safeParse(text).success;
}

/** Returns a local day, `YYYY-MM-DD`. */
export function dayAfter(time: number, days = 0): string {
  const date = new Date(time);
  date.setDate(date.getDate() + days);
  const parts = [date.getMonth() + 1, date.getDate()].map((part) => String(part).padStart(2, '0'));
  return [String(date.getFullYear()).padStart(4, '0'), ...parts].join('-');
}

/** Returns 00:00 UTC of the day after the last day. */
export function expiryUtc({ until = '' }: TriageDecision): string | undefined {
  return isDay(until) ? new Date(Date.parse(until) + 86_400_000).toISOString() : undefined;
}

export function isClosed(state: TriageState): boolean {
  return state === 'falsePositive' || state === 'acceptedRisk' || state === 'fixed';
}

export function needsNote(state: TriageState): boolean {
  return state === 'falsePositive' || state === 'acceptedRisk';
}

const maxUntil = 40;

/** Texts are cut, and other values become an invalid day. */
export const untilSchema = z.optional(
  z.pipe(
    z.unknown(),
    z.transform((value: unknown) => (typeof value === 'string' ? clip(value, maxUntil) : '')),
  ),
);

export const viaSchema = z.catch(z.optional(z.literal('agent')), undefined);

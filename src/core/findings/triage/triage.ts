import * as z from 'zod/mini';
import { clip } from '../../visibleText.ts';

/*
 * A decision is about the name of a finding in a folder. `book` is what this machine has decided
 * and accepted; `triageDisk` reads and adds to it, and to the shared folder, whose decisions of
 * others are an inbox; `triageStore` has the books of all folders; `decide` says what holds for a
 * finding of a run.
 */

export const TRIAGE_STATES = ['open', 'confirmed', 'falsePositive', 'acceptedRisk', 'fixed'] as const;

export type TriageState = (typeof TRIAGE_STATES)[number];

export interface TriageDecision {
  readonly state: TriageState;
  readonly note: string;
  /** Wall-clock milliseconds. */
  readonly at: number;
  /**
   * Last day of an accepted risk, `YYYY-MM-DD` in local time, or an invalid text. Kept after the
   * end, when the finding is open.
   */
  readonly until?: string | undefined;
  /** Who decided, if no user. */
  readonly via?: 'agent' | 'tool' | undefined;
}

/** What a book adds names files and runs of this machine. */
export function toDecision({ state, note, at, until, via }: TriageDecision): TriageDecision {
  return { state, note, at, until, via };
}

export const undecided: TriageDecision = { state: 'open', note: '', at: 0 };

export function isUndecided({ state, note, until }: TriageDecision): boolean {
  return state === 'open' && note === '' && until === undefined;
}

/** The finding is open because the acceptance of its risk has ended. */
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

export const ACCEPTANCE_ENDS = ['ended', 'soon', 'later'] as const;

/** Undefined if nothing ends; `now` is in wall-clock milliseconds. */
export function acceptanceEnd(
  decision: TriageDecision,
  now: number,
): (typeof ACCEPTANCE_ENDS)[number] | undefined {
  if (decision.until === undefined) return undefined;
  if (isAcceptanceEnded(decision)) return 'ended';
  return decision.until <= dayAfter(now, 14) ? 'soon' : 'later';
}

export function isDay(text: string): boolean {
  return z.iso.date().safeParse(text).success;
}

/** The local day, `YYYY-MM-DD`. */
export function dayAfter(time: number, days = 0): string {
  const date = new Date(time);
  date.setDate(date.getDate() + days);
  const parts = [date.getMonth() + 1, date.getDate()].map((part) => String(part).padStart(2, '0'));
  return [String(date.getFullYear()).padStart(4, '0'), ...parts].join('-');
}

/** 00:00 UTC of the day after the last day; undefined if that is invalid. */
export function expiryUtc({ until = '' }: TriageDecision): string | undefined {
  return isDay(until) ? new Date(Date.parse(until) + 86_400_000).toISOString() : undefined;
}

/** Nobody needs to look at the finding any more. */
export function isClosed(state: TriageState): boolean {
  return state === 'falsePositive' || state === 'acceptedRisk' || state === 'fixed';
}

export function needsNote(state: TriageState): boolean {
  return state === 'falsePositive' || state === 'acceptedRisk';
}

const maxUntil = 40;

/** Accepts any text, shortened; what is no text becomes an invalid day. */
export const untilSchema = z.optional(
  z.pipe(
    z.unknown(),
    z.transform((value: unknown) => (typeof value === 'string' ? clip(value, maxUntil) : '')),
  ),
);

export const viaSchema = z.catch(z.optional(z.literal('agent')), undefined);

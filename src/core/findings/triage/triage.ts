import { hash } from 'node:crypto';
import * as z from 'zod/mini';
import { AssessmentError } from '../../errors.ts';
import { clip } from '../../visibleText.ts';
import { type Identity, isSameFinding } from '../identity.ts';

/** What a person can decide about a finding. */
export const TRIAGE_STATES = ['open', 'confirmed', 'falsePositive', 'acceptedRisk', 'fixed'] as const;

/** The name of such a decision. */
export type TriageState = (typeof TRIAGE_STATES)[number];

/** A decision about a finding, with its reason. */
export interface TriageDecision {
  readonly state: TriageState;
  /** Why, in the person's words; empty when they gave no reason. */
  readonly note: string;
  /** When, in wall-clock milliseconds. */
  readonly at: number;
  /** The last day of an accepted risk, `YYYY-MM-DD` in local time, or a text that is no day; absent where it has no end. Kept where it has ended: the finding is open then. */
  readonly until?: string | undefined;
  /** Who decided, where it was not a person. */
  readonly via?: 'agent' | undefined;
}

/** The decision of a finding that nobody has decided about. */
export const undecided: TriageDecision = { state: 'open', note: '', at: 0 };

/** True where nobody has decided anything. */
export function isUndecided({ state, note, until }: TriageDecision): boolean {
  return state === 'open' && note === '' && until === undefined;
}

/** True for a finding that is open because the acceptance of its risk has ended. */
export function hasEnded({ state, until }: TriageDecision): boolean {
  return state === 'open' && until !== undefined;
}

/** The decision as it holds on a day: an accepted risk whose last day is past, or is no day, is open. */
export function asOf<T extends TriageDecision>(decision: T, today: string): T {
  const { until } = decision;
  const isOver = until !== undefined && (!isDay(until) || until < today);
  return isOver ? { ...decision, state: 'open' } : decision;
}

/** The decision as it was made, whatever day it is. */
export function asMade<T extends TriageDecision>(decision: T): T {
  return hasEnded(decision) ? { ...decision, state: 'acceptedRisk' } : decision;
}

/** When an accepted risk ends: `soon` within 14 days. */
export const ACCEPTANCE_ENDS = ['ended', 'soon', 'later'] as const;

/** When the acceptance of a risk ends, seen at a time; undefined where nothing ends. */
export function acceptanceEnd(
  decision: TriageDecision,
  now: number,
): (typeof ACCEPTANCE_ENDS)[number] | undefined {
  if (decision.until === undefined) return undefined;
  if (hasEnded(decision)) return 'ended';
  return decision.until <= dayAfter(now, 14) ? 'soon' : 'later';
}

/** True for a `YYYY-MM-DD` that the calendar has. */
export function isDay(text: string): boolean {
  return z.iso.date().safeParse(text).success;
}

/** The local day some days after a time (wall-clock milliseconds), as `YYYY-MM-DD`. */
export function dayAfter(time: number, days = 0): string {
  const date = new Date(time);
  date.setDate(date.getDate() + days);
  const parts = [date.getMonth() + 1, date.getDate()].map((part) => String(part).padStart(2, '0'));
  return [String(date.getFullYear()).padStart(4, '0'), ...parts].join('-');
}

/** 00:00 UTC of the day after the last one of an acceptance; undefined where there is no such day. */
export function expiryUtc({ until = '' }: TriageDecision): string | undefined {
  return isDay(until) ? new Date(Date.parse(until) + 86_400_000).toISOString() : undefined;
}

/** True for a finding that nobody needs to look at any more. */
export function isSettled(state: TriageState): boolean {
  return state === 'falsePositive' || state === 'acceptedRisk' || state === 'fixed';
}

/** True for a decision that has to be explained. */
export function needsNote(state: TriageState): boolean {
  return state === 'falsePositive' || state === 'acceptedRisk';
}

/** A decision and the finding that it was made about; `path` is for people who read the file. */
export interface TriageEntry extends TriageDecision {
  readonly identity: Identity;
  readonly path: string;
}

/** The decisions about a folder's findings. */
export interface TriageBook {
  readonly entries: readonly TriageEntry[];
  readonly index: EntryIndex;
}

/** Entries by their finding's fingerprint, which most findings share with no entry, then by `keysOf` the finding: thousands may share a fingerprint. */
type EntryIndex = ReadonlyMap<string, ReadonlyMap<string, readonly TriageEntry[]>>;

const maxUntil = 40;

/** What a file says of the end of an acceptance: anything, kept short. */
export const untilSchema = z.optional(
  z.pipe(
    z.unknown(),
    z.transform((value: unknown) => (typeof value === 'string' ? clip(value, maxUntil) : '')),
  ),
);

/** Who decided, as a file says it. */
export const viaSchema = z.catch(z.optional(z.literal('agent')), undefined);

const entrySchema = z.object({
  version: z.literal(1),
  state: z.enum(TRIAGE_STATES),
  note: z._default(z.string(), ''),
  // What is no day ends the acceptance, and leaves the decision as it is.
  until: untilSchema,
  via: viaSchema,
  at: z.pipe(
    z.iso.datetime(),
    z.transform((text: string) => Date.parse(text)),
  ),
  title: z._default(z.string(), ''),
  path: z._default(z.string(), ''),
  fingerprint: z.string(),
  spot: z.string(),
  only: z.array(z.enum(['code', 'title', 'live'])),
  run: z.string(),
  index: z.int().check(z.minimum(0)),
});
const bookSchema = z.object({ version: z.literal(1), decisions: z.array(z.unknown()) });

export function toBook(entries: readonly TriageEntry[]): TriageBook {
  return { entries, index: toIndex(entries) };
}

function toIndex(entries: readonly TriageEntry[]): EntryIndex {
  const index = new Map<string, Map<string, TriageEntry[]>>();
  for (const entry of entries) {
    const { fingerprint } = entry.identity;
    const byKey = index.get(fingerprint) ?? new Map<string, TriageEntry[]>();
    index.set(fingerprint, byKey);
    for (const key of keysOf(entry.identity)) {
      const sharing = byKey.get(key);
      if (sharing === undefined) byKey.set(key, [entry]);
      else sharing.push(entry);
    }
  }
  return index;
}

/** Two findings with one fingerprint that are the same, by either measure of `identity.ts`, share one of these. */
function keysOf({ run, index, only, title }: Identity): readonly string[] {
  // A file may name a way any number of times.
  const ways = [...new Set(only)].map((way) => (way === 'code' ? way : `${way} ${title}`));
  return [`${run} ${String(index)}`, ...ways];
}

/** The latest decision about a finding, in its run or in another run where it is surely the same; or where it is the same by another measure. */
export function entryOf(
  { index }: Pick<TriageBook, 'index'>,
  identity: Identity,
  isSame = isSameFinding,
): TriageEntry | undefined {
  const byKey = index.get(identity.fingerprint);
  if (byKey === undefined) return undefined;
  let last: TriageEntry | undefined;
  for (const key of keysOf(identity))
    for (const entry of byKey.get(key) ?? [])
      if (isSame(entry.identity, identity) && entry.at >= (last?.at ?? 0)) last = entry;
  return last;
}

/**
 * The book with these decisions in the place of those about the same findings; of several about one finding the latest. That a finding is open, without a note, says nothing
 * and leaves no entry.
 */
export function withDecisions({ entries }: TriageBook, decided: readonly TriageEntry[]): TriageBook {
  const index = toIndex(decided);
  const others = entries.filter(({ identity }) => entryOf({ index }, identity) === undefined);
  const latest = [...new Set(decided)].filter((entry) => entryOf({ index }, entry.identity) === entry);
  return toBook([...others, ...latest.filter((entry) => !isUndecided(entry))]);
}

/** Reads a file of many decisions, without items that are none. Throws `triageDamaged`. */
export function parseBook(text: string, path: string): TriageBook {
  const book = bookSchema.safeParse(parseJson(text));
  if (!book.success) throw new AssessmentError('triageDamaged', { subject: path });
  return toBook(book.data.decisions.flatMap((decision) => toEntry(decision) ?? []));
}

/** Reads a file of one decision; undefined when it is none. */
export function parseEntry(text: string): TriageEntry | undefined {
  return toEntry(parseJson(text));
}

/** The text of a file of many decisions, a line for each. */
export function formatBook({ entries }: TriageBook): string {
  const lines = entries.map((entry) => `    ${JSON.stringify(toJson(entry))}`);
  return `{\n  "version": 1,\n  "decisions": [\n${lines.join(',\n')}\n  ]\n}\n`;
}

/** The text of a file of one decision, for people to read, too. */
export function formatEntry(entry: TriageEntry): string {
  return `${JSON.stringify(toJson(entry), undefined, 2)}\n`;
}

/** The name of the file of one decision; no two decisions share it. */
export function entryName(entry: TriageEntry): string {
  return `${hash('sha256', formatEntry(entry), 'hex').slice(0, 32)}.json`;
}

function toEntry(value: unknown): TriageEntry | undefined {
  const read = entrySchema.safeParse(value);
  if (!read.success) return undefined;
  const { state, note, at, path, title, fingerprint, spot, only, run, index } = read.data;
  const more = endAndVia(read.data);
  return { state, note, at, ...more, path, identity: { title, fingerprint, spot, only, run, index } };
}

/** Of a decision, those of `until` (which only an accepted risk has) and `via` that it has. */
export function endAndVia({
  state,
  until,
  via,
}: Pick<TriageDecision, 'state' | 'until' | 'via'>): Pick<TriageDecision, 'until' | 'via'> {
  return {
    ...(state === 'acceptedRisk' && until !== undefined && { until }),
    ...(via !== undefined && { via }),
  };
}

function toJson({ identity, path, ...decision }: TriageEntry): z.input<typeof entrySchema> {
  const { title, fingerprint, spot, only, run, index } = identity;
  const { state, note, at } = decision;
  return {
    version: 1,
    state,
    note,
    ...endAndVia(decision),
    at: new Date(at).toISOString(),
    title,
    path,
    fingerprint,
    spot,
    only: [...only],
    run,
    index,
  };
}

/** Reads JSON; undefined when it is none. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch (error) {
    if (error instanceof SyntaxError) return undefined; // its message quotes the file, which may be anything
    throw error;
  }
}

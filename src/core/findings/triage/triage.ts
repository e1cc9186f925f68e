import { hash } from 'node:crypto';
import * as z from 'zod/mini';
import { AssessmentError } from '../../errors.ts';
import { clip } from '../../visibleText.ts';
import { type Identity, isSameFinding } from '../identity.ts';

export const TRIAGE_STATES = ['open', 'confirmed', 'falsePositive', 'acceptedRisk', 'fixed'] as const;

export type TriageState = (typeof TRIAGE_STATES)[number];

export interface TriageDecision {
  readonly state: TriageState;
  readonly note: string;
  /** Wall-clock milliseconds. */
  readonly at: number;
  /** Last day of an accepted risk, `YYYY-MM-DD` in local time, or an invalid text; absent without end. Kept after the end, when the finding is open. */
  readonly until?: string | undefined;
  readonly via?: 'agent' | undefined;
}

export const undecided: TriageDecision = { state: 'open', note: '', at: 0 };

export function isUndecided({ state, note, until }: TriageDecision): boolean {
  return state === 'open' && note === '' && until === undefined;
}

/** True if the finding is open because the acceptance of its risk has ended. */
export function isAcceptanceEnded({ state, until }: TriageDecision): boolean {
  return state === 'open' && until !== undefined;
}

/** The decision as of a day: an accepted risk is open if its last day is past or invalid. */
export function asOf<T extends TriageDecision>(decision: T, today: string): T {
  const { until } = decision;
  const hasEnded = until !== undefined && (!isDay(until) || until < today);
  return hasEnded ? { ...decision, state: 'open' } : decision;
}

/** Undoes `asOf`. */
export function asDecided<T extends TriageDecision>(decision: T): T {
  return isAcceptanceEnded(decision) ? { ...decision, state: 'acceptedRisk' } : decision;
}

/** `soon` is within 14 days. */
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

/** The local day, `YYYY-MM-DD`, some days after a time in wall-clock milliseconds. */
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

/** True if nobody needs to look at the finding any more. */
export function isSettled(state: TriageState): boolean {
  return state === 'falsePositive' || state === 'acceptedRisk' || state === 'fixed';
}

export function needsNote(state: TriageState): boolean {
  return state === 'falsePositive' || state === 'acceptedRisk';
}

/** A stored decision; `path` is only for people who read the file. */
export interface TriageEntry extends TriageDecision {
  readonly identity: Identity;
  readonly path: string;
}

export interface TriageBook {
  readonly entries: readonly TriageEntry[];
  readonly index: EntryIndex;
}

/** By fingerprint, then by `keysOf` the finding: most findings share a fingerprint with no entry, and thousands may share one. */
type EntryIndex = ReadonlyMap<string, ReadonlyMap<string, readonly TriageEntry[]>>;

const maxUntil = 40;

/** Accepts any text, shortened; what is no text becomes an invalid day. */
export const untilSchema = z.optional(
  z.pipe(
    z.unknown(),
    z.transform((value: unknown) => (typeof value === 'string' ? clip(value, maxUntil) : '')),
  ),
);

export const viaSchema = z.catch(z.optional(z.literal('agent')), undefined);

const entrySchema = z.object({
  version: z.literal(1),
  state: z.enum(TRIAGE_STATES),
  note: z._default(z.string(), ''),
  // An invalid day ends the acceptance; the rest of the decision stays valid.
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

/** Two findings with one fingerprint share a key if they are the same by either measure of `identity.ts`. */
function keysOf({ run, index, only, title }: Identity): readonly string[] {
  // A file may repeat a way.
  const ways = [...new Set(only)].map((way) => (way === 'code' ? way : `${way} ${title}`));
  return [`${run} ${String(index)}`, ...ways];
}

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

/** Replaces the decisions about the same findings. The latest of several about one finding counts, and an undecided finding has no entry. */
export function withDecisions({ entries }: TriageBook, decided: readonly TriageEntry[]): TriageBook {
  const index = toIndex(decided);
  const others = entries.filter(({ identity }) => entryOf({ index }, identity) === undefined);
  const latest = [...new Set(decided)].filter((entry) => entryOf({ index }, entry.identity) === entry);
  return toBook([...others, ...latest.filter((entry) => !isUndecided(entry))]);
}

/** Reads a file of decisions and skips invalid items. Throws `triageDamaged`. */
export function parseBook(text: string, path: string): TriageBook {
  const book = bookSchema.safeParse(parseJson(text));
  if (!book.success) throw new AssessmentError('triageDamaged', { subject: path });
  return toBook(book.data.decisions.flatMap((decision) => toEntry(decision) ?? []));
}

export function parseEntry(text: string): TriageEntry | undefined {
  return toEntry(parseJson(text));
}

export function formatBook({ entries }: TriageBook): string {
  const lines = entries.map((entry) => `    ${JSON.stringify(toJson(entry))}`);
  return `{\n  "version": 1,\n  "decisions": [\n${lines.join(',\n')}\n  ]\n}\n`;
}

export function formatEntry(entry: TriageEntry): string {
  return `${JSON.stringify(toJson(entry), undefined, 2)}\n`;
}

/** File name; no two decisions share it. */
export function entryName(entry: TriageEntry): string {
  return `${hash('sha256', formatEntry(entry), 'hex').slice(0, 32)}.json`;
}

function toEntry(value: unknown): TriageEntry | undefined {
  const read = entrySchema.safeParse(value);
  if (!read.success) return undefined;
  const { state, note, at, path, title, fingerprint, spot, only, run, index } = read.data;
  const more = optionalFieldsOf(read.data);
  return { state, note, at, ...more, path, identity: { title, fingerprint, spot, only, run, index } };
}

/** The fields `until` (of an accepted risk) and `via`, without undefined ones. */
export function optionalFieldsOf({
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
    ...optionalFieldsOf(decision),
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

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch (error) {
    if (error instanceof SyntaxError) return undefined; // not logged, since its message quotes the file
    throw error;
  }
}

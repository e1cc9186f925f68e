import * as z from 'zod/mini';
import { AssessmentError } from '../../errors.ts';
import { TRIAGE_STATES, type TriageDecision } from './triage.ts';

/** What is kept about a finding that was decided about; `title` and `path` are for people who read the file. */
export interface TriageEntry extends TriageDecision {
  readonly title: string;
  readonly path: string;
}

/** A file of decisions. What this version does not know, it keeps as it came. */
export interface TriageBook {
  readonly entries: ReadonlyMap<string, TriageEntry>;
  /** Lines by fingerprint, as they came: unknown keys, and states of a later version. */
  readonly lines: ReadonlyMap<string, JsonObject>;
  /** The file's keys but the decisions. */
  readonly others: JsonObject;
}

/** So many that five decisions on each side merge in 98 of 100 cases, and ten in 90. */
const fixedDigits = Array.from({ length: 1_024 }, (_, at) => (at * 4).toString(16).padStart(3, '0'));

type JsonObject = Readonly<Record<string, unknown>>;

const bookSchema = z.looseObject({ version: z.literal(1), decisions: z.array(z.unknown()) });
const lineSchema = z.looseObject({ fingerprint: z.string().check(z.minLength(1), z.maxLength(200)) });
const entrySchema = z.object({
  state: z.enum(TRIAGE_STATES),
  note: z._default(z.string(), ''),
  at: z.pipe(
    z.iso.datetime(),
    z.transform((text: string) => Date.parse(text)),
  ),
  title: z._default(z.string(), ''),
  path: z._default(z.string(), ''),
});

/** A file without decisions. */
export const emptyBook: TriageBook = { entries: new Map(), lines: new Map(), others: { version: 1 } };

/** True for a file that git left with the marks of a conflict. */
export function hasConflict(text: string): boolean {
  return /^(<<<<<<<|>>>>>>>) /m.test(text);
}

/** Reads a file of decisions, with a conflict line by line; of two about the same finding the later one counts. Throws `triageDamaged`. */
export function parseBook(text: string, path: string): TriageBook {
  if (hasConflict(text)) return toBook(decisionsAmid(text), emptyBook.others);
  const book = bookSchema.safeParse(parseJson(text));
  if (!book.success) throw new AssessmentError('triageDamaged', { subject: path });
  const { decisions, ...others } = book.data;
  return toBook(decisions, others);
}

/** The decisions of both sides of a conflict; git may have put what was there before between them. */
function decisionsAmid(text: string): readonly unknown[] {
  const sides = text.replaceAll(/^\|{7}.*?^={7}/gms, '');
  return sides.split('\n').map((line) => parseJson(line.trim().replace(/,$/, '')));
}

function toBook(decisions: readonly unknown[], others: JsonObject): TriageBook {
  const entries = new Map<string, TriageEntry>();
  const lines = new Map<string, JsonObject>();
  for (const decision of decisions) {
    if (typeof decision === 'string') continue; // one of the lines that are always there
    const line = lineSchema.safeParse(decision);
    if (!line.success) continue;
    const { fingerprint } = line.data;
    const entry = entrySchema.safeParse(decision).data;
    if ((entries.get(fingerprint)?.at ?? -Infinity) > (entry?.at ?? -Infinity)) continue;
    lines.set(fingerprint, line.data);
    if (entry !== undefined) entries.set(fingerprint, entry);
  }
  return { entries, lines, others };
}

/** The book with other decisions; one that a finding is open, without a note, says nothing and leaves no line. */
export function withDecisions(book: TriageBook, decided: ReadonlyMap<string, TriageEntry>): TriageBook {
  const entries = new Map(book.entries);
  const lines = new Map(book.lines);
  for (const [fingerprint, entry] of decided) {
    if (entry.state === 'open' && entry.note === '') {
      entries.delete(fingerprint);
      lines.delete(fingerprint);
    } else {
      entries.set(fingerprint, entry);
      lines.set(fingerprint, { ...lines.get(fingerprint), ...toLine(fingerprint, entry) });
    }
  }
  return { entries, lines, others: book.others };
}

/**
 * The file's text, made for merging: a line for each decision, in the order of the fingerprints' digits, every line with a comma. The
 * lines that are always there keep decisions of two people apart, so that git sees two places and not one.
 */
export function formatBook({ lines, others }: TriageBook): string {
  const fixed = fixedDigits.map((digits) => [digits, JSON.stringify(digits)] as const);
  const own = [...lines].map(([fingerprint, line]) => [orderOf(fingerprint), JSON.stringify(line)] as const);
  const sorted = [...fixed, ...own].sort(([one], [other]) => (one < other ? -1 : 1));
  const head = Object.entries(others).map(
    ([key, value]) => `  ${JSON.stringify(key)}: ${JSON.stringify(value)},\n`,
  );
  const body = [...sorted.map(([, text]) => text), '"end"'].map((text) => `    ${text}`);
  return `{\n${head.join('')}  "decisions": [\n${body.join(',\n')}\n  ]\n}\n`;
}

function toLine(fingerprint: string, { state, note, at, title, path }: TriageEntry): JsonObject {
  return { fingerprint, state, note, at: new Date(at).toISOString(), title, path };
}

/** The digits come before the number of the scheme that made them. */
function orderOf(fingerprint: string): string {
  const colon = fingerprint.indexOf(':');
  return `${fingerprint.slice(colon + 1)}:${fingerprint.slice(0, Math.max(0, colon))}`;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch (error) {
    if (error instanceof SyntaxError) return undefined; // its message quotes the file, which may be anything
    throw error;
  }
}

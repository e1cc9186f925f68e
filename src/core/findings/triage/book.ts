import { hash } from 'node:crypto';
import * as z from 'zod/mini';
import { type Identity, namePattern, reportKey } from '../identity.ts';
import { optionalFieldsOf, TRIAGE_STATES, type TriageDecision, untilSchema, viaSchema } from './triage.ts';

/*
 * A book has the decisions of this machine about the findings of a folder: a line for each, of which the last one about a finding counts. Lines are only
 * added, so windows need no lock. A shared file has one decision, without the members that name files. A book also notes what a person answered to those of
 * others, and when a time in the future was first seen.
 */

/** A stored decision; `title` and `path` are only for people who read the file. */
export interface TriageEntry extends TriageDecision, Identity {
  readonly title: string;
  readonly path: string;
  /** The file in the shared folder that this machine wrote it to. */
  readonly sharedAs?: string | undefined;
  /** The file in the shared folder that it was accepted from. */
  readonly from?: string | undefined;
}

/** What a book notes of a decision in the shared folder. */
export interface SharedNote {
  readonly noted: string;
  /** The time that the file states. */
  readonly at: number;
  /** When this machine first saw it. All times are wall-clock milliseconds. */
  readonly seenAt: number;
  /** True if a person has accepted or rejected it. */
  readonly isAnswered: boolean;
}

/** Decisions about different findings. */
export interface TriageBook {
  /** By the name that the finding had when it was decided. */
  readonly entries: ReadonlyMap<string, TriageEntry>;
  /** Names by `reportKey`: of a finding that was decided under another name, and of which no other record is here. */
  readonly names: ReadonlyMap<string, string>;
  /** By fingerprint, the name that was decided last. */
  readonly alike: ReadonlyMap<string, string>;
}

/** What a decision is looked up by. */
export type Decidable = Pick<Identity, 'name'> & Partial<Pick<Identity, 'file' | 'index'>>;

/** In the order in which they were made: the last one about a finding counts. Takes a step for each. */
export function* bookOf(decided: readonly TriageEntry[]): Generator<undefined, TriageBook> {
  const entries = new Map<string, TriageEntry>();
  const names = new Map<string, string>();
  const alike = new Map<string, string>();
  for (const entry of decided) {
    yield;
    entries.set(entry.name, entry);
    names.set(reportKey(entry), entry.name);
    alike.set(entry.fingerprint, entry.name);
  }
  return { entries, names, alike };
}

export const noBook: TriageBook = { entries: new Map(), names: new Map(), alike: new Map() };

/** The latest decision about a finding; it may say that the finding is undecided again. */
export function entryOf(
  { entries, names }: TriageBook,
  { name, file, index }: Decidable,
): TriageEntry | undefined {
  const named = entries.get(name);
  if (file === undefined || index === undefined) return named;
  const key = reportKey({ file, index });
  const reported = entries.get(names.get(key) ?? key);
  return reported !== undefined && reported.at > (named?.at ?? -Infinity) ? reported : named;
}

const version = z.literal(1);
const time = z.pipe(
  z.iso.datetime(),
  z.transform((text: string) => Date.parse(text)),
);

const entrySchema = z.object({
  version,
  state: z.enum(TRIAGE_STATES),
  note: z._default(z.string(), ''),
  // An invalid day ends the acceptance; the rest of the decision stays valid.
  until: untilSchema,
  via: viaSchema,
  at: time,
  title: z._default(z.string(), ''),
  path: z._default(z.string(), ''),
  name: z.string().check(z.regex(namePattern)),
  file: z.string().check(z.regex(/^[0-9a-f]{16}$/)),
  index: z.int().check(z.minimum(0)),
  fingerprint: z.string(),
});

const optionalName = z.optional(z.string());
/** Members of a book's line only: what others write must not name files. */
const lineSchema = z.union([
  z.object({ version, noted: z.string(), at: time, seenAt: time, isAnswered: z.boolean() }),
  z.extend(entrySchema, { sharedAs: optionalName, from: optionalName }),
]);

/** Reads a shared file; undefined if it has no decision. */
export function parseEntry(text: string): TriageEntry | undefined {
  const { data } = entrySchema.safeParse(parseJson(text));
  return data && toEntry(data);
}

/** Reads a line of a book; undefined if it has neither. */
export function parseLine(text: string): TriageEntry | SharedNote | undefined {
  const { data } = lineSchema.safeParse(parseJson(text));
  if (data === undefined || !('noted' in data)) return data && toEntry(data);
  const { noted, at, seenAt, isAnswered } = data;
  return { noted, at, seenAt, isAnswered };
}

function toEntry(read: z.infer<typeof entrySchema> & Pick<TriageEntry, 'sharedAs' | 'from'>): TriageEntry {
  const { state, note, at, title, path, name, file, index, fingerprint, sharedAs, from } = read;
  const files = { ...(sharedAs !== undefined && { sharedAs }), ...(from !== undefined && { from }) };
  return {
    state,
    note,
    at,
    ...optionalFieldsOf(read),
    title,
    path,
    name,
    file,
    index,
    fingerprint,
    ...files,
  };
}

export function formatEntry(entry: TriageEntry): string {
  const shared = { ...entry, sharedAs: undefined, from: undefined };
  return `${JSON.stringify(toJson(shared), undefined, 2)}\n`;
}

export function formatLine(line: TriageEntry | SharedNote): string {
  return JSON.stringify(toJson(line));
}

/** File name; no two decisions share it. */
export function entryName(entry: TriageEntry): string {
  return `${hash('sha256', formatEntry(entry), 'hex').slice(0, 32)}.json`;
}

/** The members in a fixed order, for people and Git. */
function toJson(line: TriageEntry | SharedNote): object {
  const toTime = (at: number): string => new Date(at).toISOString();
  if ('noted' in line) return { version: 1, ...line, at: toTime(line.at), seenAt: toTime(line.seenAt) };
  const { state, note, at, title, path, name, file, index, fingerprint, sharedAs, from } = line;
  const decision = { state, note, ...optionalFieldsOf(line), at: toTime(at) };
  return { version: 1, ...decision, title, path, name, file, index, fingerprint, sharedAs, from };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch (error) {
    if (error instanceof SyntaxError) return undefined; // not logged, since its message quotes the file
    throw error;
  }
}

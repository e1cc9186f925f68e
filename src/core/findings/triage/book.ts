import { hash } from 'node:crypto';
import * as z from 'zod/mini';
import { type Identity, namePattern, reportKey } from '../identity.ts';
import { optionalFieldsOf, TRIAGE_STATES, type TriageDecision, untilSchema, viaSchema } from './triage.ts';

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

const timeSchema = z.pipe(
  z.iso.datetime(),
  z.transform((text: string) => Date.parse(text)),
);

const entrySchema = z.object({
  version: z.literal(1),
  state: z.enum(TRIAGE_STATES),
  note: z._default(z.string(), ''),
  // An invalid day ends the acceptance; the rest of the decision stays valid.
  until: untilSchema,
  via: viaSchema,
  at: timeSchema,
  title: z._default(z.string(), ''),
  path: z._default(z.string(), ''),
  name: z.string().check(z.regex(namePattern)),
  findingsFile: z.string().check(z.regex(/^[0-9a-f]{16}$/)),
  index: z.int().check(z.minimum(0)),
  fingerprint: z.string(),
});

/** Members of a book's line only: what others write must not name files. */
const lineSchema = z.extend(entrySchema, {
  sharedAs: z.optional(z.string()),
  from: z.optional(z.string()),
});

const noteSchema = z.object({
  version: z.literal(1),
  noted: z.string(),
  at: timeSchema,
  seenAt: timeSchema,
  isAnswered: z.boolean(),
});

/** Reads a shared file; undefined if it has no decision. */
export function parseEntry(text: string): TriageEntry | undefined {
  const read = entrySchema.safeParse(parseJson(text));
  return read.success ? toEntry(read.data) : undefined;
}

/** Reads a line of a book; undefined if it has neither. */
export function parseLine(text: string): TriageEntry | SharedNote | undefined {
  const value = parseJson(text);
  const note = noteSchema.safeParse(value);
  if (note.success) {
    const { noted, at, seenAt, isAnswered } = note.data;
    return { noted, at, seenAt, isAnswered };
  }
  const read = lineSchema.safeParse(value);
  if (!read.success) return undefined;
  const { sharedAs, from } = read.data;
  return {
    ...toEntry(read.data),
    ...(sharedAs !== undefined && { sharedAs }),
    ...(from !== undefined && { from }),
  };
}

export function formatEntry(entry: TriageEntry): string {
  return `${JSON.stringify(toJson(entry), undefined, 2)}\n`;
}

export function formatLine(line: TriageEntry | SharedNote): string {
  if ('name' in line) return JSON.stringify({ ...toJson(line), sharedAs: line.sharedAs, from: line.from });
  return JSON.stringify({ version: 1, ...line, at: toTime(line.at), seenAt: toTime(line.seenAt) });
}

/** File name; no two decisions share it. */
export function entryName(entry: TriageEntry): string {
  return `${hash('sha256', formatEntry(entry), 'hex').slice(0, 32)}.json`;
}

function toEntry(read: z.infer<typeof entrySchema>): TriageEntry {
  const { state, note, at, path, title, name, findingsFile: file, index, fingerprint } = read;
  return { state, note, at, ...optionalFieldsOf(read), title, path, name, file, index, fingerprint };
}

function toJson(entry: TriageEntry): z.input<typeof entrySchema> {
  const { state, note, at, title, path, name, file: findingsFile, index, fingerprint } = entry;
  return {
    version: 1,
    state,
    note,
    ...optionalFieldsOf(entry),
    at: toTime(at),
    title,
    path,
    name,
    findingsFile,
    index,
    fingerprint,
  };
}

function toTime(at: number): string {
  return new Date(at).toISOString();
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch (error) {
    if (error instanceof SyntaxError) return undefined; // not logged, since its message quotes the file
    throw error;
  }
}

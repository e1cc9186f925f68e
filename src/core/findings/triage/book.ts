import { hash } from 'node:crypto';
import * as z from 'zod/mini';
import { type Identity, isSameFinding, spotKeysOf } from '../identity.ts';
import { optionalFieldsOf, TRIAGE_STATES, type TriageDecision, untilSchema, viaSchema } from './triage.ts';

/** A stored decision; `path` is only for people who read the file. */
export interface TriageEntry extends TriageDecision {
  readonly identity: Identity;
  readonly path: string;
  /** The file in the shared folder that this machine wrote it to. */
  readonly file?: string | undefined;
  /** The file in the shared folder that it was accepted from. */
  readonly from?: string | undefined;
}

/** What a book notes of a decision in the shared folder that it does not have. */
export interface SharedNote {
  readonly file: string;
  /** The time that the file states. */
  readonly at: number;
  /** When this machine first saw it. All times are wall-clock milliseconds. */
  readonly seenAt: number;
  readonly isRejected: boolean;
}

/** Decisions about different findings. */
export interface TriageBook {
  readonly entries: readonly TriageEntry[];
  readonly index: EntryIndex;
}

/** By fingerprint or findings file, then by `keysOf` the finding: most findings share these with no entry, and thousands may share one. */
type EntryIndex = ReadonlyMap<string, ReadonlyMap<string, readonly TriageEntry[]>>;

/** In the order in which they were made: the last one about a finding counts. Takes a step for each. */
export function* bookOf(decided: readonly TriageEntry[]): Generator<undefined, TriageBook> {
  const index = new Map<string, Map<string, TriageEntry[]>>();
  const entries: TriageEntry[] = [];
  for (const entry of decided.toReversed()) {
    yield;
    if (entryOf({ index }, entry.identity) !== undefined) continue;
    entries.push(entry);
    for (const { group, keys } of groupsOf(entry.identity)) {
      const byKey = index.get(group) ?? new Map<string, TriageEntry[]>();
      index.set(group, byKey);
      for (const key of keys()) {
        const sharing = byKey.get(key);
        if (sharing === undefined) byKey.set(key, [entry]);
        else sharing.push(entry);
      }
    }
  }
  return { entries: entries.reverse(), index };
}

export const noBook: TriageBook = { entries: [], index: new Map() };

/** Two findings share a group and a key in it if they are the same by one of the measures of `identity.ts`. */
function groupsOf(
  identity: Identity,
): readonly { readonly group: string; readonly keys: () => Iterable<string> }[] {
  const { fingerprint, run, file, index } = identity;
  const byFingerprint = { group: fingerprint, keys: () => keysOf(identity) };
  if (file === undefined) return [byFingerprint];
  return [byFingerprint, { group: `${run} ${file}`, keys: () => [String(index)] }];
}

function keysOf(identity: Identity): readonly string[] {
  const { only, title } = identity;
  // A file may repeat a way.
  const ways = [...new Set(only)].map((way) => (way === 'code' ? way : `${way} ${title}`));
  return [...spotKeysOf(identity), ...ways];
}

/** The latest decision about a finding; it may say that the finding is undecided again. */
export function entryOf(
  { index }: Pick<TriageBook, 'index'>,
  identity: Identity,
  isSame = isSameFinding,
): TriageEntry | undefined {
  let latest: TriageEntry | undefined;
  for (const { group, keys } of groupsOf(identity)) {
    const byKey = index.get(group);
    if (byKey === undefined) continue;
    for (const key of keys())
      for (const entry of byKey.get(key) ?? [])
        if (isSame(entry.identity, identity) && entry.at > (latest?.at ?? -Infinity)) latest = entry;
  }
  return latest;
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
  fingerprint: z.string(),
  spot: z.string(),
  only: z.array(z.enum(['code', 'title', 'live'])),
  run: z.string(),
  findingsFile: z.optional(z.string()),
  index: z.int().check(z.minimum(0)),
});

/** Members of a book's line only: what others write must not name files. */
const lineSchema = z.extend(entrySchema, {
  file: z.optional(z.string()),
  from: z.optional(z.string()),
});

const noteSchema = z.object({
  version: z.literal(1),
  noted: z.string(),
  at: timeSchema,
  seenAt: timeSchema,
  isRejected: z.boolean(),
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
    const { noted, at, seenAt, isRejected } = note.data;
    return { file: noted, at, seenAt, isRejected };
  }
  const read = lineSchema.safeParse(value);
  if (!read.success) return undefined;
  const { file, from } = read.data;
  return {
    ...toEntry(read.data),
    ...(file !== undefined && { file }),
    ...(from !== undefined && { from }),
  };
}

export function formatEntry(entry: TriageEntry): string {
  return `${JSON.stringify(toJson(entry), undefined, 2)}\n`;
}

export function formatLine(line: TriageEntry | SharedNote): string {
  if ('identity' in line) return JSON.stringify({ ...toJson(line), file: line.file, from: line.from });
  const { file, at, seenAt, isRejected } = line;
  return JSON.stringify({ version: 1, noted: file, at: toTime(at), seenAt: toTime(seenAt), isRejected });
}

/** File name; no two decisions share it. */
export function entryName(entry: TriageEntry): string {
  return `${hash('sha256', formatEntry(entry), 'hex').slice(0, 32)}.json`;
}

function toEntry(read: z.infer<typeof entrySchema>): TriageEntry {
  const { state, note, at, path, title, fingerprint, spot, only, run, findingsFile: file, index } = read;
  const more = optionalFieldsOf(read);
  return { state, note, at, ...more, path, identity: { title, fingerprint, spot, only, run, file, index } };
}

function toJson({ identity, path, ...decision }: TriageEntry): z.input<typeof entrySchema> {
  const { title, fingerprint, spot, only, run, file: findingsFile, index } = identity;
  const { state, note, at } = decision;
  return {
    version: 1,
    state,
    note,
    ...optionalFieldsOf(decision),
    at: toTime(at),
    title,
    path,
    fingerprint,
    spot,
    only: [...only],
    run,
    findingsFile,
    index,
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

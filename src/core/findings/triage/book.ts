import { hash } from 'node:crypto';
import * as z from 'zod/mini';
import { parseIfJson } from '../../json.ts';
import { type FindingIdentity, nameSchema, reportKey } from '../identity.ts';
import { TRIAGE_STATES, type TriageDecision, untilSchema, viaSchema } from './triage.ts';

/**
 * A book has this machine's decisions about the findings of a folder. Each decision is a line, and
 * the last line about a finding counts. Lines are only added, so windows need no lock. A book
 * also notes which decisions of others a user has answered.
 */

const version = z.literal(1);
const time = z.pipe(
  z.iso.datetime(),
  z.transform((text: string) => Date.parse(text)),
);

const sharedSchema = z.object({
  version,
  state: z.enum(TRIAGE_STATES),
  note: z._default(z.string(), ''),
  // An invalid day ends the acceptance, but the decision stays valid.
  until: untilSchema,
  via: viaSchema,
  at: time,
  /** Only people who read the file need this and `path`. */
  title: z._default(z.string(), ''),
  path: z._default(z.string(), ''),
  name: nameSchema,
  file: z.string().check(z.regex(/^[0-9a-f]{16}$/)),
  index: z.int().check(z.minimum(0)),
  fingerprint: z.string(),
});

/** Only a book of this machine may name files in the shared folder. */
const entrySchema = z.extend(sharedSchema, {
  /** This machine wrote the decision to this file. */
  sharedAs: z.optional(z.string()),
  /** The decision was accepted from this file. */
  from: z.optional(z.string()),
  /** The decision came with this imported run, and says nothing certain about other runs. */
  onlyIn: z.optional(z.string()),
});

const answerSchema = z.object({ version, answered: z.string(), at: time });

const lineSchema = z.union([entrySchema, answerSchema]);

export type TriageEntry = TriageDecision &
  Readonly<Omit<z.infer<typeof entrySchema>, 'version' | keyof TriageDecision>>;
export type Answer = Readonly<Omit<z.infer<typeof answerSchema>, 'version'>>;

export interface TriageBook {
  /** The key is the name at the time of the decision. */
  readonly entries: ReadonlyMap<string, TriageEntry>;
  /** The keys are `reportKey`s: a finding may have another name by now. */
  readonly names: ReadonlyMap<string, string>;
  /** The value is the name of the finding that was decided last. */
  readonly byFingerprint: ReadonlyMap<string, string>;
  readonly answers: ReadonlyMap<string, number>;
  readonly isDamaged: boolean;
}

const maxLineBytes = 1024 * 1024;

export function* readBook(content: Buffer): Generator<undefined, TriageBook> {
  const entries = new Map<string, TriageEntry>();
  const [names, byFingerprint] = [new Map<string, string>(), new Map<string, string>()];
  const answers = new Map<string, number>();
  let isDamaged = false;
  let end: number;
  for (let start = 0; start < content.length; start = end + 1) {
    yield;
    const lineFeed = content.indexOf('\n', start);
    end = lineFeed < 0 ? content.length : lineFeed;
    if (end === start) continue;
    const isTooLong = end - start > maxLineBytes;
    const json = isTooLong ? null : parseIfJson(content.toString('utf8', start, end));
    // A line that was cut off by a crash or a full disk has no empty line after it. It is ignored,
    // and doesn't count as damage.
    const isWhole = lineFeed >= 0 && [undefined, 0x0a].includes(content[lineFeed + 1]);
    if (json === undefined && !isWhole) continue;
    const line = lineSchema.safeParse(json).data;
    if (line === undefined) isDamaged = true;
    else if ('answered' in line) answers.set(line.answered, line.at);
    else {
      entries.set(line.name, toEntry(line));
      names.set(reportKey(line), line.name);
      byFingerprint.set(line.fingerprint, line.name);
    }
  }
  return { entries, names, byFingerprint, answers, isDamaged };
}

export type Decidable = Pick<FindingIdentity, 'name'> & Partial<FindingIdentity>;

export function countsIn({ onlyIn }: TriageEntry, run: string | undefined): boolean {
  return onlyIn === undefined || onlyIn === run;
}

/** Prefers a decision that counts in this run, then the later decision. */
export function entryOf(
  book: TriageBook | undefined,
  { name, file, index }: Decidable,
  run?: string,
): TriageEntry | undefined {
  const named = book?.entries.get(name);
  if (file === undefined || index === undefined) return named;
  const key = reportKey({ file, index });
  const reported = book?.entries.get(book.names.get(key) ?? key);
  if (named === undefined || reported === undefined) return named ?? reported;
  const [counts, other] = [countsIn(named, run), countsIn(reported, run)];
  return counts === other ? (reported.at > named.at ? reported : named) : counts ? named : reported;
}

export function parseEntry(text: string): TriageEntry | undefined {
  const { data } = sharedSchema.safeParse(parseIfJson(text));
  return data && toEntry(data);
}

function toEntry(read: z.infer<typeof entrySchema>): TriageEntry {
  const { version: _, until, ...entry } = read;
  return entry.state === 'acceptedRisk' && until !== undefined ? { ...entry, until } : entry;
}

export function formatEntry(entry: TriageEntry): string {
  return `${format(entry, sharedSchema, 2)}\n`;
}

export function formatLine(line: TriageEntry | Answer): string {
  return format(line, 'answered' in line ? answerSchema : entrySchema);
}

function format(line: TriageEntry | Answer, { shape }: { readonly shape: object }, indent?: number): string {
  const stored = { ...line, version: 1, at: new Date(line.at).toISOString() };
  return JSON.stringify(stored, Object.keys(shape), indent);
}

/** Different decisions get different file names. */
export function entryName(entry: TriageEntry): string {
  return `${hash('sha256', formatEntry(entry), 'hex').slice(0, 32)}.json`;
}

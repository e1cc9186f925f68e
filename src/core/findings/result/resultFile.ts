import { createHash, hash } from 'node:crypto';
import { open, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import * as z from 'zod/mini';
import { systemCode } from '../../errors.ts';
import { writeFileAtomic } from '../../files.ts';
import type { Run } from '../../run/state/run.ts';
import {
  BLOCK_KINDS,
  type Details,
  detailsFrom,
  type Finding,
  PLACE_ROLES,
  type WithDetails,
} from '../finding.ts';
import { headSchema, type ResultFinding, type ResultHead, type RunResult } from './result.ts';

/*
 * Two files in the folder of a run, of lines of JSON. `result.json`: the head, which shows whether the result is current, and has the SHA-256 of what
 * follows in place of a schema; a table of texts and sent files that findings refer to by position; then lists of findings, those that are not reported
 * last. `details.jsonl`: the findings file that it is of, then an index and its details in each line, read when somebody looks.
 */

export const resultName = 'result.json';
const detailsName = 'details.jsonl';

const savedHeadSchema = z.extend(headSchema, { sha256: z.string() });

const findingsPerLine = 500;
const lineEnd = 10;
const maxBytes = 16 * 1024 * 1024;
/** What is read of a file at once. */
const partBytes = 256 * 1024;
const maxDetailsBytes = 256 * 1024 * 1024;
const maxLineBytes = 16 * 1024 * 1024;

const shared = ['run', 'home', 'folder', 'path', 'file'] as const;

/** A finding as it is written: `at` are positions of its `shared` texts in the table, `sentAt` those of its sent files. */
type Line = Omit<ResultFinding, (typeof shared)[number] | 'sent'> & {
  readonly at: readonly (number | null)[];
  readonly sentAt: readonly (number | null)[];
};

/** Throws what writing throws, and `RangeError` for a result that is too large. */
export async function writeResult(runFolder: string, { head, findings, absent }: RunResult): Promise<void> {
  const positions = new Map<string, number>();
  const positionOf = (value: unknown): number | null => {
    if (value === undefined) return null;
    const key = JSON.stringify(value);
    const at = positions.get(key) ?? positions.size;
    positions.set(key, at);
    return at;
  };
  const toLine = ({ run, home, folder, path, file, sent, ...others }: ResultFinding): Line => ({
    ...others,
    at: [run, home, folder, path, file].map(positionOf),
    sentAt: sent.map(positionOf),
  });
  const lines: string[] = [];
  const all = [...findings, ...absent];
  for (let at = 0; at < all.length; at += findingsPerLine)
    lines.push(`${JSON.stringify(all.slice(at, at + findingsPerLine).map(toLine))}\n`);
  lines.unshift(`[${[...positions.keys()].join()}]\n`);
  const digest = createHash('sha256');
  for (const line of lines) digest.update(line);
  const saved: z.infer<typeof savedHeadSchema> = { ...head, sha256: digest.digest('hex') };
  const content = Buffer.from([`${JSON.stringify(saved)}\n`, ...lines].join(''));
  if (content.length > maxBytes) throw new RangeError('The result is too large to be saved.');
  await writeFileAtomic(join(runFolder, resultName), content);
}

/** Undefined where there is none of this format. The rest of the file may be damaged. */
export async function readHead(runFolder: string): Promise<ResultHead | undefined> {
  return unlessUnreadable(async () => {
    for await (const line of linesOf(join(runFolder, resultName), maxBytes)) return headIn(line);
    return undefined;
  });
}

/** Undefined where there is none of this format, or a damaged one. Lets others work between two lines. */
export async function readSaved(runFolder: string): Promise<RunResult | undefined> {
  return unlessUnreadable(async () => {
    const file = join(runFolder, resultName);
    if ((await stat(file)).size > maxBytes) return undefined;
    const content = await readFile(file);
    let start = content.indexOf(lineEnd) + 1;
    const head = headIn(content.subarray(0, Math.max(0, start - 1)));
    if (head === undefined || hash('sha256', content.subarray(start), 'hex') !== head.sha256)
      return undefined;
    let table: readonly unknown[] | undefined;
    const all: ResultFinding[] = [];
    for (let end = content.indexOf(lineEnd, start); end >= 0; end = content.indexOf(lineEnd, start)) {
      await setImmediate();
      const line = JSON.parse(content.toString('utf8', start, end)) as readonly unknown[];
      if (table === undefined) table = line;
      else for (const each of line as readonly Line[]) all.push(toFinding(each, table));
      start = end + 1;
    }
    const { findings } = head.counts;
    return { head, findings: all.slice(0, findings), absent: all.slice(findings) };
  });
}

function toFinding({ at, sentAt, ...others }: Line, table: readonly unknown[]): ResultFinding {
  const valueAt = (position: number | null | undefined): unknown => table[position ?? -1];
  const [run, home, folder, path, file] = at.map(valueAt) as string[];
  return {
    ...others,
    // JSON has `null` in place of undefined members of lists.
    evidence: others.evidence?.map((each) => each ?? undefined),
    run: run ?? '',
    home: home ?? '',
    folder,
    path: path ?? '',
    file: file ?? '',
    sent: sentAt.map(valueAt) as ResultFinding['sent'],
  };
}

async function unlessUnreadable<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    const isDamaged = error instanceof SyntaxError || error instanceof z.core.$ZodError;
    if (systemCode(error) === undefined && !isDamaged) throw error;
    return undefined;
  }
}

function headIn(line: Buffer): z.infer<typeof savedHeadSchema> | undefined {
  return savedHeadSchema.safeParse(JSON.parse(line.toString('utf8'))).data;
}

/** The whole lines of a file, up to a number of bytes. A longer line ends it. */
async function* linesOf(path: string, maxFileBytes: number): AsyncGenerator<Buffer, void> {
  const file = await open(path);
  try {
    let rest = Buffer.alloc(0);
    for (let read = 0; read < maxFileBytes && rest.length < maxLineBytes;) {
      const part = await file.read(Buffer.allocUnsafe(partBytes), 0, partBytes, read);
      if (part.bytesRead === 0) return;
      read += part.bytesRead;
      const text = Buffer.concat([rest, part.buffer.subarray(0, part.bytesRead)]);
      let start = 0;
      for (let end = text.indexOf(lineEnd); end >= 0; end = text.indexOf(lineEnd, start)) {
        yield text.subarray(start, end);
        start = end + 1;
      }
      rest = text.subarray(start);
    }
  } finally {
    await file.close();
  }
}

const detailsHeadSchema = z.object({ file: z.string() });

const number = z.optional(z.number());
const text = z.optional(z.string());

const detailsLineSchema = z.tuple([
  z.number(),
  z.object({
    description: z.string(),
    recommendation: z.string(),
    blocks: z.array(z.object({ kind: z.enum(BLOCK_KINDS), text: z.string() })),
    confidence: text,
    places: z.array(
      z.object({
        path: z.string(),
        startLine: number,
        endLine: number,
        startColumn: number,
        endColumn: number,
        charOffset: number,
        inCodePoints: z.optional(z.boolean()),
        snippet: text,
        role: z.optional(z.enum(PLACE_ROLES)),
        label: text,
        targetIndex: number,
      }),
    ),
  }),
]);

/** By `Finding.index`. */
export type DetailsByIndex = ReadonlyMap<number, Details>;

/** `file` is that of the findings' `Identity`. */
export async function writeDetails(runFolder: string, file: string, details: DetailsByIndex): Promise<void> {
  const lines = function* (): Generator<string, void> {
    for (const line of [{ file }, ...details]) yield `${JSON.stringify(line)}\n`;
  };
  await writeFileAtomic(join(runFolder, detailsName), lines());
}

/** Those of the wanted ones that are there: none for another findings file. Undefined where the file is missing or damaged. */
export async function readDetails(
  runFolder: string,
  file: string,
  indexes: ReadonlySet<number>,
): Promise<DetailsByIndex | undefined> {
  return unlessUnreadable(async () => {
    let isOfFile = false;
    const found = new Map<number, Details>();
    for await (const line of linesOf(join(runFolder, detailsName), maxDetailsBytes)) {
      if (!isOfFile) {
        if (detailsHeadSchema.parse(JSON.parse(line.toString('utf8'))).file !== file) return found;
        isOfFile = true;
      } else if (indexes.has(Number.parseInt(line.toString('latin1', 1, 12), 10))) {
        const [index, details] = detailsLineSchema.parse(JSON.parse(line.toString('utf8')));
        found.set(index, details);
        if (found.size === indexes.size) return found;
      }
    }
    return isOfFile ? found : undefined;
  });
}

/** Reads details of what a run reports, by the findings file that they are of. */
export type ReadDetails = (
  run: Run,
  file: string,
  indexes: ReadonlySet<number>,
) => Promise<DetailsByIndex | undefined>;

export interface Detailable {
  readonly run: Run;
  /** See `Identity`. */
  readonly file: string;
  readonly finding: Finding;
}

/** One result for each finding. */
export type Detailed<T extends readonly Detailable[]> = { readonly [At in keyof T]: T[At] & WithDetails };

export async function addDetails<const T extends readonly Detailable[]>(
  findings: T,
  read: ReadDetails,
): Promise<Detailed<T>> {
  const known = new Map<Detailable, Details>();
  for (const some of Map.groupBy(findings, ({ run, file }) => `${run.id} ${file}`).values()) {
    const [first] = some;
    if (first === undefined) continue;
    const indexes = new Set(some.map(({ finding }) => finding.index));
    const details = await read(first.run, first.file, indexes);
    for (const each of some) known.set(each, details?.get(each.finding.index) ?? detailsFrom(each.finding));
  }
  return findings.map((each) => ({ ...each, details: known.get(each) })) as Detailed<T>;
}

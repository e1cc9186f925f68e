import { createHash, hash } from 'node:crypto';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import * as z from 'zod/mini';
import { systemCode } from '../../errors.ts';
import { writeFileAtomic } from '../../files.ts';
import type { Run } from '../../run/state/run.ts';
import {
  type Details,
  detailsFrom,
  type Finding,
  maxLocations,
  type Location,
  type ReportedFinding,
  splitReported,
  type WithDetails,
} from '../finding.ts';
import { reportKey } from '../identity.ts';
import type { UploadedFile } from '../location/uploadedFiles.ts';
import { headSchema, type ResultFinding, resultFormat, type ResultHead, type RunResult } from './result.ts';

/**
 * Two files in a run's folder have lines of JSON. The first line of `result.json` is the head. It
 * shows whether the result is current. The other lines have no schema, but the head has their
 * SHA-256. They are a table of values that findings share, then lists of findings, absent ones
 * last. The first line of `details.jsonl` names the findings file. Each further line has an index,
 * a hash, and details.
 */

export const resultName = 'result.json';
const detailsName = 'details.jsonl';

const savedHeadSchema = z.extend(headSchema, { sha256: z.string() });

const findingsPerLine = 500;
const lineEnd = 10;
const maxBytes = 16 * 1024 * 1024;
const partBytes = 256 * 1024;
const maxDetailsBytes = 256 * 1024 * 1024;

type Shared = Pick<ResultFinding, 'run' | 'file' | 'ofTarget' | 'uploadedFolder'>;

type Usual = 'name' | 'possibleNames' | 'uploadedPath' | 'quotes';

/** `shared` and `uploaded` are positions in the table. `toFinding` adds defaults. */
type Line = Omit<ResultFinding, keyof Shared | Usual | 'index' | 'finding' | 'uploaded'> &
  Partial<Pick<ResultFinding, Usual>> & {
    readonly finding: Omit<Finding, 'id' | 'locations'> &
      Partial<Pick<Finding, 'id'>> & {
        readonly locations: readonly Partial<Location>[];
      };
    readonly shared: number;
    readonly uploaded: readonly (number | null)[];
  };

function unless<T>(value: T, usual: T): T | undefined {
  return value === usual ? undefined : value;
}

/** A result that would be too large is saved with fewer locations per finding. */
export async function writeResult(runFolder: string, result: RunResult): Promise<void> {
  for (let locations = maxLocations; locations > 0; locations >>= 1) {
    const content = contentOf(result, locations);
    if (content.length > maxBytes) continue;
    await writeFileAtomic(join(runFolder, resultName), content);
    return;
  }
  throw new RangeError('The result is too large to be saved.');
}

function withFewerLocations(found: ResultFinding, max: number): ResultFinding {
  const { finding, uploaded, quotes, evidence } = found;
  if (finding.locations.length <= max) return found;
  return {
    ...found,
    finding: { ...finding, locations: finding.locations.slice(0, max), shortfall: 'clipped' },
    uploaded: uploaded.slice(0, max),
    quotes: quotes.slice(0, max),
    evidence: evidence?.slice(0, max),
  };
}

function contentOf({ head, findings, absent }: RunResult, locations: number): Buffer {
  const table = new Map<string, number>();
  const positionOf = (value: Shared | UploadedFile): number => {
    const key = JSON.stringify(value);
    const at = table.get(key) ?? table.size;
    table.set(key, at);
    return at;
  };
  const toLine = (found: ResultFinding): unknown => {
    const { run, file, ofTarget, uploadedFolder, index, ...others } = found;
    const { finding, name, possibleNames, uploadedPath, uploaded, quotes } = found;
    const named = finding.locations.map((each, at) => ({
      ...each,
      path: unless(each.path, uploaded[at]?.path),
    }));
    return {
      ...others,
      finding: { ...finding, id: unless(finding.id, `#${String(index + 1)}`), locations: named },
      name: unless(name, reportKey({ file, index })),
      possibleNames: possibleNames.length === 0 ? undefined : possibleNames,
      uploadedPath: uploaded[0] === undefined ? uploadedPath : undefined,
      quotes: quotes.every((each) => each === '') ? undefined : quotes,
      shared: positionOf({ run, file, ofTarget, uploadedFolder }),
      uploaded: uploaded.map((each) => (each === undefined ? null : positionOf(each))),
    };
  };
  const lines: string[] = [];
  const all = [...findings, ...absent].map((each) => withFewerLocations(each, locations));
  for (let at = 0; at < all.length; at += findingsPerLine)
    lines.push(`${JSON.stringify(all.slice(at, at + findingsPerLine).map(toLine))}\n`);
  lines.unshift(`[${[...table.keys()].join()}]\n`);
  const digest = createHash('sha256');
  for (const line of lines) digest.update(line);
  const saved: z.infer<typeof savedHeadSchema> = { ...head, sha256: digest.digest('hex') };
  return Buffer.from([`${JSON.stringify(saved)}\n`, ...lines].join(''));
}

/** A result that a later version has saved must not be replaced. */
export async function isOfLaterVersion(runFolder: string): Promise<boolean> {
  const head = await readFirst(runFolder, z.object({ format: z.number() }));
  return head !== undefined && head.format > resultFormat;
}

export function readHead(runFolder: string): Promise<ResultHead | undefined> {
  return readFirst(runFolder, savedHeadSchema);
}

async function readFirst<T>(runFolder: string, schema: z.ZodMiniType<T>): Promise<T | undefined> {
  return unlessUnreadable(async () => {
    for await (const line of linesOf(join(runFolder, resultName), maxBytes)) return parsed(line, schema);
    return undefined;
  });
}

export async function readSaved(runFolder: string): Promise<RunResult | undefined> {
  return unlessUnreadable(async () => {
    const all: Buffer[] = [];
    for await (const line of linesOf(join(runFolder, resultName), maxBytes)) all.push(line);
    const [first, ...lines] = all;
    const head = first && parsed(first, savedHeadSchema);
    const digest = createHash('sha256');
    for (const line of lines) digest.update(line).update('\n');
    if (head === undefined || digest.digest('hex') !== head.sha256) return undefined;
    const [table, ...lists] = lines;
    const shared = JSON.parse(String(table)) as Table;
    const found: ResultFinding[] = [];
    for (const list of lists) {
      await setImmediate();
      for (const each of JSON.parse(String(list)) as readonly Line[]) found.push(toFinding(each, shared));
    }
    const { findings } = head.counts;
    return { head, findings: found.slice(0, findings), absent: found.slice(findings) };
  });
}

type Table = readonly (Shared & UploadedFile)[];

function toFinding({ finding, shared, uploaded: positions, ...others }: Line, table: Table): ResultFinding {
  const { run = '', file = '', ofTarget = '', uploadedFolder }: Partial<Shared> = table[shared] ?? {};
  const { index } = finding;
  const uploaded = positions.map((at) => (at === null ? undefined : table[at]));
  const locations = finding.locations.map((each, at) => ({ path: uploaded[at]?.path ?? '', ...each }));
  return {
    name: reportKey({ file, index }),
    possibleNames: [],
    uploadedPath: uploaded[0]?.path ?? '',
    quotes: locations.map(() => ''),
    ...others,
    // In lists, JSON has `null` instead of undefined.
    evidence: others.evidence?.map((each) => each ?? undefined),
    ...{ run, file, ofTarget, uploadedFolder, index, uploaded },
    finding: { id: `#${String(index + 1)}`, ...finding, locations },
  };
}

async function unlessUnreadable<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (systemCode(error) === undefined && !(error instanceof SyntaxError)) throw error;
    return undefined;
  }
}

function parsed<T>(line: Buffer, schema: z.ZodMiniType<T>): T | undefined {
  return schema.safeParse(JSON.parse(line.toString('utf8'))).data;
}

async function* linesOf(path: string, maxFileBytes: number): AsyncGenerator<Buffer, void> {
  const file = await open(path);
  try {
    let remainder = Buffer.alloc(0);
    for (let read = 0; read < maxFileBytes && remainder.length < maxBytes;) {
      const part = await file.read(Buffer.allocUnsafe(partBytes), 0, partBytes, read);
      if (part.bytesRead === 0) return;
      read += part.bytesRead;
      const text = Buffer.concat([remainder, part.buffer.subarray(0, part.bytesRead)]);
      let start = 0;
      for (let end = text.indexOf(lineEnd); end >= 0; end = text.indexOf(lineEnd, start)) {
        yield text.subarray(start, end);
        start = end + 1;
      }
      remainder = text.subarray(start);
    }
  } finally {
    await file.close();
  }
}

const detailsHeadSchema = z.object({ file: z.string() });

/** The details have a hash instead of a schema. */
const detailsLineSchema = z.tuple([z.number(), z.string(), z.record(z.string(), z.unknown())]);

function hashOf(details: object): string {
  return hash('sha256', JSON.stringify(details), 'hex').slice(0, 16);
}

export async function writeDetails(
  runFolder: string,
  file: string,
  reported: readonly ReportedFinding[],
): Promise<void> {
  const lines = function* (): Generator<string, void> {
    yield `${JSON.stringify({ file })}\n`;
    for (const each of reported) {
      const { details } = splitReported(each);
      yield `${JSON.stringify([each.index, hashOf(details), details])}\n`;
    }
  };
  await writeFileAtomic(join(runFolder, detailsName), lines());
}

async function readDetails(
  runFolder: string,
  file: string,
  indexes: ReadonlySet<number>,
): Promise<ReadonlyMap<number, Details> | undefined> {
  return unlessUnreadable(async () => {
    let isOfFile = false;
    const found = new Map<number, Details>();
    for await (const line of linesOf(join(runFolder, detailsName), maxDetailsBytes)) {
      isOfFile ||= parsed(line, detailsHeadSchema)?.file === file;
      if (!isOfFile) return undefined;
      if (!indexes.has(Number.parseInt(line.toString('latin1', 1, 12), 10))) continue;
      const [index = 0, saved = '', details = {}] = parsed(line, detailsLineSchema) ?? [];
      if (hashOf(details) !== saved) return undefined;
      found.set(index, details as unknown as Details);
      if (found.size === indexes.size) return found;
    }
    return undefined;
  });
}

export interface Detailable {
  readonly run: Run;
  readonly file: string;
  readonly finding: Finding;
}

export type Detailed<T extends readonly Detailable[]> = { readonly [At in keyof T]: T[At] & WithDetails };

/** `readReported` reads findings whose details are missing or damaged. */
export async function addDetails<const T extends readonly Detailable[]>(
  findings: T,
  runFolderOf: (runId: string) => string,
  readReported: (run: Run, file: string, indexes: ReadonlySet<number>) => Promise<readonly ReportedFinding[]>,
): Promise<Detailed<T>> {
  const known = new Map<Detailable, Details>();
  for (const some of Map.groupBy(findings, ({ run, file }) => `${run.id} ${file}`).values()) {
    const [first] = some;
    if (first === undefined) continue;
    const { run, file } = first;
    const indexes = new Set(some.map(({ finding }) => finding.index));
    const saved = await readDetails(runFolderOf(run.id), file, indexes);
    const reported = saved === undefined ? await readReported(run, file, indexes) : [];
    const details = saved ?? new Map(reported.map((each) => [each.index, splitReported(each).details]));
    for (const each of some) known.set(each, details.get(each.finding.index) ?? detailsFrom(each.finding));
  }
  return findings.map((each) => ({ ...each, details: known.get(each) })) as Detailed<T>;
}

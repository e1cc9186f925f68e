import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod/mini';
import { systemCode } from '../../errors.ts';
import { writeFileAtomic } from '../../files.ts';
import type { Run } from '../../run/state/run.ts';
import { findingsMarkOf } from '../parse/readFindings.ts';
import { BLOCK_KINDS, type Details, type Finding, type WithDetails } from '../finding.ts';

/** Lies in the folder of a run. The first line has the mark of its findings file, each further line an index and its details, as JSON. */
const fileName = 'details.jsonl';

const headSchema = z.object({ mark: z.string() });

const lineSchema = z.tuple([
  z.number(),
  z.object({
    description: z.string(),
    recommendation: z.string(),
    blocks: z.array(z.object({ kind: z.enum(BLOCK_KINDS), text: z.string() })),
    confidence: z.optional(z.string()),
  }),
]);

const lineEnd = 10;

/** By `Finding.index`. */
export type DetailsByIndex = ReadonlyMap<number, Details>;

export async function writeDetails(runFolder: string, mark: string, details: DetailsByIndex): Promise<void> {
  const lines = function* (): Generator<string, void> {
    for (const line of [{ mark }, ...details]) yield `${JSON.stringify(line)}\n`;
  };
  await writeFileAtomic(join(runFolder, fileName), lines());
}

/** Undefined if they are of another findings file than the one with this mark, or are missing or damaged for one of the indexes. */
export async function readDetails(
  runFolder: string,
  indexes: ReadonlySet<number>,
  wanted?: string,
): Promise<DetailsByIndex | undefined> {
  try {
    const mark = wanted ?? (await findingsMarkOf(runFolder));
    const content = await readFile(join(runFolder, fileName));
    const found = new Map<number, Details>();
    let start = 0;
    for (let end = content.indexOf(lineEnd); end >= 0; end = content.indexOf(lineEnd, start)) {
      const isHead = start === 0;
      const isWanted =
        isHead || indexes.has(Number.parseInt(content.toString('latin1', start + 1, start + 12), 10));
      const line: unknown = isWanted ? JSON.parse(content.toString('utf8', start, end)) : undefined;
      if (isHead && headSchema.parse(line).mark !== mark) return undefined;
      if (isWanted && !isHead) {
        const [index, details] = lineSchema.parse(line);
        found.set(index, details);
      }
      start = end + 1;
      if (found.size === indexes.size) return found;
    }
    return undefined;
  } catch (error) {
    const isDamaged = error instanceof SyntaxError || error instanceof z.core.$ZodError;
    if (isDamaged || systemCode(error) !== undefined) return undefined;
    throw error;
  }
}

/** Reads details of what a run reports. */
export type ReadDetails = (run: Run, indexes: ReadonlySet<number>) => Promise<DetailsByIndex>;

export interface Detailable {
  readonly run: Run;
  readonly finding: Finding;
}

/** One result for each finding. */
export type Detailed<T extends readonly Detailable[]> = { readonly [At in keyof T]: T[At] & WithDetails };

/** A finding whose details cannot be read any more has its summary. */
export async function addDetails<const T extends readonly Detailable[]>(
  findings: T,
  read: ReadDetails,
): Promise<Detailed<T>> {
  const byRun = new Map<string, DetailsByIndex>();
  for (const [id, some] of Map.groupBy(findings, ({ run }) => run.id)) {
    const [{ run } = {}] = some;
    const indexes = new Set(some.map(({ finding }) => finding.index));
    if (run !== undefined) byRun.set(id, await read(run, indexes));
  }
  return findings.map((each) => {
    const { finding, run } = each;
    const known = byRun.get(run.id)?.get(finding.index);
    return { ...each, details: known ?? { description: finding.summary, recommendation: '', blocks: [] } };
  }) as Detailed<T>;
}

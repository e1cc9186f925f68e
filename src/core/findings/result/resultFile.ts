import { createHash, hash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod/mini';
import { systemCode } from '../../errors.ts';
import { toMark, writeFileAtomic } from '../../files.ts';
import {
  type FoundByRun,
  headSchema,
  type ResultFinding,
  type ResultHead,
  type RunResult,
} from './result.ts';

/** Lies in the folder of a run. The first line is the head, each further line a finding, as JSON. The head alone shows whether the result is current. */
const resultName = 'result.jsonl';

const savedHeadSchema = z.extend(headSchema, {
  /** The SHA-256 of what follows the head. */
  digest: z.string(),
});

const lineEnd = 10;

export async function writeResult(runFolder: string, { head, findings, absent }: RunResult): Promise<void> {
  const toLine = (value: unknown): string => `${JSON.stringify(value)}\n`;
  const lines = [...findings, ...absent].map(toLine);
  const digest = createHash('sha256');
  for (const line of lines) digest.update(line);
  const savedHead = toLine({ ...head, digest: digest.digest('hex') });
  await writeFileAtomic(join(runFolder, resultName), [savedHead, ...lines]);
}

/** Changes whenever a result is saved. */
export function savedMarkOf(runFolder: string): string | undefined {
  return unlessUnreadable(() => toMark(statSync(join(runFolder, resultName), { bigint: true })));
}

/** A saved result whose findings are read when they are needed. */
export interface SavedResult {
  readonly head: ResultHead;
  readonly read: () => FoundByRun;
}

/** Undefined if there is none of this format, or a damaged one. */
export function readSaved(runFolder: string): SavedResult | undefined {
  const lines = linesIn(join(runFolder, resultName));
  const saved = headIn(lines?.textAt(0) ?? '');
  if (lines === undefined || saved === undefined) return undefined;
  const { digest, ...head } = saved;
  const { findings, absent } = head.counts;
  if (lines.count !== 1 + findings + absent || lines.digest() !== digest) return undefined;
  const read = (): FoundByRun => {
    const all = Array.from({ length: findings + absent }, (_, at) => toFinding(lines.textAt(at + 1)));
    return { findings: all.slice(0, findings), absent: all.slice(findings) };
  };
  return { head, read };
}

interface Lines {
  readonly count: number;
  readonly textAt: (line: number) => string;
  /** Of all lines but the first. */
  readonly digest: () => string;
}

/** Undefined for a file that cannot be read. */
function linesIn(file: string): Lines | undefined {
  const content = unlessUnreadable(() => readFileSync(file));
  if (content === undefined) return undefined;
  const ends: number[] = [];
  for (let at = content.indexOf(lineEnd); at >= 0; at = content.indexOf(lineEnd, at + 1)) ends.push(at);
  const textAt = (line: number): string => content.toString('utf8', (ends[line - 1] ?? -1) + 1, ends[line]);
  const digest = (): string => hash('sha256', content.subarray((ends[0] ?? -1) + 1), 'hex');
  return { count: ends.length, textAt, digest };
}

function unlessUnreadable<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    return undefined;
  }
}

function headIn(text: string): z.infer<typeof savedHeadSchema> | undefined {
  try {
    return savedHeadSchema.safeParse(JSON.parse(text)).data;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function toFinding(text: string): ResultFinding {
  const read = JSON.parse(text) as ResultFinding;
  // JSON has `null` in place of undefined members of lists.
  const sent = read.sent.map((spot) => spot ?? undefined);
  const evidence = read.evidence?.map((each) => each ?? undefined);
  return { ...read, sent, evidence };
}

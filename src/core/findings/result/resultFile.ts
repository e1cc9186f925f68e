import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { systemCode } from '../../errors.ts';
import { writeFileAtomic } from '../../files.ts';
import type { Identity } from '../identity.ts';
import {
  addLongTexts,
  headSchema,
  longTextsOf,
  type LongTexts,
  type ResultFinding,
  type ResultHead,
  type RunResult,
  toBrief,
} from './result.ts';

/**
 * In a run's folder: lines of JSON, the head first: whether a result is current shows without the others. Two lines for each finding, since the second,
 * with its long texts, is seldom read.
 */
const resultName = 'result.jsonl';

const lineEnd = 10;

export async function writeResult(runFolder: string, result: RunResult): Promise<void> {
  await writeFileAtomic(join(runFolder, resultName), linesOf(result));
}

function* linesOf({ head, findings, absent }: RunResult): Generator<string> {
  yield `${JSON.stringify(head)}\n`;
  for (const finding of [...findings, ...absent])
    yield `${JSON.stringify(toLine(toBrief(finding)))}\n${JSON.stringify(longTextsOf(finding) ?? null)}\n`;
}

/** A saved result whose findings are read when they are needed. */
export interface SavedResult {
  readonly head: ResultHead;
  /** In the order of the file; the findings that are not reported follow. */
  readonly read: () => Iterable<SavedFinding>;
}

interface SavedFinding {
  readonly brief: ResultFinding;
  /** With all texts that the result has. */
  readonly whole: () => ResultFinding;
}

/** Undefined if there is none of this format, or a damaged one. */
export function readSaved(runFolder: string): SavedResult | undefined {
  const content = contentOf(join(runFolder, resultName));
  if (content === undefined) return undefined;
  const ends = lineEndsIn(content);
  const textAt = (line: number): string => content.toString('utf8', (ends[line - 1] ?? -1) + 1, ends[line]);
  const head = headIn(ends.length === 0 ? '' : textAt(0));
  if (head === undefined || ends.length !== 1 + 2 * (head.counts.findings + head.counts.absent))
    return undefined;
  const read = function* (): Generator<SavedFinding, void> {
    for (let line = 1; line < ends.length; line += 2) {
      const brief = toFinding(textAt(line), head.runs);
      const longTexts = (): LongTexts | null => JSON.parse(textAt(line + 1)) as LongTexts | null;
      yield { brief, whole: () => addLongTexts(brief, longTexts() ?? undefined) };
    }
  };
  return { head, read };
}

/** With all texts, unless it is to be brief, which takes half of the time. */
export function toResult({ head, read }: SavedResult, { isBrief = false } = {}): RunResult {
  const all = Array.from(read(), ({ brief, whole }) => (isBrief ? brief : whole()));
  const { findings } = head.counts;
  return { head, findings: all.slice(0, findings), absent: all.slice(findings) };
}

function contentOf(file: string): Buffer | undefined {
  try {
    return readFileSync(file);
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    return undefined;
  }
}

function lineEndsIn(content: Buffer): readonly number[] {
  const ends: number[] = [];
  for (let at = content.indexOf(lineEnd); at >= 0; at = content.indexOf(lineEnd, at + 1)) ends.push(at);
  return ends;
}

function headIn(text: string): ResultHead | undefined {
  try {
    return headSchema.safeParse(JSON.parse(text)).data;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** As it is written: the table of runs is in the head, once. */
type IdentityLine = Omit<Identity, 'elsewhere'> & { readonly at?: readonly number[] | undefined };

function toLine(finding: ResultFinding): unknown {
  return { ...finding, sameAs: finding.sameAs.map(withoutRuns), likely: finding.likely.map(withoutRuns) };
}

function withoutRuns({ elsewhere, ...identity }: Identity): IdentityLine {
  return { ...identity, at: elsewhere?.at };
}

function toFinding(text: string, runs: readonly string[]): ResultFinding {
  const read = JSON.parse(text) as Omit<ResultFinding, 'sameAs' | 'likely'> & {
    readonly sameAs: readonly IdentityLine[];
    readonly likely: readonly IdentityLine[];
  };
  const withRuns = ({ at, ...identity }: IdentityLine): Identity =>
    at === undefined ? identity : { ...identity, elsewhere: { runs, at } };
  // JSON has `null` in place of undefined members of lists.
  const sent = read.sent.map((spot) => spot ?? undefined);
  const evidence = read.evidence?.map((each) => each ?? undefined);
  const { sameAs, likely } = read;
  return { ...read, sent, evidence, sameAs: sameAs.map(withRuns), likely: likely.map(withRuns) };
}

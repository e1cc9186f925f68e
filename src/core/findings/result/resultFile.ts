import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod/mini';
import { AssessmentError, systemCode } from '../../errors.ts';
import { toMark, writeFileAtomic } from '../../files.ts';
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

/** Lies in the folder of a run. The first line is the head, each further line a brief finding, as JSON. The head alone shows whether the result is current. */
const resultName = 'result.jsonl';

/** Lies beside the result. Each line has the long texts of one finding, in the order of the result; null for a finding that is saved without them. */
const textsName = 'texts.jsonl';

const savedHeadSchema = z.extend(headSchema, {
  /** `toMark` of the texts file. */
  textsMark: z.string(),
});

const lineEnd = 10;

export async function writeResult(runFolder: string, { head, findings, absent }: RunResult): Promise<void> {
  const all = [...findings, ...absent];
  const texts = all.map((finding) => longTextsOf(finding) ?? null);
  const textsMark = await writeFileAtomic(join(runFolder, textsName), linesOf(texts));
  const briefs = all.map((finding) => toLine(toBrief(finding)));
  await writeFileAtomic(join(runFolder, resultName), linesOf([{ ...head, textsMark }, ...briefs]));
}

function* linesOf(values: readonly unknown[]): Generator<string, void> {
  for (const value of values) yield `${JSON.stringify(value)}\n`;
}

/** A saved result whose findings are read when they are needed. */
export interface SavedResult {
  readonly head: ResultHead;
  /** True if the long texts can be read, too. */
  readonly hasTexts: boolean;
  /** Findings that the run reports, in the order of its file; then those that only earlier runs report. */
  readonly read: () => Iterable<SavedFinding>;
}

interface SavedFinding {
  readonly brief: ResultFinding;
  /** Also with its long texts. Throws `storage` if another window has replaced these. */
  readonly whole: () => ResultFinding;
}

/** Undefined if there is none of this format, or a damaged one. */
export function readSaved(runFolder: string): SavedResult | undefined {
  const lines = linesIn(join(runFolder, resultName));
  const saved = headIn(lines?.textAt(0) ?? '');
  if (lines === undefined || saved === undefined) return undefined;
  const { textsMark, ...head } = saved;
  if (lines.count !== 1 + head.counts.findings + head.counts.absent) return undefined;
  const textsFile = join(runFolder, textsName);
  const hasTexts = (): boolean =>
    unlessUnreadable(() => toMark(statSync(textsFile, { bigint: true }))) === textsMark;
  let texts: Lines | undefined;
  const textsAt = (position: number): LongTexts | undefined => {
    texts ??= hasTexts() ? linesIn(textsFile) : undefined;
    if (texts === undefined) throw new AssessmentError('storage', { subject: textsFile, detail: 'EBUSY' });
    return (JSON.parse(texts.textAt(position)) as LongTexts | null) ?? undefined;
  };
  const read = function* (): Generator<SavedFinding, void> {
    for (let line = 1; line < lines.count; line += 1) {
      const brief = toFinding(lines.textAt(line), head.runs);
      yield { brief, whole: () => addLongTexts(brief, textsAt(line - 1)) };
    }
  };
  return { head, hasTexts: hasTexts(), read };
}

/** Brief findings are read in less than half of the time. Otherwise throws what `whole` throws. */
export function toResult({ head, read }: SavedResult, { isBrief = false } = {}): RunResult {
  const all = Array.from(read(), ({ brief, whole }) => (isBrief ? brief : whole()));
  const { findings } = head.counts;
  return { head, findings: all.slice(0, findings), absent: all.slice(findings) };
}

interface Lines {
  readonly count: number;
  readonly textAt: (line: number) => string;
}

/** Undefined for a file that cannot be read. */
function linesIn(file: string): Lines | undefined {
  const content = unlessUnreadable(() => readFileSync(file));
  if (content === undefined) return undefined;
  const ends: number[] = [];
  for (let at = content.indexOf(lineEnd); at >= 0; at = content.indexOf(lineEnd, at + 1)) ends.push(at);
  const textAt = (line: number): string => content.toString('utf8', (ends[line - 1] ?? -1) + 1, ends[line]);
  return { count: ends.length, textAt };
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

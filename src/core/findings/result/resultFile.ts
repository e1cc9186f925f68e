import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { systemCode } from '../../errors.ts';
import { writeFileAtomic } from '../../files.ts';
import type { Identity } from '../identity.ts';
import {
  type FoundByRun,
  headSchema,
  type ResultFinding,
  type ResultHead,
  type RunResult,
} from './result.ts';

/** Lies in the folder of a run. The first line is the head, each further line a finding, as JSON. The head alone shows whether the result is current. */
const resultName = 'result.jsonl';

const lineEnd = 10;

export async function writeResult(runFolder: string, { head, findings, absent }: RunResult): Promise<void> {
  const lines = function* (): Generator<string, void> {
    yield `${JSON.stringify(head)}\n`;
    for (const finding of [...findings, ...absent]) yield `${JSON.stringify(toLine(finding))}\n`;
  };
  await writeFileAtomic(join(runFolder, resultName), lines());
}

/** A saved result whose findings are read when they are needed. */
export interface SavedResult {
  readonly head: ResultHead;
  readonly read: () => FoundByRun;
}

/** Undefined if there is none of this format, or a damaged one. */
export function readSaved(runFolder: string): SavedResult | undefined {
  const lines = linesIn(join(runFolder, resultName));
  const head = headIn(lines?.textAt(0) ?? '');
  if (lines === undefined || head === undefined) return undefined;
  const { findings, absent } = head.counts;
  if (lines.count !== 1 + findings + absent) return undefined;
  const read = (): FoundByRun => {
    const all = Array.from({ length: findings + absent }, (_, at) =>
      toFinding(lines.textAt(at + 1), head.runs),
    );
    return { findings: all.slice(0, findings), absent: all.slice(findings) };
  };
  return { head, read };
}

interface Lines {
  readonly count: number;
  readonly textAt: (line: number) => string;
}

/** Undefined for a file that cannot be read. */
function linesIn(file: string): Lines | undefined {
  try {
    const content = readFileSync(file);
    const ends: number[] = [];
    for (let at = content.indexOf(lineEnd); at >= 0; at = content.indexOf(lineEnd, at + 1)) ends.push(at);
    const textAt = (line: number): string => content.toString('utf8', (ends[line - 1] ?? -1) + 1, ends[line]);
    return { count: ends.length, textAt };
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    return undefined;
  }
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

import { hash } from 'node:crypto';
import * as z from 'zod/mini';
import { AssessmentError } from '../../errors.ts';
import { parseJson, type TriageEntry } from './triage.ts';

/** What became of a shared decision on this machine, and when (wall-clock milliseconds). */
export interface Answer {
  readonly as: 'made' | 'accepted' | 'refused';
  readonly at: number;
}

/** The answers of this machine to the decisions in a folder. */
export interface Acceptance {
  /** By `digestOf` the decision's file. */
  readonly answers: ReadonlyMap<string, Answer>;
  /** The git remote whose later decisions are accepted when they arrive. */
  readonly laterFrom?: string | undefined;
}

/** A file of one decision; `entry` is undefined when it holds none. */
export interface DecisionFile {
  readonly digest: string;
  readonly entry: TriageEntry | undefined;
}

/** A decision that came with the folder, and that nobody has answered here: it hides nothing. */
export interface Proposal {
  readonly file: string;
  readonly digest: string;
  readonly entry: TriageEntry;
}

/** The acceptance of a folder that nothing was answered about. */
export const noAcceptance: Acceptance = { answers: new Map() };

const acceptanceSchema = z.object({
  version: z.literal(1),
  laterFrom: z.optional(z.string()),
  answers: z.array(
    z.object({ sha256: z.string(), as: z.enum(['made', 'accepted', 'refused']), at: z.number() }),
  ),
});

/** SHA-256 of a decision's file. Line ends do not count, since git may change them at checkout. */
export function digestOf(text: string): string {
  return hash('sha256', text.replaceAll('\r\n', '\n'), 'hex');
}

/** Sorts decisions, by the names of their files, into those that count and the proposals. None counts as made later than it was accepted. */
export function sortDecisions(
  files: ReadonlyMap<string, DecisionFile>,
  { answers }: Acceptance,
): { readonly counting: ReadonlyMap<string, TriageEntry>; readonly proposals: readonly Proposal[] } {
  const counting = new Map<string, TriageEntry>();
  const proposals: Proposal[] = [];
  for (const [file, { digest, entry }] of files) {
    const answer = answers.get(digest);
    if (entry === undefined || answer?.as === 'refused') continue;
    if (answer === undefined) proposals.push({ file, digest, entry });
    else counting.set(file, entry.at <= answer.at ? entry : { ...entry, at: answer.at });
  }
  return { counting, proposals };
}

/** The acceptance with one more answer to each of these digests. */
export function withAnswers(
  { answers, laterFrom }: Acceptance,
  digests: Iterable<string>,
  answer: Answer,
): Acceptance {
  return {
    answers: new Map([...answers, ...[...digests].map((each) => [each, answer] as const)]),
    laterFrom,
  };
}

/** The acceptance without any answer to decisions of others: all of them are proposals again. */
export function withdrawn({ answers }: Acceptance): Acceptance {
  return { answers: new Map([...answers].filter(([, { as }]) => as === 'made')) };
}

/** Reads an acceptance file. Throws `triageDamaged`. */
export function parseAcceptance(text: string, path: string): Acceptance {
  const read = acceptanceSchema.safeParse(parseJson(text));
  if (!read.success) throw new AssessmentError('triageDamaged', { subject: path });
  const { answers, laterFrom } = read.data;
  return { answers: new Map(answers.map(({ sha256, as, at }) => [sha256, { as, at }])), laterFrom };
}

/** The text of an acceptance file. */
export function formatAcceptance({ answers, laterFrom }: Acceptance): string {
  const listed = [...answers].map(([sha256, { as, at }]) => ({ sha256, as, at }));
  return JSON.stringify({ version: 1, laterFrom, answers: listed });
}

import { hash } from 'node:crypto';
import * as z from 'zod/mini';
import { AssessmentError } from '../../errors.ts';
import { parseJson, type TriageEntry } from './triage.ts';

/** How this machine answered a shared decision, and when (wall-clock milliseconds). */
export interface Answer {
  readonly as: 'made' | 'accepted' | 'refused';
  readonly at: number;
}

export interface Acceptance {
  /** By `digestOf` of the decision's file. */
  readonly answers: ReadonlyMap<string, Answer>;
  /** The Git remote whose later decisions are accepted on arrival. */
  readonly laterFrom?: string | undefined;
}

/** A file with one decision; `entry` is undefined if it has none. */
export interface DecisionFile {
  readonly digest: string;
  readonly entry: TriageEntry | undefined;
}

/** A decision of somebody else that nobody has answered on this machine: it hides nothing. */
export interface Proposal {
  readonly file: string;
  readonly digest: string;
  readonly entry: TriageEntry;
}

export const noAcceptance: Acceptance = { answers: new Map() };

const acceptanceSchema = z.object({
  version: z.literal(1),
  laterFrom: z.optional(z.string()),
  answers: z.array(
    z.object({ sha256: z.string(), as: z.enum(['made', 'accepted', 'refused']), at: z.number() }),
  ),
});

/** SHA-256 of a decision's file. Line ends don't count, since Git may change them at checkout. */
export function digestOf(text: string): string {
  return hash('sha256', text.replaceAll('\r\n', '\n'), 'hex');
}

/** Splits decisions, by file name, into those that count and proposals. A decision dated after its acceptance counts as made at the acceptance. */
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

export function withAnswers(
  { answers, laterFrom }: Acceptance,
  digests: Iterable<string>,
  answer: Answer,
): Acceptance {
  const added = [...digests].map((digest) => [digest, answer] as const);
  return { answers: new Map([...answers, ...added]), laterFrom };
}

/** Keeps only decisions made on this machine: all others become proposals. */
export function withoutAccepted({ answers }: Acceptance): Acceptance {
  return { answers: new Map([...answers].filter(([, { as }]) => as === 'made')) };
}

/** Throws `triageDamaged`. */
export function parseAcceptance(text: string, path: string): Acceptance {
  const read = acceptanceSchema.safeParse(parseJson(text));
  if (!read.success) throw new AssessmentError('triageDamaged', { subject: path });
  const { answers, laterFrom } = read.data;
  return { answers: new Map(answers.map(({ sha256, as, at }) => [sha256, { as, at }])), laterFrom };
}

export function formatAcceptance({ answers, laterFrom }: Acceptance): string {
  const listed = [...answers].map(([sha256, { as, at }]) => ({ sha256, as, at }));
  return JSON.stringify({ version: 1, laterFrom, answers: listed });
}

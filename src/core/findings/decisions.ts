import * as z from 'zod/mini';
import { TRIAGE_STATES, type TriageDecision } from './triage.ts';

const decisionSchema = z.object({
  fingerprint: z.string().check(z.maxLength(256)),
  state: z.enum(TRIAGE_STATES),
  note: z.string().check(z.maxLength(10_000)),
  at: z.number(),
});

/** A decision that came with findings, and which finding it is about. */
export type Decision = z.infer<typeof decisionSchema> & TriageDecision;

/** The decisions in an untrusted list; what is none is left out. */
export function readDecisions(list: readonly unknown[]): readonly Decision[] {
  return list.flatMap((entry) => {
    const read = decisionSchema.safeParse(entry);
    return read.success ? [read.data] : [];
  });
}

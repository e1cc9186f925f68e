import * as z from 'zod/mini';
import type { ShownFinding } from '../shownFinding.ts';
import { isUndecided, TRIAGE_STATES, type TriageDecision } from './triage.ts';

const decisionSchema = z.object({
  index: z.int().check(z.minimum(0)),
  state: z.enum(TRIAGE_STATES),
  note: z.string().check(z.maxLength(10_000)),
  at: z.number(),
});

/** A decision that came with findings, and the position of its finding in their file: equal code in two folders is two findings. */
export type Decision = z.infer<typeof decisionSchema> & TriageDecision;

/** The decisions in an untrusted list; what is none is left out. */
export function readDecisions(list: readonly unknown[]): readonly Decision[] {
  return list.flatMap((entry) => {
    const read = decisionSchema.safeParse(entry);
    return read.success ? [read.data] : [];
  });
}

/** The findings that decisions came for and that nobody decided about here, by state and note. */
export function undecidedBy(
  decisions: readonly Decision[],
  all: readonly ShownFinding[],
): readonly { readonly decision: Decision; readonly shown: readonly ShownFinding[] }[] {
  const byIndex = new Map(decisions.map((decision) => [decision.index, decision]));
  const groups = new Map<string, { decision: Decision; shown: ShownFinding[] }>();
  for (const shown of all) {
    const decision = byIndex.get(shown.finding.index);
    if (decision === undefined || !isUndecided(shown.triage)) continue;
    const key = JSON.stringify([decision.state, decision.note]);
    const group = groups.get(key) ?? { decision, shown: [] };
    group.shown.push(shown);
    groups.set(key, group);
  }
  return [...groups.values()];
}

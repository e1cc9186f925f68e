import * as z from 'zod/mini';
import { decisionFolders, type ShownFinding } from '../shownFinding.ts';
import { isUndecided, TRIAGE_STATES, type TriageDecision } from './triage.ts';
import type { TriageEntry } from './triageBook.ts';
import type { DecisionsByFolder } from './triageStore.ts';

/** Later times are written in more digits, which files of decisions do not take. */
const maxTime = Date.parse('9999-12-31T00:00:00Z');

const decisionSchema = z.object({
  index: z.int().check(z.minimum(0)),
  state: z.enum(TRIAGE_STATES),
  note: z.string().check(z.maxLength(10_000)),
  at: z.number().check(z.minimum(0), z.maximum(maxTime)),
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

/** Decisions that came with findings, for those about which nobody decided here, as files of decisions hold them; and for how many findings. */
export function undecidedBy(
  decisions: readonly Decision[],
  all: readonly ShownFinding[],
): { readonly byFolder: DecisionsByFolder; readonly count: number } {
  const byIndex = new Map(decisions.map((decision) => [decision.index, decision]));
  const byFolder = new Map<string, TriageEntry[]>();
  let count = 0;
  for (const shown of all) {
    const decision = byIndex.get(shown.finding.index);
    if (decision === undefined || !isUndecided(shown.triage)) continue;
    count += 1;
    const { state, note, at } = decision;
    const { finding, identity, places } = shown;
    const path = places[0]?.path ?? finding.places[0]?.path ?? '';
    for (const folder of decisionFolders(shown)) {
      const entries = byFolder.get(folder) ?? [];
      entries.push({ identity, state, note, at, path });
      byFolder.set(folder, entries);
    }
  }
  return { byFolder, count };
}

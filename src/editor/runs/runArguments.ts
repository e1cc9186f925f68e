import { AssessmentError } from '../../core/errors.ts';
import type { Run } from '../../core/run/state/run.ts';
import type { RunStore } from '../../core/run/disk/runStore.ts';
import type { RunsNode } from './runsView.ts';

/** The run that a row or a notification speaks of; undefined where none is spoken of. Throws `runGone` for one that is not in the list any more: what was meant for it must not befall another. */
export function runOf(node: unknown, runs: RunStore): Run | undefined {
  const id = idOf(node);
  if (id === undefined) return undefined;
  const run = runs.get(id);
  if (run === undefined) throw new AssessmentError('runGone');
  return run;
}

/** The runs of the rows that a menu was called on: all that are selected, else the one that was clicked. */
export function runsOf([clicked, selected]: readonly unknown[], runs: RunStore): readonly Run[] {
  const nodes = Array.isArray(selected) && selected.length > 0 ? (selected as unknown[]) : [clicked];
  return nodes.flatMap((node) => runs.get(idOf(node) ?? '') ?? []);
}

function idOf(node: unknown): string | undefined {
  const candidate = node as RunsNode | undefined;
  return candidate?.kind === 'run' ? candidate.id : undefined;
}

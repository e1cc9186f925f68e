import type { Run } from '../core/run/run.ts';
import type { RunStore } from '../core/run/runStore.ts';
import type { RunsNode } from './runsView.ts';

/** The run that a row or a notification speaks of. */
export function runOf(node: unknown, runs: RunStore): Run | undefined {
  const candidate = node as RunsNode | undefined;
  return candidate?.kind === 'run' ? runs.get(candidate.id) : undefined;
}

/** The runs of the rows that a menu was called on: all that are selected, else the one that was clicked. */
export function runsOf([clicked, selected]: readonly unknown[], runs: RunStore): readonly Run[] {
  const nodes = Array.isArray(selected) && selected.length > 0 ? (selected as unknown[]) : [clicked];
  return nodes.flatMap((node) => runOf(node, runs) ?? []);
}

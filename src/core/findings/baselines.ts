import type { Logger } from '../ports.ts';
import type { Run } from '../run/run.ts';
import type { RunStore } from '../run/runStore.ts';
import { baselineAmong, type ChangeCounts, countChanges, type FindingName, nameOf } from './compare.ts';
import { readFindingNames } from './readRun.ts';
import type { ShownRun } from './shownFinding.ts';

/** In how many findings a run differs from the one before it. */
export interface Changes extends ChangeCounts {
  readonly baseline: Run;
}

/** The runs before others, and what they found: what those are compared with. */
export class Baselines {
  readonly #runs: RunStore;
  readonly #log: Logger;

  constructor(deps: { runs: RunStore; log: Logger }) {
    this.#runs = deps.runs;
    this.#log = deps.log;
  }

  /** The run with all findings before a run, of the same folders; none for or among findings of unknown origin. */
  of(run: Run): Run | undefined {
    return baselineAmong(this.#runs.all(), run);
  }

  /** What was found before a run, by the run before it or by another one; undefined where there is nothing to compare. */
  async namesBefore(run: Run, baseline = this.of(run)): Promise<readonly FindingName[] | undefined> {
    if (baseline === undefined) return undefined;
    try {
      return await readFindingNames(baseline, this.#runs.folderOf(baseline.id));
    } catch (error) {
      this.#log.warn(`Run ${run.id} cannot be compared: ${String(error)}`);
      return undefined;
    }
  }

  /** How a run as it was read differs from the run before; undefined where there is nothing to compare. */
  async changesOf({ run, shown, failure }: ShownRun): Promise<Changes | undefined> {
    const baseline = this.of(run);
    if (baseline === undefined || failure !== undefined) return undefined;
    const before = await this.namesBefore(run, baseline);
    return before && { baseline, ...countChanges(run, shown.map(nameOf), before) };
  }
}

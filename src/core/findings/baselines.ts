import type { Logger } from '../ports.ts';
import type { Run } from '../run/state/run.ts';
import type { RunStore } from '../run/disk/runStore.ts';
import { baselineAmong, type ChangeCounts, countChanges, type FindingName } from './compare.ts';
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
  readonly #workerFile: string | URL;

  constructor(deps: { runs: RunStore; log: Logger; workerFile: string | URL }) {
    this.#runs = deps.runs;
    this.#log = deps.log;
    this.#workerFile = deps.workerFile;
  }

  /** The run with all findings before a run, of the same folders; none for or among findings of unknown origin. */
  of(run: Run): Run | undefined {
    return baselineAmong(this.#runs.all(), run);
  }

  /** What was found before a run, by the run before it or by another one; undefined where there is nothing to compare. */
  async namesBefore(run: Run, baseline = this.of(run)): Promise<readonly FindingName[] | undefined> {
    if (baseline === undefined) return undefined;
    try {
      return await readFindingNames(baseline, this.#runs.folderOf(baseline.id), this.#workerFile);
    } catch (error) {
      this.#log.warn(`Run ${run.id} cannot be compared: ${String(error)}`);
      return undefined;
    }
  }

  /** How a run as it was read differs from the run before; undefined where there is nothing to compare. */
  async changesOf({ run, shown, cut, failure }: ShownRun): Promise<Changes | undefined> {
    const baseline = this.of(run);
    if (baseline === undefined || failure !== undefined) return undefined;
    const before = await this.namesBefore(run, baseline);
    return before && { baseline, ...countChanges(run, shown, before, cut) };
  }
}

import { join } from 'node:path';
import { utf8Only } from '../../../src/core/findings/location/uploadedFiles.ts';
import { createMemory } from '../../../src/core/findings/result/readResult.ts';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import {
  countTrend,
  maxTrendRuns,
  runsOfTrend,
  traceTrend,
} from '../../../src/core/findings/result/trend.ts';
import { RunStore } from '../../../src/core/run/disk/runStore.ts';
import { silent } from '../../silentLog.ts';
import { parseWorker } from '../../unit/findings/parse/bundledWorker.ts';
import type { Row } from '../rows.ts';
import { addLaterRuns, makeRun } from './findingsCase.ts';

const count = 1_000;
const clock = { now: () => Date.now(), monotonic: () => performance.now(), sleep: () => Promise.resolve() };

/**
 * Measures from 24 runs of 1,000 findings on the disk, of which each misses some others, to the
 * rows of their trend.
 */
export async function measureTrend(scratch: string): Promise<Row[]> {
  const root = join(scratch, 'trend');
  makeRun(root, count);
  const stored = join(root, 'runs');
  addLaterRuns(stored, maxTrendRuns - 1);
  const runs = new RunStore(stored, { clock, log: silent });
  await runs.reload();
  const [of] = runs.all();
  if (of === undefined || runs.all().length !== maxTrendRuns) throw new Error('not all runs are there');
  const trace = (): ReturnType<typeof traceTrend> =>
    traceTrend(
      runsOfTrend(runs.all(), of),
      { runs, workerFile: parseWorker, encodings: () => utf8Only, memory: createMemory() },
      { onRun: () => undefined, signal: new AbortController().signal },
    );
  // Works out and saves the results.
  await trace();
  const delay = monitorEventLoopDelay({ resolution: 5 });
  delay.enable();
  const start = performance.now();
  const traced = await trace();
  countTrend(traced, { get: () => undefined, byFingerprint: () => undefined });
  const ours = performance.now() - start;
  delay.disable();
  const corpus = `${maxTrendRuns} runs of ${count} findings`;
  return [
    { what: 'trend: results to rows', corpus, unit: 'ms', ours, target: { atMost: 5_000 } },
    { what: 'event loop, longest delay', corpus, unit: 'ms', ours: delay.max / 1e6, target: { atMost: 200 } },
  ];
}

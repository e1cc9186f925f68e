/**
 * This child process runs a part of the torture test: it receives seeds by message, and sends one
 * outcome for each.
 */
import { join } from 'node:path';
import type { Scope } from '../unit/run/tempFolder.ts';
import { setUpFixture } from '../unit/run/runWindow.ts';
import { playPlan } from './faultRun.ts';
import { killOnce } from './kill.ts';
import { planOf } from './plan.ts';
import { soak } from './soak.ts';

export type Job =
  | { readonly part: 'faults' | 'kills'; readonly seeds: readonly number[] }
  | { readonly part: 'soak'; readonly days: number };

export interface Outcome {
  readonly seed: number;
  readonly state: string;
  readonly problems: readonly string[];
}

/** A service gets so many plans, because it keeps all requests in memory. */
const plansPerFixture = 50;
const workerFile = join(import.meta.dirname, '../../dist/archiveWorker.cjs');

const unhandled: string[] = [];
process.on('unhandledRejection', (reason) => unhandled.push(`unhandled rejection: ${String(reason)}`));
process.on('warning', (warning) => unhandled.push(`warning: ${warning.message}`));
process.once('disconnect', () => process.exit(1));
process.once('message', (message) => {
  void work(message as Job).then(() => process.exit());
});

async function work(job: Job): Promise<void> {
  if (job.part === 'soak') await report(0, (scope) => soak(scope, job, workerFile));
  else if (job.part === 'kills')
    for (const seed of job.seeds) await report(seed, (scope) => killOnce(scope, seed));
  else
    for (const seeds = [...job.seeds]; seeds.length > 0;)
      await inScope(async (shared) => {
        const fixture = await setUpFixture(shared);
        let state = '';
        // The next plan must not see the remains of a failed one.
        for (let played = 0; played < plansPerFixture && state !== 'thrown'; played += 1) {
          const seed = seeds.shift();
          if (seed === undefined) return;
          state = await report(seed, (scope) => playPlan(scope, fixture, planOf(seed), workerFile));
        }
      });
}

async function report(seed: number, live: (scope: Scope) => Promise<Omit<Outcome, 'seed'>>): Promise<string> {
  const outcome = await inScope(live).catch((error: unknown) => ({
    state: 'thrown',
    problems: [error instanceof Error ? (error.stack ?? error.message) : String(error)],
  }));
  process.send?.({
    seed,
    ...outcome,
    problems: [...outcome.problems, ...unhandled.splice(0)],
  } satisfies Outcome);
  return outcome.state;
}

/** Runs `act` with a scope, and its clean-ups in reverse order afterwards. */
async function inScope<T>(act: (scope: Scope) => Promise<T>): Promise<T> {
  const ends: (() => unknown)[] = [];
  try {
    return await act({ after: (end) => void ends.push(end as () => unknown) });
  } finally {
    for (const end of ends.reverse()) await end();
  }
}

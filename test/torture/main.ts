/**
 * `npm run torture [-- --faults 10000 --kills 1000 --days 7]` does in full what `npm test` does a
 * little of. A failure prints its seed; `npm run torture -- --seed N` lives that one again, and
 * `--only kills --seed N` kills that one again. It needs the build: the packaging worker.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import path from 'node:path';
import { inspect, parseArgs } from 'node:util';
import type { Job, Outcome } from './process.ts';
import { planOf } from './plan.ts';

const { values } = parseArgs({
  options: {
    faults: { type: 'string', default: '10000' },
    kills: { type: 'string', default: '1000' },
    days: { type: 'string', default: '7' },
    seed: { type: 'string' },
    only: { type: 'string' },
  },
});

const sizes = { faults: Number(values.faults), kills: Number(values.kills), soak: Number(values.days) };
type Part = keyof typeof sizes;
const isPart = (name: string): name is Part => name in sizes;
const wanted = (
  values.only?.split(',') ?? (values.seed === undefined ? Object.keys(sizes) : ['faults'])
).filter(isPart);

const temporary = await mkdtemp(path.join(tmpdir(), 'torture-'));
const env = { ...process.env, TMPDIR: temporary, NODE_COMPILE_CACHE: path.join(temporary, 'compiled') };
let failures = 0;
try {
  if (values.seed !== undefined && wanted.includes('faults'))
    console.log(inspect(planOf(Number(values.seed)), { depth: 9 }));
  for (const part of wanted) failures += await runPart(part);
} finally {
  await rm(temporary, { recursive: true, force: true, maxRetries: 3 });
}
process.exitCode = failures === 0 ? 0 : 1;

/** Runs a part on every core and prints the result; resolves to the number of failures. */
async function runPart(part: Part): Promise<number> {
  const began = performance.now();
  const jobs = part === 'soak' ? [{ part, days: sizes.soak }] : jobsOf(part);
  const ends = new Map<string, number>();
  let done = 0;
  let failed = 0;
  const note = ({ seed, state, problems }: Outcome): void => {
    done += 1;
    ends.set(state, (ends.get(state) ?? 0) + 1);
    if (problems.length > 0) failed += 1;
    for (const problem of problems) console.log(`${part}: seed ${String(seed)}: ${problem}`);
    if (done % 500 === 0) console.log(`${part}: ${String(done)} after ${seconds()} s`);
  };
  const seconds = (): string => ((performance.now() - began) / 1000).toFixed(0);
  const codes = await Promise.all(
    jobs.map(async (job) => {
      const child = fork(path.join(import.meta.dirname, 'process.ts'), [], {
        env,
        execArgv: [],
      });
      child.on('message', (outcome) => note(outcome as Outcome));
      child.send(job);
      const [code] = (await once(child, 'exit')) as [number | null];
      return code;
    }),
  );
  const broken = codes.filter((code) => code !== 0).length;
  if (broken > 0) console.log(`${part}: ${String(broken)} processes ended with an error`);
  const counts = [...ends]
    .sort(([, one], [, other]) => other - one)
    .map(([state, count]) => `${state} ${String(count)}`);
  console.log(`${part}: ${String(done)} in ${seconds()} s, ${String(failed)} failed (${counts.join(', ')})`);
  return failed + broken;
}

/** The seeds are distributed to one process per core. */
function jobsOf(part: 'faults' | 'kills'): Job[] {
  if (values.seed !== undefined) return [{ part, seeds: [Number(values.seed)] }];
  const cores = availableParallelism();
  const seeds = Array.from({ length: sizes[part] }, (_, index) => 1 + index);
  return Array.from({ length: cores }, (_, core) => ({
    part,
    seeds: seeds.filter((_seed, index) => index % cores === core),
  }));
}

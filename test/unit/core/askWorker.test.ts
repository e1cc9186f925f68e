import assert from 'node:assert/strict';
import { test } from 'node:test';
import { askWorker } from '../../../src/core/askWorker.ts';
import { hungWorker } from '../run/hungWorker.ts';
import { withPipes } from './systemSkips.ts';

const maxMs = 60_000;

function workerOf(code: string): URL {
  return new URL(`data:text/javascript,${encodeURIComponent(code)}`);
}

test('a worker that ends without a word is an error', async () => {
  await assert.rejects(askWorker({}, workerOf('process.exit(3);'), { maxMs }), {
    kind: 'workerCrashed',
    data: { detail: 'exit code 3' },
  });
});

test('a worker that runs out of memory is not one that runs out of time', async () => {
  const limitError = 'reportTooLarge';
  const greedy = workerOf('const kept = []; for (;;) kept.push(new Array(1e6).fill(0));');
  await assert.rejects(askWorker({}, greedy, { maxMs, limitError }), { kind: limitError });
  const slow = workerOf('setInterval(() => undefined, 1_000);');
  await assert.rejects(askWorker({}, slow, { maxMs: 50, limitError }), { kind: 'notInTime' });
});

test(
  'F209 a worker in a read that never returns is left behind, at its limit or at the signal',
  withPipes,
  async (t) => {
    const late = await hungWorker(t);
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const asked = askWorker({}, late.workerFile, { maxMs });
    await late.untilReading();
    t.mock.timers.tick(maxMs);
    await assert.rejects(asked, { kind: 'notInTime' });

    const cancelled = await hungWorker(t);
    const stop = new AbortController();
    const waiting = askWorker({}, cancelled.workerFile, { maxMs, signal: stop.signal });
    await cancelled.untilReading();
    stop.abort(new Error('cancelled'));
    await assert.rejects(waiting, /cancelled/);
  },
);

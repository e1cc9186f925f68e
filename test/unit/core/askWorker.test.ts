import assert from 'node:assert/strict';
import { test } from 'node:test';
import { askWorker } from '../../../src/core/askWorker.ts';

function workerOf(code: string): URL {
  return new URL(`data:text/javascript,${encodeURIComponent(code)}`);
}

test('a worker that ends without a word is an error', async () => {
  await assert.rejects(askWorker({}, workerOf('process.exit(3);')), {
    kind: 'workerCrashed',
    data: { detail: 'exit code 3' },
  });
});

test('the caller names what lack of memory or of time means', async () => {
  const options = { tooMuch: 'reportTooLarge', maxMs: 20_000 } as const;
  const greedy = workerOf('const kept = []; for (;;) kept.push(new Array(1e6).fill(0));');
  await assert.rejects(askWorker({}, greedy, options), { kind: 'reportTooLarge' });
  const slow = workerOf('setInterval(() => undefined, 1_000);');
  await assert.rejects(askWorker({}, slow, { ...options, maxMs: 50 }), { kind: 'reportTooLarge' });
});

test('a worker is not waited for once the signal is aborted', async () => {
  const ended = new AbortController();
  const answer = askWorker({}, workerOf('setInterval(() => undefined, 1_000);'), { signal: ended.signal });
  const reason = new Error('cancelled');
  ended.abort(reason);
  await assert.rejects(answer, (error) => error === reason);
});

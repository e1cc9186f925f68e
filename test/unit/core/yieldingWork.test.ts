import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answerOf, once } from '../../../src/core/yieldingWork.ts';
import { VirtualClock } from '../run/virtualClock.ts';

test('work that is done once is repeated only after a failure', async () => {
  const ends = [Promise.reject(new Error('the disk is full')), Promise.resolve('loaded')];
  ends[0]?.catch(() => undefined);
  let begun = 0;
  const load = once(() => ends[begun++]!);
  const [first, second] = await Promise.allSettled([load(), load()]);
  assert.deepEqual([first.status, second.status, begun], ['rejected', 'rejected', 1]);
  assert.deepEqual(await Promise.all([load(), load()]), ['loaded', 'loaded']);
  assert.equal(await load(), 'loaded');
  assert.equal(begun, 2);
});

test('F169 a wait for the host ends after 10 s with the name of who did not answer', async () => {
  const clock = new VirtualClock();
  const waiting = answerOf(new Promise<never>(() => undefined), 'Git', { clock });
  clock.advance(9_999);
  await Promise.resolve();
  clock.advance(1);
  await assert.rejects(waiting, { kind: 'noAnswer', data: { subject: 'Git' } });
  assert.deepEqual(clock.slept, [10_000]);
});

test('F169 an answer, a failure, and a cancellation end the wait for the host at once', async () => {
  const clock = new VirtualClock();
  assert.equal(await answerOf(Promise.resolve('answer'), 'Git', { clock }), 'answer');
  await assert.rejects(
    answerOf(Promise.reject(new Error('no repository')), 'Git', { clock }),
    /no repository/,
  );
  const stop = new AbortController();
  const waiting = answerOf(new Promise<never>(() => undefined), 'Git', { clock, signal: stop.signal });
  stop.abort();
  await assert.rejects(waiting, { name: 'AbortError' });
});

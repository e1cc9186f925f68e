import assert from 'node:assert/strict';
import { test } from 'node:test';
import { once } from '../../../src/core/yieldingWork.ts';

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

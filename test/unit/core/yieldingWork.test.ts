import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { answerOf, FolderCalls, once } from '../../../src/core/yieldingWork.ts';
import { silent } from '../../silentLog.ts';
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

/** Calls to these folders return when the test says so. */
function makeFolders({ mock: { timers } }: TestContext) {
  timers.enable({ apis: ['setTimeout'] });
  const calls = new FolderCalls(silent);
  const outstanding: { readonly folder: string; readonly answer: (value: string) => void }[] = [];
  const answered: string[] = [];
  calls.onDidAnswer((folder) => answered.push(folder));
  const ask = (folder: string): Promise<string> =>
    calls
      .ask(folder, () => new Promise<string>((answer) => outstanding.push({ folder, answer })))
      .catch((error: unknown) => (error as { kind: string }).kind);
  return {
    pass: (ms: number) => timers.tick(ms),
    answered,
    ask,
    askTimes: (count: number, folder: string) => Array.from({ length: count }, () => ask(folder)),
    underWay: () => outstanding.map(({ folder }) => folder),
    /** The oldest call to the folder returns. */
    answer: async (folder: string) => {
      const at = outstanding.findIndex((call) => call.folder === folder);
      outstanding.splice(at, 1)[0]?.answer('read');
      await setImmediate();
    },
  };
}

describe('F201 a folder that does not answer', () => {
  test('has two calls under way; the others are refused after two seconds, and later ones at once', async (t) => {
    const { pass, ask, askTimes, underWay } = makeFolders(t);
    const asked = askTimes(16, '/share');
    await setImmediate();
    assert.deepEqual(underWay(), ['/share', '/share']);
    pass(2_000);
    assert.deepEqual(new Set(await Promise.all(asked)), new Set(['noAnswer']));
    assert.equal(await ask('/share'), 'noAnswer');
    assert.deepEqual(underWay(), ['/share', '/share']);
  });

  test('leaves a turn to every other folder', async (t) => {
    const { pass, askTimes, underWay, answer } = makeFolders(t);
    const refused = askTimes(16, '/share');
    const others = askTimes(3, '/here');
    await setImmediate();
    assert.deepEqual(underWay(), ['/share', '/share', '/here']);
    pass(1_999);
    await answer('/here');
    pass(1);
    await Promise.all(refused);
    for (let left = 2; left > 0; left -= 1) {
      assert.deepEqual(underWay(), ['/share', '/share', '/here']);
      await answer('/here');
    }
    assert.deepEqual(await Promise.all(others), ['read', 'read', 'read']);
  });

  test('is asked again once a late call returns, which is said', async (t) => {
    const { pass, ask, answered, underWay, answer } = makeFolders(t);
    const first = ask('/share');
    await setImmediate();
    pass(2_000);
    assert.equal(await first, 'noAnswer');
    await answer('/share');
    assert.deepEqual(answered, ['/share']);
    const second = ask('/share');
    await setImmediate();
    assert.deepEqual(underWay(), ['/share']);
    await answer('/share');
    assert.equal(await second, 'read');
    assert.deepEqual(answered, ['/share']);
  });

  test('takes with others no more than three of the four threads, and the rest are refused meanwhile', async (t) => {
    const { pass, ask, askTimes, underWay, answer } = makeFolders(t);
    const asked = ['/one', '/two', '/three'].flatMap((folder) => askTimes(2, folder));
    await setImmediate();
    assert.deepEqual(underWay(), ['/one', '/one', '/two']);
    pass(2_000);
    assert.deepEqual(new Set(await Promise.all(asked)), new Set(['noAnswer']));
    assert.equal(await ask('/four'), 'noAnswer');
    assert.deepEqual(underWay(), ['/one', '/one', '/two']);
    await answer('/two');
    const next = ask('/four');
    await setImmediate();
    await answer('/four');
    assert.equal(await next, 'read');
  });
});

test('a call that fails gives its turn to the next', async () => {
  const calls = new FolderCalls(silent);
  const fail = () => calls.ask('/here', () => Promise.reject(new Error('EIO')));
  for (const failed of await Promise.allSettled(Array.from({ length: 5 }, fail)))
    assert.equal(failed.status, 'rejected');
  assert.equal(await calls.ask('/here', () => Promise.resolve('read')), 'read');
});

import assert from 'node:assert/strict';
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { type TestContext, test } from 'node:test';
import { FolderCalls } from '../../../../src/core/yieldingWork.ts';
import { silent } from '../../../silentLog.ts';
import { select } from '../selecting.ts';
import { plantMany, testTree } from '../trees.ts';

/** Calls back before each file system query. */
function onQuestion(t: TestContext, then: (asked: number) => void): () => number {
  const ask = fs.lstatSync;
  const asking = t.mock.method(fs, 'lstatSync', (...args: Parameters<typeof ask>) => {
    then(asking.mock.callCount() + 1);
    return ask(...args);
  });
  syncBuiltinESMExports();
  t.after(() => {
    asking.mock.restore();
    syncBuiltinESMExports();
  });
  return () => asking.mock.callCount();
}

for (const [name, cancelledAt, atMost] of [
  ['within one folder, and quickly', 1, 99],
  ['at its last file', 300, 300],
] as const) {
  test(`F29 a selection ends with the signal’s reason if it is cancelled ${name}`, async (t) => {
    const at = testTree(t);
    plantMany(
      at.root,
      Array.from({ length: 300 }, (_, index) => `f${index}`),
      '',
    );
    const controller = new AbortController();
    const reason = new Error('enough');
    const asked = onQuestion(t, (count) => {
      if (count === cancelledAt) controller.abort(reason);
    });
    await assert.rejects(select(at, { signal: controller.signal }), reason);
    assert.ok(asked() >= cancelledAt && asked() <= atMost, `${asked()} files were asked about`);
  });
}

test('F201 a folder that does not answer is not walked, and a cancel does not wait for it', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const at = testTree(t);
  const folders = new FolderCalls(silent);
  const calls: Pick<FolderCalls, 'ask'> = {
    ask: (folder) => folders.ask(folder, () => new Promise(() => undefined)),
  };
  const stop = new AbortController();
  const cancelled = select(at, { calls, signal: stop.signal });
  stop.abort();
  await assert.rejects(cancelled, { name: 'AbortError' });
  const refused = select(at, { calls });
  t.mock.timers.tick(2_000);
  await assert.rejects(refused, { kind: 'noAnswer', data: { subject: at.root } });
});

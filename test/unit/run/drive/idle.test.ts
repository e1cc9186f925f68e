import assert from 'node:assert/strict';
import fs from 'node:fs';
import promises, { mkdir, open, readFile, writeFile } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { minuteMs, pass } from '../passTime.ts';
import { openWindow, setUpFixture } from '../runWindow.ts';
import { trackRemoteRun } from '../seededRuns.ts';

const endedRuns = 1_000;

test('F175 beside 1,000 ended runs, each window with a live run makes at most 5 file-system calls a second', async (t) => {
  const fixture = await setUpFixture(t);
  const first = openWindow(t, fixture);
  const ended = await trackRemoteRun(fixture, first);
  await fixture.service.finishRun(ended.runId);
  await first.untilEnded(ended.id);
  const journal = JSON.parse(await readFile(join(fixture.root, ended.id, 'run.json'), 'utf8')) as object;
  for (let index = 0; index < endedRuns; index++) {
    const id = `20260101000000-ended${index}`;
    await mkdir(join(fixture.root, id));
    await writeFile(join(fixture.root, id, 'run.json'), JSON.stringify({ ...journal, id, runId: id }));
  }
  await first.store.reload();
  const { id } = await trackRemoteRun(fixture, first);
  const second = openWindow(t, fixture);
  await second.tracker.resume();
  assert.equal(second.store.all().length, endedRuns + 2);
  const polls = fixture.sent('/describe');
  const calls = await countCalls(t, () => pass(fixture, minuteMs));
  assert.equal(second.store.get(id)?.state, 'running');
  assert.ok(fixture.sent('/describe') > polls);
  // Both windows are in this process.
  assert.ok(calls <= 2 * 5 * 60, `${calls} calls`);
});

/**
 * Counts the calls of functions of `node:fs` and `node:fs/promises`, and of methods of file
 * handles.
 */
async function countCalls(t: TestContext, work: () => Promise<unknown>): Promise<number> {
  const handle = await open(import.meta.filename);
  const handles = Object.getPrototypeOf(handle) as object;
  await handle.close();
  let calls = 0;
  const restore: (() => void)[] = [];
  for (const functions of [fs, promises, handles] as Record<string, unknown>[])
    for (const [name, { value, configurable }] of Object.entries(
      Object.getOwnPropertyDescriptors(functions),
    )) {
      if (typeof value !== 'function' || configurable !== true || /^[A-Z]|^constructor$/.test(name)) continue;
      const { mock } = t.mock.method(
        functions as Record<string, () => unknown>,
        name,
        function (this: unknown, ...args: unknown[]) {
          calls += 1;
          return (value as (...args: unknown[]) => unknown).apply(this, args);
        },
      );
      restore.push(() => mock.restore());
    }
  syncBuiltinESMExports();
  try {
    await work();
  } finally {
    for (const undo of restore) undo();
    syncBuiltinESMExports();
  }
  return calls;
}

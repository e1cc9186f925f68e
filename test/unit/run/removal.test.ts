import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { describe, test } from 'node:test';
import { openWindow, setUpDesk } from './runWindow.ts';
import { seedUnknownRun, trackRemoteRun } from './seededRuns.ts';
import { states } from './uploads.ts';

describe('a run that is removed', () => {
  for (const [deleteSource, left] of [
    [true, 'deleted'],
    [false, 'confirmed'],
  ] as const) {
    test(`while it is unknown is gone, and its file is ${left} when deleting is set to ${String(deleteSource)}`, async (t) => {
      const desk = await setUpDesk(t);
      const window = openWindow(t, desk, { deleteSource });
      const { id } = await seedUnknownRun(desk, window);
      await desk.clock.passUntil(window.tracker.remove(id), desk.traffic);
      assert.deepEqual([states(desk), window.store.all(), await readdir(desk.root)], [[left], [], []]);
      // A confirmed file is deleted, and only where it is to stay the service is asked whether it is confirmed at all.
      const sent = [desk.sent('/delete'), desk.sent('/cancel-upload')];
      assert.deepEqual(sent, deleteSource ? [1, 0] : [0, 1]);
    });
  }

  test('after its end takes along what could not be taken off the service then', async (t) => {
    const desk = await setUpDesk(t);
    const window = openWindow(t, desk);
    const heal = desk.service.addFault({ match: { path: '/cancel-upload' }, before: { kind: 'reset' } });
    desk.service.addFault({ match: { method: 'PUT' }, before: { kind: 'reply', status: 400 } });
    const { id } = await window.start();
    assert.deepEqual(states(desk), ['reserved']);
    heal();
    await desk.clock.passUntil(window.tracker.remove(id), desk.traffic);
    assert.deepEqual([states(desk), await readdir(desk.root)], [['cancelled'], []]);
    assert.equal(desk.sent('/delete'), 0);
  });

  test('takes a file along that was confirmed without our knowing, whatever the service answers to a cancellation of it', async (t) => {
    const desk = await setUpDesk(t);
    const window = openWindow(t, desk);
    const heal = desk.service.addFault({ match: { path: '/confirm-upload' }, after: { kind: 'reset' } });
    const unknown = desk.service.addFault({
      match: { path: '/cancel-upload' },
      before: { kind: 'reply', status: 404 },
    });
    t.after(unknown);
    const run = await window.start();
    heal();
    assert.deepEqual(
      [run.state, run.targets[0]?.upload?.state, states(desk)],
      ['failed', 'deleted', ['deleted']],
    );
  });

  test('is gone although its file could not be deleted, and the log names the file', async (t) => {
    const desk = await setUpDesk(t);
    const window = openWindow(t, desk);
    const { id, targets } = await seedUnknownRun(desk, window);
    desk.service.addFault({ match: { path: '/delete' }, before: { kind: 'reply', status: 403 } });
    await desk.clock.passUntil(window.tracker.remove(id), desk.traffic);
    assert.deepEqual([states(desk), await readdir(desk.root)], [['confirmed'], []]);
    const fileId = targets[0]!.upload!.fileId;
    assert.ok(
      window.lines.some((line) => line.includes(fileId) && line.includes('could not be removed')),
      window.lines.join('\n'),
    );
  });

  test('is gone when its end cannot be noted, and the log names the file', async (t) => {
    const desk = await setUpDesk(t);
    const window = openWindow(t, desk);
    const { id, targets } = await seedUnknownRun(desk, window);
    t.mock.method(window.store, 'applyIfDue', () => Promise.reject(new Error('no space')));
    await window.tracker.remove(id);
    assert.deepEqual(await readdir(desk.root), []);
    assert.ok(window.lines.some((line) => line.includes(targets[0]!.upload!.fileId)));
  });

  test('while it is running keeps its file, which the service still needs, and is not asked about any more', async (t) => {
    const desk = await setUpDesk(t);
    const window = openWindow(t, desk);
    const run = await window.start();
    const { id } = await trackRemoteRun(desk, window);
    await window.tracker.remove(run.id);
    await window.tracker.remove(id);
    assert.deepEqual([states(desk), await readdir(desk.root)], [['confirmed', 'confirmed'], []]);
    assert.equal(window.tracker.nextCheckAt(id), undefined);
  });

  test('while it uploads leaves no reservation behind', async (t) => {
    const desk = await setUpDesk(t);
    const window = openWindow(t, desk);
    desk.service.addFault({ match: { method: 'PUT' }, before: { kind: 'stall' } });
    const stop = new AbortController();
    t.after(() => stop.abort());
    const reserved = new Promise<string>((resolve) => {
      window.store.onDidChange(({ id, targets }) => {
        if (targets[0]?.upload !== undefined) resolve(id);
      });
    });
    window.tracker.start(await window.assessment(), { signal: stop.signal }).catch(() => undefined);
    const id = await reserved;
    await desk.clock.passUntil(window.tracker.remove(id), desk.traffic);
    assert.deepEqual([states(desk), await readdir(desk.root)], [['cancelled'], []]);
  });
});

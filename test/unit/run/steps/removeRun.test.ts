import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { setImmediate } from 'node:timers/promises';
import { describe, test, type TestContext } from 'node:test';
import { storeWithoutSpaceFor } from '../hookedStore.ts';
import { openWindow, setUpWindow } from '../runWindow.ts';
import { seedUnknownRun, startRemoteRun } from '../seededRuns.ts';
import { states } from '../uploads.ts';
import { eventually } from '../../core/eventually.ts';

async function sharedUnknownRun(t: TestContext) {
  const { fixture, window } = await setUpWindow(t);
  const { id } = await seedUnknownRun(fixture, window);
  const other = openWindow(t, fixture);
  await other.store.reload();
  return { fixture, window, other, id };
}

describe('a removed run', () => {
  for (const [deleteSource, left] of [
    [true, 'deleted'],
    [false, 'confirmed'],
  ] as const) {
    test(`that was unknown is gone, and its file is ${left} if deletion is set to ${String(deleteSource)}`, async (t) => {
      const { fixture, window } = await setUpWindow(t, { deleteSource });
      const { id } = await seedUnknownRun(fixture, window);
      await fixture.passUntil(window.tracker.remove(id));
      assert.deepEqual([states(fixture), window.store.all(), await readdir(fixture.root)], [[left], [], []]);
      // A run that may still run may need its file.
      const sent = [fixture.sent('/delete'), fixture.sent('/cancel-upload')];
      assert.deepEqual(sent, deleteSource ? [1, 0] : [0, 0]);
    });
  }

  test('after its end also deletes what could not be deleted from the service before', async (t) => {
    const { fixture, window } = await setUpWindow(t);
    const heal = fixture.service.addFault({ match: { path: '/cancel-upload' }, before: { kind: 'reset' } });
    fixture.refuse({ method: 'PUT' }, 400);
    const { id } = await window.start();
    assert.deepEqual(states(fixture), ['reserved']);
    heal();
    await fixture.passUntil(window.tracker.remove(id));
    assert.deepEqual([states(fixture), await readdir(fixture.root)], [['cancelled'], []]);
    assert.equal(fixture.sent('/delete'), 0);
  });

  test('deletes a file that was confirmed without our knowledge, whatever the service answers to its cancel', async (t) => {
    const { fixture, window } = await setUpWindow(t);
    const heal = fixture.service.addFault({ match: { path: '/confirm-upload' }, after: { kind: 'reset' } });
    const unknown = fixture.refuse('/cancel-upload', 404);
    t.after(unknown);
    const run = await window.start();
    heal();
    assert.deepEqual(
      [run.state, run.targets[0]?.upload?.state, states(fixture)],
      ['failed', 'deleted', ['deleted']],
    );
  });

  test('is kept with the reason if its file cannot be deleted, until the user leaves it; the log names the file', async (t) => {
    const { fixture, window } = await setUpWindow(t);
    const { id, targets } = await seedUnknownRun(fixture, window);
    fixture.refuse('/delete', 403);
    const failure = await fixture.passUntil(window.tracker.remove(id));
    assert.equal(failure?.kind, 'forbidden');
    assert.deepEqual([window.store.get(id)?.state, await readdir(fixture.root)], ['cancelled', [id]]);
    const sent = fixture.sent('/delete');
    assert.equal(await window.tracker.remove(id, { leavesSource: true }), undefined);
    assert.deepEqual(
      [fixture.sent('/delete'), states(fixture), await readdir(fixture.root)],
      [sent, ['confirmed'], []],
    );
    const fileId = targets[0]!.upload!.fileId;
    assert.ok(
      window.lines.some((line) => line.includes(fileId) && line.includes('may still have')),
      window.lines.join('\n'),
    );
  });

  test('F127 is logged on one line if its file remains', async (t) => {
    const { fixture, window } = await setUpWindow(t);
    const seeded = await seedUnknownRun(fixture, window);
    const upload = { ...seeded.targets[0]!.upload!, fileId: 'one\n[info] two' };
    const run = { ...seeded, id: window.store.newId(), targets: [{ ...seeded.targets[0]!, upload }] };
    await window.store.create(run);
    await window.tracker.remove(run.id, { leavesSource: true });
    assert.ok(window.lines.some((line) => line.includes('these files: one [info] two')));
  });

  for (const type of ['abandoned', 'uploadRemoved'] as const)
    test(`is kept if “${type}” cannot be saved, which is the failure of the disk, not of the service`, async (t) => {
      const { fixture, window } = await setUpWindow(t, { store: storeWithoutSpaceFor(type, 1) });
      const { id } = await seedUnknownRun(fixture, window);
      await assert.rejects(fixture.passUntil(window.tracker.remove(id)), { code: 'ENOSPC' });
      assert.deepEqual(await readdir(fixture.root), [id]);
      assert.equal(await fixture.passUntil(window.tracker.remove(id)), undefined);
      assert.deepEqual([states(fixture), await readdir(fixture.root)], [['deleted'], []]);
    });

  test('is kept if it continues meanwhile, whatever the window showed', async (t) => {
    const { fixture, window, other, id } = await sharedUnknownRun(t);
    const runId = await startRemoteRun(fixture);
    await fixture.passUntil(window.tracker.giveRunId(id, runId));
    assert.equal(other.store.get(id)?.state, 'unknown');
    for (const leavesSource of [false, true])
      await assert.rejects(other.tracker.remove(id, { leavesSource }), { kind: 'changedMeanwhile' });
    assert.deepEqual([other.store.get(id)?.state, await readdir(fixture.root)], ['running', [id]]);
    assert.equal(fixture.sent('/delete'), 0);
    assert.ok(window.tracker.nextCheckAt(id) !== undefined);
  });

  test('is kept while another window dispatches it again, and the new run is known', async (t) => {
    const { fixture, window, other, id } = await sharedUnknownRun(t);
    const { promise: until, resolve } = Promise.withResolvers<undefined>();
    fixture.service.addFault({ match: { path: '/dispatch' }, after: { kind: 'hold', until } });
    const sent = window.tracker.resend(id);
    await eventually(() => fixture.sent('/dispatch') > 0, 'the dispatch is sent');
    await assert.rejects(other.tracker.remove(id), { kind: 'changedMeanwhile' });
    resolve(undefined);
    assert.equal((await fixture.passUntil(sent)).state, 'running');
    assert.deepEqual([states(fixture), await readdir(fixture.root)], [['confirmed'], [id]]);
  });

  for (const by of ['the window that uploads', 'another window'])
    test(`F176 during its upload, by ${by}, is not uploaded further, and leaves no reservation behind`, async (t) => {
      const { fixture, window } = await setUpWindow(t);
      await window.tracker.resume();
      const remover = by === 'another window' ? openWindow(t, fixture) : window;
      fixture.service.addFault({ match: { method: 'PUT' }, before: { kind: 'stall' } });
      const reserved = new Promise<string>((resolve) => {
        window.store.onDidChange(([run]) => {
          if (run?.targets[0]?.upload !== undefined) resolve(run.id);
        });
      });
      const start = window.tracker.start(await window.assessment()).catch(() => undefined);
      const id = await reserved;
      await fixture.passUntil(remover.tracker.remove(id));
      // A stalled upload lets no time pass by itself.
      const reloaded = window.store.reload().then(() => true);
      while (!(await Promise.race([reloaded, setImmediate(false)]))) fixture.clock.advance(10);
      await fixture.passUntil(start);
      assert.deepEqual([states(fixture), await readdir(fixture.root)], [['cancelled'], []]);
    });
});

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { advance } from '../../../../src/core/run/state/advance.ts';
import type { Run } from '../../../../src/core/run/state/run.ts';
import { RunStore } from '../../../../src/core/run/disk/runStore.ts';
import { stayAwake } from '../passTime.ts';
import { openWindow, setUpFixture, setUpWindow } from '../runWindow.ts';
import { runOf } from '../sampleRuns.ts';
import { silent } from '../../../silentLog.ts';

const dayMs = 24 * 3600_000;

describe('the run history', () => {
  /** The IDs of the runs left after a window opens this many days later. */
  async function leftAfter(t: TestContext, runs: readonly Run[], days: number, keep = 90): Promise<string[]> {
    const fixture = await setUpFixture(t);
    const seeded = new RunStore(fixture.root, { clock: fixture.clock, log: silent });
    for (const run of runs) await seeded.create(run);
    fixture.clock.advance(days * dayMs - fixture.clock.now());
    const window = openWindow(t, fixture, { retainLocalDays: keep });
    await fixture.passUntil(window.tracker.resume());
    await stayAwake(fixture, 25, 60);
    return window.store
      .all()
      .map(({ id }) => id)
      .sort();
  }
  const notified = (run: Run, id: string): Run => ({
    ...run,
    id,
    noticeDue: false,
    targets: [{ folder: '/x', name: 'x' }],
  });

  test('drops ended runs once they exceed the retention setting by a day of waking time', async (t) => {
    const runs = [notified(runOf.succeeded, 'a'), notified(runOf.failed, 'b')];
    assert.deepEqual(await leftAfter(t, runs, 89), ['a', 'b']);
    assert.deepEqual(await leftAfter(t, runs, 91), []);
    assert.deepEqual(await leftAfter(t, runs, 3, 2), []);
  });

  test('F98 survives a wall clock that is 91 days ahead at one start and at many', async (t) => {
    const fixture = await setUpFixture(t);
    const seeded = new RunStore(fixture.root, { clock: fixture.clock, log: silent });
    await seeded.create(notified({ ...runOf.succeeded, endedAt: fixture.clock.now() } as Run, 'a'));
    for (let start = 0; start < 30; start += 1) {
      fixture.clock.moveWall(91 * dayMs);
      const window = openWindow(t, fixture);
      await fixture.passUntil(window.tracker.resume());
      await stayAwake(fixture, 1);
      assert.deepEqual(window.store.all().map(({ id }) => id), ['a']); // prettier-ignore
      fixture.clock.moveWall(-91 * dayMs);
      await stayAwake(fixture, 1.5);
      window.tracker.dispose();
    }
  });

  test('ages by elapsed time, however many windows are open', async (t) => {
    const fixture = await setUpFixture(t);
    const seeded = new RunStore(fixture.root, { clock: fixture.clock, log: silent });
    await seeded.create(notified(runOf.succeeded, 'a'));
    for (const left of [1, 1, 0]) {
      // prettier-ignore
      const windows = [openWindow(t, fixture), openWindow(t, fixture), openWindow(t, fixture)];
      for (const { tracker } of windows) await fixture.passUntil(tracker.resume());
      // Twice this is less than a day, and three times is much more.
      await stayAwake(fixture, 11.5);
      // Any window may have removed it.
      await windows[0]!.store.reload();
      assert.equal(windows[0]!.store.all().length, left);
      for (const { tracker } of windows) tracker.dispose();
    }
  });

  test('never drops a run that still needs the user', async (t) => {
    const runs = [{ ...runOf.unknown, id: 'unknown' }, notified(runOf.succeeded, 'notified')];
    assert.deepEqual(await leftAfter(t, runs, 400), ['unknown']);
  });

  test('keeps a run with undeleted source for as long as the service may have it', async (t) => {
    const left = { ...runOf.succeeded, id: 'left', noticeDue: false };
    assert.ok(left.targets.some(({ upload }) => upload?.state === 'confirmed'));
    assert.deepEqual(await leftAfter(t, [left], 20, 2), ['left']);
    assert.deepEqual(await leftAfter(t, [left], 31, 2), []);
  });

  test('F97 keeps archives of a run without results for a week and a day of waking time, and no longer', async (t) => {
    const fixture = await setUpFixture(t);
    const seeded = new RunStore(fixture.root, { clock: fixture.clock, log: silent });
    const { targets } = runOf.succeeded;
    const [{ archive }] = targets as [(typeof targets)[number]];
    const file = join(seeded.folderOf('old'), archive!.file);
    const uploadedAt = fixture.clock.now();
    await seeded.create({
      ...runOf.succeeded,
      id: 'old',
      noticeDue: false,
      uploadedAt,
      endedAt: uploadedAt,
      exitedAt: uploadedAt,
      targets: [{ folder: '/x', name: 'x', archive }],
      artifacts: [{ name: 'findings', failure: { kind: 'timeout' } }],
    } as Run);
    await writeFile(file, '');
    const isKeptAfter = async (ms: number): Promise<boolean> => {
      fixture.clock.advance(ms);
      const window = openWindow(t, fixture);
      await fixture.passUntil(window.tracker.resume());
      return existsSync(file);
    };
    assert.deepEqual([await isKeptAfter(7 * dayMs), await isKeptAfter(1)], [true, true]);
    await stayAwake(fixture, 25);
    assert.equal(existsSync(file), false);
  });

  test('F65 keeps the archive beside a damaged journal for a week, and the journal itself', async (t) => {
    const { fixture, window } = await setUpWindow(t);
    const { id } = await window.start();
    window.tracker.dispose();
    await writeFile(join(fixture.root, id, 'run.json'), '{');
    const leftAfter = async (ms: number): Promise<string[]> => {
      fixture.clock.advance(ms);
      const next = openWindow(t, fixture);
      await fixture.passUntil(next.tracker.resume());
      await stayAwake(fixture, 25);
      next.tracker.dispose();
      const names = await readdir(join(fixture.root, id));
      return names.filter((name) => /^(archive-|run)/.test(name)).map((name) => name.replace(/-\d+$/, ''));
    };
    assert.deepEqual(await leftAfter(5 * dayMs), ['archive-0.tar.gz', 'run.json.damaged']);
    assert.deepEqual(await leftAfter(dayMs + 60_000), ['run.json.damaged']);
  });

  test('keeps the name the user gives a run, and can reset it', async (t) => {
    const { fixture, window } = await setUpWindow(t);
    await window.store.create(runOf.succeeded);
    const { id } = runOf.succeeded;
    await window.tracker.rename(id, '  Before the release  ');
    const other = openWindow(t, fixture);
    await other.store.reload();
    assert.equal(other.store.get(id)?.label, 'Before the release');
    await other.tracker.rename(id, ' ');
    assert.equal(other.store.get(id)!.label, undefined);
    assert.equal(advance(runOf.succeeded, { type: 'renamed', label: '', at: 1 }), runOf.succeeded);
  });

  test('links a retry to the failed run', async (t) => {
    const { window } = await setUpWindow(t);
    const run = await window.start({ retryOf: 'failed-one' });
    assert.deepEqual([run.retryOf, run.state], ['failed-one', 'running']);
  });
});

import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { takeLease, withJournalLock } from '../../../../src/core/run/disk/lease.ts';
import { RunStore } from '../../../../src/core/run/disk/runStore.ts';
import { deadPid } from '../deadProcess.ts';
import { runOf } from '../sampleRuns.ts';
import { tempFolder } from '../tempFolder.ts';
import { VirtualClock, watchTraffic } from '../virtualClock.ts';
import { silent } from '../../../silentLog.ts';

describe('the lock of a journal', () => {
  test('loses no event of two processes that apply events to one run at once', async (t) => {
    const root = join(await tempFolder(t), 'runs');
    const store = new RunStore(root, { clock: new VirtualClock(), log: silent });
    const { id } = runOf.running;
    await store.create(runOf.running);
    const times = 40;
    const script = join(import.meta.dirname, 'journalProcess.ts');
    const children = [1, 2].map(() => fork(script, [root, id, String(times)], { stdio: 'inherit' }));
    t.after(() => children.forEach((child) => child.kill('SIGKILL')));
    await Promise.all(children.map((child) => once(child, 'message')));
    const done = children.map((child) => once(child, 'message'));
    for (const child of children) child.send('go');
    await Promise.all(done);
    const run = await store.refresh(id);
    assert.equal(run !== undefined && 'trouble' in run && run.trouble?.times, 2 * times);
  });

  test('is held by one holder at a time, and the next one waits', async (t) => {
    const folder = join(await tempFolder(t), 'lock');
    const clock = new VirtualClock();
    const traffic = watchTraffic(t);
    let inside = 0;
    let most = 0;
    const visit = async (): Promise<void> => {
      inside += 1;
      most = Math.max(most, inside);
      await clock.sleep(100);
      inside -= 1;
    };
    const visits = Array.from({ length: 4 }, () => withJournalLock(folder, clock, visit));
    await clock.passUntil(Promise.all(visits), traffic);
    assert.equal(most, 1);
  });

  test('is renewed while it is held: nobody takes it from a holder that writes for 60 s', async (t) => {
    const folder = join(await tempFolder(t), 'lock');
    const clock = new VirtualClock();
    const traffic = watchTraffic(t);
    const held = withJournalLock(folder, clock, () => clock.sleep(60_000));
    await clock.whenAsleep();
    for (let seconds = 0; seconds < 60; seconds += 5) {
      await clock.rest(traffic);
      assert.equal(await takeLease(folder, clock), undefined, String(seconds));
      clock.advance(5_000);
    }
    await clock.passUntil(held, traffic);
    assert.ok((await takeLease(folder, clock)) !== undefined);
  });

  test('is released after an action that threw', async (t) => {
    const folder = join(await tempFolder(t), 'lock');
    const clock = new VirtualClock();
    await assert.rejects(
      withJournalLock(folder, clock, () => Promise.reject(new Error('invented'))),
      { message: 'invented' },
    );
    assert.equal(await withJournalLock(folder, clock, () => Promise.resolve('in')), 'in');
  });

  test('of a process killed while holding it is passed on at once', async (t) => {
    const folder = join(await tempFolder(t), 'lock');
    await mkdir(folder);
    const holder = JSON.stringify({ pid: await deadPid(), host: hostname() });
    await writeFile(join(folder, 'lease-7.json'), holder);
    assert.equal(await withJournalLock(folder, new VirtualClock(), () => Promise.resolve('in')), 'in');
  });

  test('does not recreate the folder of a removed run', async (t) => {
    const folder = await tempFolder(t);
    await rm(folder, { recursive: true });
    const act = withJournalLock(join(folder, 'lock'), new VirtualClock(), () => Promise.resolve());
    await assert.rejects(act, { kind: 'notFound' });
  });
});

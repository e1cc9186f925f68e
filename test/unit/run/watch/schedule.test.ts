import assert from 'node:assert/strict';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { describe, test, type TestContext } from 'node:test';
import { DrivenRuns } from '../../../../src/core/run/watch/schedule.ts';
import { RunStore } from '../../../../src/core/run/disk/runStore.ts';
import { tempFolder } from '../tempFolder.ts';
import { VirtualClock } from '../virtualClock.ts';
import { silent } from '../../../silentLog.ts';

const hourMs = 3600_000;

/** Drives runs of these IDs, of which there is nothing but a folder. */
async function drive(
  t: TestContext,
  ...ids: readonly string[]
): Promise<{ driven: DrivenRuns; clock: VirtualClock; store: RunStore }> {
  const clock = new VirtualClock();
  const store = new RunStore(await tempFolder(t), { clock, log: silent });
  const driven = new DrivenRuns({ store, clock, log: silent });
  for (const id of ids) {
    await mkdir(store.folderOf(id), { recursive: true });
    assert.equal(await driven.take(id), true);
  }
  return { driven, clock, store };
}

describe('the runs that a window drives', () => {
  test('are taken once, and renewed only while they are driven', async (t) => {
    const { driven } = await drive(t, 'one');
    assert.deepEqual([await driven.take('one'), driven.ids()], [false, ['one']]);
    assert.deepEqual([await driven.renew('one'), await driven.renew('none')], [true, false]);
    await driven.letGo('one');
    assert.deepEqual([await driven.renew('one'), driven.has('one')], [false, false]);
  });

  test('are renewed one and all, whatever keeps another from it', async (t) => {
    const { driven, clock, store } = await drive(t, 'one', 'two');
    await rm(store.folderOf('one'), { recursive: true });
    await writeFile(store.folderOf('one'), '');
    const other = new DrivenRuns({ store, clock, log: silent });
    clock.advance(30_000);
    await driven.renewAll();
    assert.equal(await other.take('two'), false);
    clock.advance(15_000);
    assert.equal(await other.take('two'), false);
  });

  test('are due when their time has come by either clock', async (t) => {
    const { driven, clock } = await drive(t, 'soon', 'later', 'never');
    driven.schedule('soon', 1_000);
    driven.schedule('later', hourMs);
    driven.schedule('never', Infinity);
    driven.schedule('none', 0);
    assert.deepEqual(driven.due(false), []);
    clock.advance(1_000);
    assert.deepEqual(driven.due(false), ['soon']);
    clock.moveWall(hourMs);
    assert.deepEqual(driven.due(false), ['soon', 'later']);
    clock.moveWall(-2 * hourMs);
    assert.deepEqual(driven.due(false), ['soon'], 'by the clock that only grows');
    assert.deepEqual(
      ['soon', 'never', 'none'].map((id) => typeof driven.nextCheckAt(id)),
      ['number', 'undefined', 'undefined'],
    );
  });

  test('are due after a jump of the clocks if they wait for their time at all', async (t) => {
    const { driven } = await drive(t, 'later', 'never');
    driven.schedule('later', hourMs);
    assert.deepEqual([driven.due(true), driven.due(false)], [['later'], []]);
  });

  test('are left alone for as long as the service wants, whatever the wall clock says, and no longer', async (t) => {
    const { driven, clock } = await drive(t, 'one');
    const notBefore = clock.now() + hourMs;
    assert.equal(driven.mayAsk('one', undefined), true);
    assert.equal(driven.mayAsk('one', notBefore), false);
    clock.moveWall(-24 * hourMs);
    clock.advance(hourMs - 1);
    assert.equal(driven.mayAsk('one', notBefore), false);
    clock.advance(1);
    assert.equal(driven.mayAsk('one', notBefore), true);
  });

  test('are left alone for a day at most', async (t) => {
    const { driven, clock } = await drive(t, 'one');
    const notBefore = clock.now() + 10 * 365 * 24 * hourMs;
    driven.noteQuiet('one', notBefore);
    clock.advance(24 * hourMs - 1);
    assert.equal(driven.mayAsk('one', notBefore), false);
    clock.advance(1);
    assert.equal(driven.mayAsk('one', notBefore), true);
    assert.equal(driven.mayAsk('none', notBefore), false);
  });

  test('have their failures and tokens counted until a look goes well', async (t) => {
    const { driven } = await drive(t, 'one');
    const count = (): number[] => [driven.countFailure('one'), driven.countToken('one')];
    assert.deepEqual(
      [count(), count()],
      [
        [1, 1],
        [2, 2],
      ],
    );
    driven.clearFailures('one');
    driven.clearFailures('none');
    assert.deepEqual(count(), [1, 1]);
    assert.deepEqual([driven.countFailure('none'), driven.countToken('none')], [1, 1]);
  });

  test('are looked at one look at a time, and are idle when none is under way', async (t) => {
    const { driven } = await drive(t, 'one');
    const looks: PromiseWithResolvers<undefined>[] = [];
    const look = (): Promise<void> => {
      const next = Promise.withResolvers<undefined>();
      looks.push(next);
      return next.promise;
    };
    const joined = [driven.oneAtATime('one', look), driven.oneAtATime('one', look)];
    assert.equal(looks.length, 1);
    let isIdle = false;
    const idle = driven.whenIdle('one').then(() => (isIdle = true));
    await driven.whenIdle('none');
    assert.equal(isIdle, false);
    looks[0]!.reject(new Error('invented'));
    await Promise.all([idle, ...joined.map((each) => assert.rejects(each, /invented/))]);
    void driven.oneAtATime('one', look);
    assert.equal(looks.length, 2);
    looks[1]!.resolve(undefined);
  });
});

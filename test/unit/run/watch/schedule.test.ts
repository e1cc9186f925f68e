import assert from 'node:assert/strict';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { describe, test, type TestContext } from 'node:test';
import fc from 'fast-check';
import { HeldLeases } from '../../../../src/core/run/disk/heldLeases.ts';
import { backoffMs, pollIntervalMs } from '../../../../src/core/run/state/backoff.ts';
import { Schedule } from '../../../../src/core/run/watch/schedule.ts';
import { RunStore } from '../../../../src/core/run/disk/runStore.ts';
import { tempFolder } from '../tempFolder.ts';
import { VirtualClock } from '../virtualClock.ts';
import { silent } from '../../../silentLog.ts';

const hourMs = 3600_000;

/** Drives runs of these IDs that have only a folder. */
async function drive(
  t: TestContext,
  ...ids: readonly string[]
): Promise<{ leases: HeldLeases; schedule: Schedule; clock: VirtualClock; store: RunStore }> {
  const clock = new VirtualClock();
  const store = new RunStore(await tempFolder(t), { clock, log: silent });
  const leases = new HeldLeases({ store, clock, log: silent });
  const schedule = new Schedule(leases, clock);
  for (const id of ids) {
    await mkdir(store.folderOf(id), { recursive: true });
    assert.equal(await leases.take(id), true);
  }
  return { leases, schedule, clock, store };
}

describe('the runs that a window drives', () => {
  test('are leased once, and renewed only while they are driven', async (t) => {
    const { leases } = await drive(t, 'one');
    assert.deepEqual([await leases.take('one'), leases.ids()], [false, ['one']]);
    assert.deepEqual([await leases.renew('one'), await leases.renew('none')], [true, false]);
    await leases.release('one');
    assert.deepEqual([await leases.renew('one'), leases.has('one')], [false, false]);
  });

  test('are all renewed even if one renewal fails', async (t) => {
    const { leases, clock, store } = await drive(t, 'one', 'two');
    await rm(store.folderOf('one'), { recursive: true });
    await writeFile(store.folderOf('one'), '');
    const other = new HeldLeases({ store, clock, log: silent });
    clock.advance(30_000);
    await leases.renewAll();
    assert.equal(await other.take('two'), false);
    clock.advance(15_000);
    assert.equal(await other.take('two'), false);
  });

  test('are due when their time has come by either clock', async (t) => {
    const { schedule, clock } = await drive(t, 'soon', 'later', 'never');
    schedule.planPoll('soon', 1_000);
    schedule.planPoll('later', hourMs);
    schedule.planPoll('never', Infinity);
    schedule.planPoll('none', 0);
    assert.deepEqual(schedule.due(false), []);
    clock.advance(1_000);
    assert.deepEqual(schedule.due(false), ['soon']);
    clock.moveWall(hourMs);
    assert.deepEqual(schedule.due(false), ['soon', 'later']);
    clock.moveWall(-2 * hourMs);
    assert.deepEqual(schedule.due(false), ['soon'], 'by the monotonic clock');
    assert.deepEqual(
      ['soon', 'never', 'none'].map((id) => typeof schedule.nextPollAt(id)),
      ['number', 'undefined', 'undefined'],
    );
  });

  test('are due after a clock jump if a poll is planned', async (t) => {
    const { schedule } = await drive(t, 'later', 'never');
    schedule.planPoll('later', hourMs);
    assert.deepEqual([schedule.due(true), schedule.due(false)], [['later'], []]);
  });

  test('are polled when Retry-After has passed, by any wall clock, and not before', async (t) => {
    const { schedule, clock } = await drive(t, 'one');
    const notBefore = clock.now() + hourMs;
    assert.equal(schedule.mayPoll('one', undefined), true);
    assert.equal(schedule.mayPoll('one', notBefore), false);
    clock.moveWall(-24 * hourMs);
    clock.advance(hourMs - 1);
    assert.equal(schedule.mayPoll('one', notBefore), false);
    clock.advance(1);
    assert.equal(schedule.mayPoll('one', notBefore), true);
  });

  test('wait a day at most', async (t) => {
    const { schedule, clock } = await drive(t, 'one');
    const notBefore = clock.now() + 10 * 365 * 24 * hourMs;
    schedule.setNotBefore('one', notBefore);
    clock.advance(24 * hourMs - 1);
    assert.equal(schedule.mayPoll('one', notBefore), false);
    clock.advance(1);
    assert.equal(schedule.mayPoll('one', notBefore), true);
    assert.equal(schedule.mayPoll('none', notBefore), false);
  });

  test('count failures and tokens until a poll succeeds', async (t) => {
    const { schedule } = await drive(t, 'one');
    const count = (): number[] => [schedule.countFailure('one'), schedule.countToken('one')];
    assert.deepEqual(
      [count(), count()],
      [
        [1, 1],
        [2, 2],
      ],
    );
    schedule.clearCounts('one');
    schedule.clearCounts('none');
    assert.deepEqual(count(), [1, 1]);
    assert.deepEqual([schedule.countFailure('none'), schedule.countToken('none')], [1, 1]);
  });

  test('are polled one poll at a time, and are idle if none is running', async (t) => {
    const { schedule } = await drive(t, 'one');
    const polls: PromiseWithResolvers<undefined>[] = [];
    const poll = (): Promise<void> => {
      const next = Promise.withResolvers<undefined>();
      polls.push(next);
      return next.promise;
    };
    const joined = [schedule.oneAtATime('one', poll), schedule.oneAtATime('one', poll)];
    assert.equal(polls.length, 1);
    let isIdle = false;
    const idle = schedule.whenIdle('one').then(() => (isIdle = true));
    await schedule.whenIdle('none');
    assert.equal(isIdle, false);
    polls[0]!.reject(new Error('invented'));
    await Promise.all([idle, ...joined.map((each) => assert.rejects(each, /invented/))]);
    void schedule.oneAtATime('one', poll);
    assert.equal(polls.length, 2);
    polls[1]!.resolve(undefined);
  });
});

const dayMs = 24 * 60 * 60 * 1000;
const cases = { numRuns: 1_000 };
const chance = fc.double({ min: 0, max: 1, noNaN: true });

test('the interval is a twentieth of the age between 15 s and 10 min, with at most 8 % jitter', () => {
  fc.assert(
    fc.property(fc.double({ min: 0, max: 100 * dayMs, noNaN: true }), chance, (age, random) => {
      const whole = Math.min(Math.max(age * 0.05, 15_000), 600_000);
      const interval = pollIntervalMs(age, random);
      assert.ok(interval <= whole && interval >= whole * 0.92 && interval >= 15_000, String(interval));
    }),
    cases,
  );
});

test('a run is polled at most 240 times in its first day, with any jitter', () => {
  fc.assert(
    fc.property(fc.infiniteStream(fc.oneof(fc.constant(1), chance)), (jitter) => {
      let asked = 0;
      for (let age = 0; age <= dayMs; asked += 1) age += pollIntervalMs(age, jitter.next().value as number);
      assert.ok(asked <= 240, String(asked));
    }),
    { numRuns: 200 },
  );
  let worst = 0;
  for (let age = 0; age <= dayMs; worst += 1) age += pollIntervalMs(age, 1);
  assert.ok(worst <= 240, `${String(worst)} with the most jitter there is`);
});

test('F51 the delay after failures is 1 s to 15 min, and never less than the service requested', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 1e6 }), fc.nat(dayMs), chance, (times, asked, random) => {
      const wait = backoffMs(times, asked, random);
      assert.ok(wait >= asked + 1_000 && wait <= asked + 15 * 60_000, String(wait));
    }),
    cases,
  );
});

test('the delay grows with failures up to 15 min', () => {
  const longest = [1, 2, 3, 4, 5, 6, 7, 50].map((times) => backoffMs(times, 0, 1));
  assert.deepEqual(
    longest,
    [...longest].sort((one, other) => one - other),
  );
  assert.equal(longest.at(-1), 15 * 60_000);
});

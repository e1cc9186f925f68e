import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { Heartbeat, nextHeartbeat } from '../../../../src/core/run/watch/heartbeat.ts';
import { silent } from '../../../silentLog.ts';
import { VirtualClock } from '../virtualClock.ts';

test('a heartbeat distinguishes sleep and clock changes from elapsed time', async () => {
  const clock = new VirtualClock();
  const beats: boolean[] = [];
  const pass = async (ms: number, wallMs = 0): Promise<void> => {
    const next = nextHeartbeat(clock, new AbortController().signal);
    clock.moveWall(wallMs);
    clock.advance(ms);
    beats.push(await next);
  };
  await pass(5_000);
  await pass(5_000, 8 * 3600_000);
  await pass(5_000);
  await pass(5_000, -3600_000);
  await pass(5_000, 25_000);
  await pass(40_000);
  assert.deepEqual(beats, [false, true, false, true, false, true]);
});

/** Beats `times` times; `fail` throws in each beat. */
function setUpHeartbeat(t: TestContext, times: number, fail: () => void = () => undefined) {
  const clock = new VirtualClock();
  const stop = new AbortController();
  t.after(() => {
    stop.abort();
  });
  const logged: string[] = [];
  const note = (line: string): void => void logged.push(line);
  const beats: boolean[] = [];
  const heartbeat = new Heartbeat({
    clock,
    log: { ...silent, info: note, error: note },
    stopped: stop.signal,
    isNeeded: () => beats.length < times,
    onBeat: (jumped) => {
      beats.push(jumped);
      fail();
      return Promise.resolve();
    },
  });
  const advance = async (ms: number): Promise<void> => {
    clock.advance(ms);
    await setImmediate();
  };
  return { heartbeat, clock, stop, logged, beats, advance };
}

test('a heartbeat beats every 5 s while it is needed, and notes that the machine slept', async (t) => {
  const { heartbeat, clock, logged, beats, advance } = setUpHeartbeat(t, 3);
  heartbeat.start();
  heartbeat.start();
  assert.equal(clock.slept.length, 1, 'the second start changes nothing');
  await advance(5_000);
  assert.deepEqual([beats, logged], [[false], []]);
  await advance(40_000);
  assert.deepEqual([beats, logged.length], [[false, true], 1]);
  for (const ms of [5_000, 5_000]) await advance(ms);
  assert.deepEqual([beats, clock.slept.length], [[false, true, false], 3]);
});

test('a heartbeat that fails is noted and can be started again, one that is stopped cannot', async (t) => {
  const { heartbeat, clock, stop, logged, beats, advance } = setUpHeartbeat(t, 9, () => {
    throw new Error('invented');
  });
  for (const times of [1, 2]) {
    heartbeat.start();
    await advance(5_000);
    assert.deepEqual([beats.length, logged.length], [times, times]);
  }
  heartbeat.start();
  stop.abort(new DOMException('invented', 'AbortError'));
  await advance(5_000);
  heartbeat.start();
  assert.deepEqual([beats.length, logged.length, clock.slept.length], [2, 2, 3]);
});

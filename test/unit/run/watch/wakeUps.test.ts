import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { Heartbeat } from '../../../../src/core/run/watch/wakeUps.ts';
import { VirtualClock } from '../virtualClock.ts';
import { silent } from '../../../silentLog.ts';

function beating() {
  const clock = new VirtualClock();
  const stop = new AbortController();
  const beats: boolean[] = [];
  const state = { isNeeded: true };
  const heartbeat = new Heartbeat({
    clock,
    log: silent,
    stopped: stop.signal,
    isNeeded: () => state.isNeeded,
    onBeat: (jumped) => Promise.resolve(void beats.push(jumped)),
  });
  const pass = async (ms: number, wallMs = 0): Promise<void> => {
    await clock.whenAsleep();
    clock.moveWall(wallMs);
    clock.advance(ms);
    await setImmediate();
  };
  return { clock, stop, beats, state, heartbeat, pass };
}

test('a heartbeat tells sleep and clock changes from time that passes', async () => {
  const { beats, heartbeat, pass, stop } = beating();
  heartbeat.start();
  await pass(5_000);
  await pass(5_000, 8 * 3600_000);
  await pass(5_000);
  await pass(5_000, -3600_000);
  await pass(5_000, 25_000);
  await pass(40_000);
  assert.deepEqual(beats, [false, true, false, true, false, true]);
  stop.abort();
});

test('a heartbeat beats once for several starts, ends when nothing needs it, and can begin again', async () => {
  const { clock, beats, state, heartbeat, pass, stop } = beating();
  heartbeat.start();
  heartbeat.start();
  await pass(5_000);
  assert.equal(beats.length, 1);
  state.isNeeded = false;
  await pass(5_000);
  assert.equal(beats.length, 2);
  clock.advance(60_000);
  await setImmediate();
  assert.equal(beats.length, 2);
  state.isNeeded = true;
  heartbeat.start();
  await pass(5_000);
  assert.equal(beats.length, 3);
  stop.abort();
  await setImmediate();
  heartbeat.start();
  assert.equal(clock.slept.length, 4);
});

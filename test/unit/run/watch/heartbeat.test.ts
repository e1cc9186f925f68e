import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nextHeartbeat } from '../../../../src/core/run/watch/heartbeat.ts';
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

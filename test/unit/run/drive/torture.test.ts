import assert from 'node:assert/strict';
import { test } from 'node:test';
import { playPlan } from '../../../torture/faultRun.ts';
import { journalWrites, killOnce } from '../../../torture/kill.ts';
import { planOf } from '../../../torture/plan.ts';
import { soak } from '../../../torture/soak.ts';
import { setUpFixture } from '../runWindow.ts';

// A part of `npm run torture`; `npm run torture -- --seed N` replays a failed seed.

test('F45 F46 F51 under random faults a run is dispatched once per intent, ends truthfully and leaves nothing behind', async (t) => {
  const fixture = await setUpFixture(t);
  for (let seed = 1; seed <= 4; seed += 1) {
    const { problems } = await playPlan(t, fixture, planOf(seed));
    assert.deepEqual(problems, [], `seed ${String(seed)}`);
  }
});

test('F25 F42 F46 a process killed at any write of its journal loses and duplicates nothing', async (t) => {
  for (let seed = 1; seed <= journalWrites; seed += 1) {
    const { problems } = await killOnce(t, seed);
    assert.deepEqual(problems, [], `seed ${String(seed)}`);
  }
});

test('two windows watch runs for hours without leaking memory, timers or sockets', async (t) => {
  const { problems } = await soak(t, { days: 2, dayHours: 0.2 });
  assert.deepEqual(problems, []);
});

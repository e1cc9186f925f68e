import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { backoffMs, pollIntervalMs } from '../../../../src/core/run/watch/pollSchedule.ts';

const dayMs = 24 * 60 * 60 * 1000;
const cases = { numRuns: 1_000 };
const chance = fc.double({ min: 0, max: 1, noNaN: true });

test('the interval is a twentieth of the age within 15 s and 10 min, and jitter takes at most a tenth of it', () => {
  fc.assert(
    fc.property(fc.double({ min: 0, max: 100 * dayMs, noNaN: true }), chance, (age, random) => {
      const whole = Math.min(Math.max(age * 0.05, 15_000), 600_000);
      const interval = pollIntervalMs(age, random);
      assert.ok(interval <= whole && interval >= whole * 0.9 && interval >= 15_000, String(interval));
    }),
    cases,
  );
});

test('a run is asked about at most 240 times in its first day, whatever the jitter', () => {
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

test('F51 a wait after failures is 1 s to 15 min, and never less than the service asked for', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 1e6 }), fc.nat(dayMs), chance, (times, asked, random) => {
      const wait = backoffMs(times, asked, random);
      assert.ok(wait >= asked + 1_000 && wait <= asked + 15 * 60_000, String(wait));
    }),
    cases,
  );
});

test('the wait grows with failures until it reaches 15 min', () => {
  const longest = [1, 2, 3, 4, 5, 6, 7, 50].map((times) => backoffMs(times, 0, 1));
  assert.deepEqual(
    longest,
    [...longest].sort((one, other) => one - other),
  );
  assert.equal(longest.at(-1), 15 * 60_000);
});

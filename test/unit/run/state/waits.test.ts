import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { backoffWait, isOver, pollWait, tokenWait } from '../../../../src/core/run/state/waits.ts';
import { VirtualClock } from '../virtualClock.ts';

const dayMs = 24 * 60 * 60 * 1000;
const cases = { numRuns: 1_000 };
const chance = fc.double({ min: 0, max: 1, noNaN: true });

test('the interval is a twentieth of the age between 15 s and 10 min, with at most 8 % jitter', () => {
  fc.assert(
    fc.property(fc.double({ min: 0, max: 100 * dayMs, noNaN: true }), chance, (age, random) => {
      const whole = Math.min(Math.max(age * 0.05, 15_000), 600_000);
      const interval = pollWait(0, age, random).ms;
      assert.ok(interval <= whole && interval >= whole * 0.92 && interval >= 15_000, String(interval));
    }),
    cases,
  );
});

test('a run is polled at most 240 times in its first day, with any jitter', () => {
  fc.assert(
    fc.property(fc.infiniteStream(fc.oneof(fc.constant(1), chance)), (jitter) => {
      let asked = 0;
      for (let age = 0; age <= dayMs; asked += 1) age += pollWait(0, age, jitter.next().value as number).ms;
      assert.ok(asked <= 240, String(asked));
    }),
    { numRuns: 200 },
  );
  let worst = 0;
  for (let age = 0; age <= dayMs; worst += 1) age += pollWait(0, age, 1).ms;
  assert.ok(worst <= 240, `${String(worst)} with the most jitter there is`);
});

test('F51 the delay after failures is 1 s to 15 min, and never less than the service requested', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 1e6 }), fc.nat(dayMs), chance, (times, asked, random) => {
      const { ms: wait, firmMs } = backoffWait(0, times, asked, random);
      assert.ok(firmMs === asked && wait >= asked + 1_000 && wait <= asked + 15 * 60_000, String(wait));
    }),
    cases,
  );
});

test('the delay grows with failures up to 15 min', () => {
  const longest = [1, 2, 3, 4, 5, 6, 7, 50].map((times) => backoffWait(0, times, 0, 1).ms);
  assert.deepEqual(
    longest,
    [...longest].sort((one, other) => one - other),
  );
  assert.equal(longest.at(-1), 15 * 60_000);
});

test('the first change of the token is followed at once, later ones ever later', () => {
  assert.deepEqual(
    [0, 1, 2, 3].map((changes) => tokenWait(5, changes, 1).ms),
    [0, 0, 60_000, 120_000],
  );
});

test('F51 F55 a wait ends by either clock; cut short, it ends after its firm part', () => {
  const clock = new VirtualClock();
  const wait = { at: clock.now(), ms: 60_000, firmMs: 20_000 };
  const firstSeen = clock.monotonic();
  const isOverNow = (isCutShort = false): boolean => isOver(wait, firstSeen, clock, isCutShort);
  const seen: boolean[] = [];
  const look = (): number => seen.push(isOverNow(), isOverNow(true));
  look();
  clock.advance(20_000);
  look();
  clock.moveWall(-24 * 3600_000);
  clock.advance(40_000);
  look();
  assert.deepEqual(seen, [false, false, false, true, true, true]);
  clock.moveWall(24 * 3600_000);
  assert.equal(
    isOver(wait, clock.monotonic(), clock, false),
    true,
    'by the wall clock, in a window that sees it first',
  );
});

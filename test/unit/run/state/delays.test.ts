import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  backoff,
  emptyExitDelay,
  expectedCheckAt,
  pause,
  pollInterval,
  retryAfterMs,
  takeOverDelay,
  tokenGap,
} from '../../../../src/core/run/state/delays.ts';
import type { Run } from '../../../../src/core/run/state/run.ts';
import { dayMs, minuteMs } from '../passTime.ts';
import { runOf } from '../sampleRuns.ts';

const cases = { numRuns: 1_000 };
const chance = fc.double({ min: 0, max: 1, noNaN: true });

test('the interval is a twentieth of the age between 15 s and 10 min, with at most 8 % jitter', () => {
  fc.assert(
    fc.property(fc.double({ min: 0, max: 100 * dayMs, noNaN: true }), chance, (age, random) => {
      const whole = Math.min(Math.max(age * 0.05, 15_000), 600_000);
      const interval = pollInterval(age, random);
      assert.ok(interval <= whole && interval >= whole * 0.92 && interval >= 15_000, String(interval));
    }),
    cases,
  );
});

test('a run is polled at most 240 times in its first day, with any jitter', () => {
  const polls = (jitter: () => number): number => {
    let asked = 0;
    for (let age = 0; age <= dayMs; asked += 1) age += pollInterval(age, jitter());
    return asked;
  };
  fc.assert(
    fc.property(fc.infiniteStream(fc.oneof(fc.constant(1), chance)), (jitter) => {
      assert.ok(polls(() => jitter.next().value as number) <= 240);
    }),
    { numRuns: 200 },
  );
  assert.ok(polls(() => 1) <= 240, 'with the most jitter there is');
});

test('F51 the delay after failures is 1 s to 15 min, and grows', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 1e6 }), chance, (failures, random) => {
      const ms = backoff(failures, random);
      assert.ok(ms >= 1_000 && ms <= 15 * minuteMs, String(ms));
    }),
    cases,
  );
  const grown = [1, 2, 5, 6, 50].map((failures) => backoff(failures, 1));
  assert.deepEqual(grown, [30_000, 60_000, 8 * minuteMs, 15 * minuteMs, 15 * minuteMs]);
  assert.deepEqual([1, 2, 6, 7, 50].map(pause), [5_000, 10_000, 160_000, 300_000, 300_000]);
});

test('F59 five more answers without a result take half an hour and a minute, and more than that none', () => {
  const delays = [1, 2, 3, 4, 5].map(emptyExitDelay);
  assert.equal(delays.reduce((sum, ms) => sum + ms) / minuteMs, 30);
});

test('F56 the first changes of a token are followed at once, later ones ever later', () => {
  assert.deepEqual([0, 1, 2, 3, 4, 9].map((changes) => tokenGap(changes) / minuteMs), [0, 0, 1, 2, 4, 15]); // prettier-ignore
});

test('F51 F55 what is left of a Retry-After is at most a day: a longer one was saved under a wrong clock', () => {
  const left = (retryAt?: number): number => retryAfterMs({ retryAt }, 1_000);
  assert.deepEqual([left(), left(1_000), left(500), left(4_000)], [0, 0, 0, 3_000]);
  assert.deepEqual([left(dayMs + 1_000), left(dayMs + 1_001)], [dayMs, 0]);
});

test('the next check of a run that another window drives is expected an interval after its last answer', () => {
  const running = { ...runOf.running, dispatchedAt: 0, lastAnswerAt: 100 * minuteMs } as Run;
  const expected = [
    running,
    { ...running, lastAnswerAt: undefined },
    { ...running, trouble: { kind: 'timeout', since: 1 } },
    runOf.collecting,
    runOf.succeeded,
  ].map((run) => expectedCheckAt(run as Run));
  assert.deepEqual(expected, [105 * minuteMs, 15_000, undefined, undefined, undefined]);
});

test('a run that is taken over is polled at once, unless it has just answered, or failed, 15 s ago', () => {
  const running = { ...runOf.running, dispatchedAt: 0, lastAnswerAt: undefined } as Run;
  const troubled = { ...running, trouble: { kind: 'timeout', since: 50_000 } } as Run;
  const delays = (run: Run): number[] => [0, 5_000, 15_000, 60_000].map((now) => takeOverDelay(run, now));
  assert.deepEqual(delays(running), [15_000, 10_000, 0, 0]);
  assert.deepEqual(delays(troubled), [0, 0, 0, 5_000]);
  assert.deepEqual(delays(runOf.collecting), [0, 0, 0, 0]);
});

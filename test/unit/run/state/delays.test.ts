import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { AssessmentError, type ErrorKind } from '../../../../src/core/errors.ts';
import { backoff, Delays, pollInterval, type Waker } from '../../../../src/core/run/state/delays.ts';
import type { Next } from '../../../../src/core/run/state/next.ts';
import type { Run, RunIn } from '../../../../src/core/run/state/run.ts';
import { dayMs, minuteMs } from '../passTime.ts';
import { answered, emptyExit, runOf, stillRunning } from '../sampleRuns.ts';
import { VirtualClock } from '../virtualClock.ts';

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
});

const hourMs = 60 * minuteMs;

/** The drive of a run of this age has just begun. */
function begin(ageMs = hourMs, change: object = {}) {
  const clock = new VirtualClock();
  const at = clock.now() - ageMs;
  let run = { ...runOf.running, dispatchedAt: at, lastAnswerAt: at, ...change } as RunIn<'running'>;
  const delays = new Delays(run, clock, () => 1);
  const poll = (): Next => ({ step: 'poll', run });
  const isOver = (): boolean => delays.isOver(poll());
  return {
    clock,
    delays,
    isOver,
    answer: (description = stillRunning) => delays.succeeded(poll(), answered(description, clock.now())),
    fail: (kind: ErrorKind, detail?: string, waitMs?: number) => {
      delays.failed(poll(), new AssessmentError(kind, { retryAfterMs: waitMs, detail }));
      run = { ...run, trouble: { kind, detail, firstSeen: clock.now() } };
    },
    wake: (waker: Waker) => {
      delays.wake(waker, run);
      return isOver();
    },
    /** Counts the minutes until the next poll, at most a day. */
    minutes: (): number => {
      let passed = 0;
      for (; passed < dayMs && !isOver(); passed += 5_000) clock.advance(5_000);
      return passed / minuteMs;
    },
    journal: (more: Partial<Run>) => (run = { ...run, ...more } as RunIn<'running'>),
  };
}

describe('the delay before a poll', () => {
  test('F55 grows with the age by either clock, and never shrinks while one window watches', () => {
    const { clock, answer, minutes } = begin(hourMs);
    answer();
    assert.equal(Math.round(minutes() * 10), 28, 'a twentieth of an hour, less 8 %');
    clock.moveWall(dayMs);
    answer();
    const longest = minutes();
    assert.ok(longest > 9);
    clock.moveWall(-10 * dayMs);
    answer();
    assert.equal(minutes(), longest, 'a clock that is set back makes no storm');
  });

  test('grows with failures in a row, and starts again after a good answer', () => {
    const { answer, fail, minutes } = begin();
    fail('serverError');
    const first = minutes();
    fail('serverError');
    const second = minutes();
    answer();
    minutes();
    fail('serverError');
    assert.deepEqual([first, second, minutes()], [0.5, 1, 0.5]);
  });

  test('F59 without a result is six minutes, or the interval of an older run', () => {
    const { answer, minutes } = begin(0);
    answer(emptyExit);
    assert.equal(minutes(), 6);
    const old = begin(dayMs);
    old.answer(emptyExit);
    assert.ok(old.minutes() > 9);
  });

  test('at a take-over is over, unless the run has answered or failed 15 s ago', () => {
    const started = new VirtualClock().now();
    const trouble = { kind: 'timeout', firstSeen: started };
    const cancelling = begin(5_000, { state: 'cancelling' });
    const collecting = begin(5_000, { state: 'collecting' });
    const fresh = [begin(0), cancelling, begin(dayMs, { trouble }), begin(-minuteMs), collecting];
    assert.deepEqual(
      fresh.map(({ minutes }) => minutes() * minuteMs),
      [15_000, 10_000, 15_000, 0, 0],
    );
  });

  for (const failure of [['unauthorized'], ['tokenCommand', 'sameToken'], ['notSignedIn']] as [
    ErrorKind,
    string?,
  ][])
    test(`F56 after ${failure.join(': ')} is 15 min, then an hour each time, unless a token or a user ends it`, () => {
      const { clock, answer, fail, wake, minutes } = begin();
      const waits = [1, 2, 3].map(() => {
        fail(...failure);
        return minutes();
      });
      assert.deepEqual(waits, [15, 60, 60]);
      answer();
      fail(...failure);
      clock.advance(10 * minuteMs);
      assert.deepEqual((['clock', 'focus'] as const).map(wake), [false, false]);
      assert.equal(wake('token'), true, 'after a good answer, at once again');
      fail(...failure);
      assert.equal(wake('user'), true);
    });

  test('F56 is ended by a token also where the journal says another thing since, but not where all is well', () => {
    for (const trouble of [undefined, { kind: 'timeout', firstSeen: 1 }] as const) {
      const { fail, wake, journal } = begin();
      fail('unauthorized');
      journal({ trouble });
      assert.equal(wake('token'), trouble !== undefined);
    }
  });

  test('F56 after a refused token ends once another window has had an answer', () => {
    const { fail, isOver, minutes, journal } = begin();
    fail('unauthorized');
    assert.equal(isOver(), false);
    journal({ trouble: undefined });
    assert.equal(isOver(), true);
    fail('serverError');
    assert.equal(minutes(), 1, 'and no later wait is shorter');
  });

  test('F56 after each token that was refused, too, is a minute longer, at most 15', () => {
    const { fail, wake, minutes, answer, journal } = begin();
    const waits = Array.from({ length: 20 }, () => {
      fail('unauthorized');
      wake('token');
      return minutes();
    });
    assert.deepEqual(
      [waits.slice(0, 4), waits.slice(-3)],
      [
        [0, 1, 2, 3],
        [15, 15, 15],
      ],
    );
    answer();
    journal({ trouble: undefined });
    assert.equal(wake('token'), false, 'nothing waits for a token');
    fail('unauthorized');
    assert.equal(wake('token'), true, 'a good answer is a new beginning');
  });

  test('F53 is ended by a focus after a failed poll, and by a jump of the clocks, at most once a minute', () => {
    for (const waker of ['focus', 'clock'] as const) {
      const { clock, fail, answer, wake } = begin(10 * hourMs);
      answer();
      assert.equal(wake(waker), false, 'it has just been polled');
      clock.advance(minuteMs);
      assert.equal(wake(waker), waker === 'clock');
      for (let failures = 0; failures < 9; failures += 1) fail('serverError');
      assert.equal(wake(waker), false);
      clock.advance(minuteMs);
      assert.equal(wake(waker), true);
    }
  });

  test('F56 ends at the time of the next check, which is known but while nobody is signed in', () => {
    const { clock, delays, answer, fail, minutes, journal } = begin();
    const inMinutes = (): number => ((delays.nextCheckAt(journal({})) ?? NaN) - clock.now()) / minuteMs;
    answer();
    const expected = inMinutes();
    assert.ok(Math.abs(minutes() - expected) < 0.1 && expected > 2);
    assert.ok(inMinutes() <= 0, 'it is over');
    fail('unauthorized');
    assert.equal(inMinutes(), 15);
    fail('notSignedIn');
    assert.ok(Number.isNaN(inMinutes()));
    const collecting = new Delays(runOf.collecting, clock, () => 1);
    collecting.failed(
      { step: 'download', run: runOf.collecting as RunIn<'collecting'> },
      new AssessmentError('timeout'),
    );
    assert.equal(collecting.nextCheckAt(runOf.collecting), clock.now() + 30_000);
    const ended = new Delays(runOf.succeeded, clock, () => 1);
    assert.equal(ended.nextCheckAt(runOf.succeeded), undefined);
    ended.failed({ step: 'removeUploads', run: runOf.succeeded }, new AssessmentError('timeout'));
    assert.equal(ended.nextCheckAt(runOf.succeeded), clock.now() + 30_000);
  });

  test('F51 is never shorter than a Retry-After, whoever asks', () => {
    const { clock, fail, wake, minutes } = begin();
    fail('rateLimited', '', 10 * minuteMs);
    for (const waker of ['user', 'clock', 'focus', 'token'] as const) assert.equal(wake(waker), false);
    assert.equal(minutes(), 10);
    fail('rateLimited', '', 10 * minuteMs);
    wake('user');
    clock.moveWall(10 * minuteMs);
    assert.equal(minutes(), 0, 'it has passed by the wall clock');
  });

  test('F51 F55 counts a Retry-After in the journal from the first sight, by the monotonic clock', () => {
    const { clock, wake, minutes, journal } = begin();
    journal({ retryAt: clock.now() + 5 * minuteMs });
    wake('user');
    assert.equal(minutes(), 5);
    journal({ retryAt: clock.now() + 6 * minuteMs });
    assert.equal(wake('user'), false);
    clock.moveWall(-dayMs);
    assert.equal(minutes(), 6);
    journal({ retryAt: clock.now() + 2 * dayMs });
    assert.equal(wake('user'), true, 'nobody asks for two days');
  });
});

test('F66 F100 a step that fails is done again after a backoff, or at once for a user; others go on', () => {
  const clock = new VirtualClock();
  const run = runOf.succeeded;
  const delays = new Delays(run, clock, () => 1);
  const isOver = (step: 'announce' | 'removeUploads'): boolean => delays.isOver({ step, run });
  for (const kind of ['storage', 'unauthorized'] as const) {
    delays.failed({ step: 'removeUploads', run }, new AssessmentError(kind));
    assert.deepEqual([isOver('announce'), isOver('removeUploads')], [true, false]);
    clock.advance(60_000);
    assert.equal(isOver('removeUploads'), true);
  }
  delays.failed({ step: 'removeUploads', run }, new AssessmentError('timeout'));
  delays.wake('clock', run);
  assert.equal(isOver('removeUploads'), false);
  delays.wake('user', run);
  assert.equal(isOver('removeUploads'), true);
});

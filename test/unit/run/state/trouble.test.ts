import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  isTroubleWarning,
  lastGoodAnswerAt,
  mayStopWatching,
  needsDecision,
} from '../../../../src/core/run/state/trouble.ts';
import type { Run } from '../../../../src/core/run/state/run.ts';
import { dayMs as day } from '../passTime.ts';
import { holdsAfter as after, runOf } from '../sampleRuns.ts';

test('a run being cancelled for a day may be given up; that, and an unconfirmed start, needs a decision', () => {
  const run = runOf.cancelling;
  assert.ok(run.state === 'cancelling');
  for (const holds of [mayStopWatching, needsDecision])
    assert.deepEqual(after(holds, run, run.cancelAskedAt, [0, day - 1, day]), [false, false, true]);
  assert.deepEqual([runOf.unknown, runOf.running].map((each) => needsDecision(each, 0)), [true, false]); // prettier-ignore
});

test('F169 trouble is a warning after 10 minutes, or at once if it needs a user', () => {
  const { running } = runOf;
  assert.ok(running.state === 'running');
  const firstSeen = 1_000;
  const warnings = (kind: 'timeout' | 'secretStorage' | 'unauthorized' | 'tokenCommand'): boolean[] => {
    const run = { ...running, trouble: { kind, firstSeen } };
    return after(isTroubleWarning, run, firstSeen, [0, 10 * 60_000 - 1, 10 * 60_000]);
  };
  assert.deepEqual(warnings('timeout'), [false, false, true]);
  assert.deepEqual(warnings('secretStorage'), [false, false, true]);
  assert.deepEqual(warnings('unauthorized'), [true, true, true]);
  assert.deepEqual(warnings('tokenCommand'), [true, true, true]);
  assert.equal(isTroubleWarning(running, firstSeen), false);
});

test('a run that the service denies may be given up a day after the first denial, not before', () => {
  const { running } = runOf;
  assert.ok(running.state === 'running');
  const trouble = { firstSeen: 5 };
  const denied = { ...running, trouble: { ...trouble, kind: 'notFound' as const, deniedSince: 9 } };
  assert.deepEqual(after(mayStopWatching, denied, 9, [0, day - 1, day]), [false, false, true]);
  const failing = { ...running, trouble: { ...trouble, kind: 'serverError' as const, deniedSince: 9 } };
  assert.deepEqual(after(mayStopWatching, failing, 9, [day]), [false]);
});

test('a run whose polls fail may be given up when its results may be deleted, not before', () => {
  const { running } = runOf;
  assert.ok(running.state === 'running');
  const trouble = { firstSeen: 5 };
  const results = [30 * day - 1, 30 * day];
  for (const [kind, expected] of [
    ['unauthorized', [false, true]],
    ['unsent', [false, true]],
    ['serverError', [false, true]],
    ['secretStorage', [false, true]],
  ] as const) {
    const waiting: Run = { ...running, lastAnswerAt: 7, trouble: { ...trouble, kind } };
    assert.deepEqual(after(mayStopWatching, waiting, 7, results), expected, kind);
  }
});

test('F125 a run with missing results may be given up a day after its end was seen, not before', () => {
  const run = runOf.collecting;
  assert.ok(run.state === 'collecting');
  assert.deepEqual(after(mayStopWatching, run, run.exitedAt, [0, day - 1, day]), [false, false, true]);
});

test('a healthy run is never given up, however long it takes', () => {
  for (const run of [runOf.running, runOf.succeeded, runOf.unknown])
    assert.equal(mayStopWatching(run, 365 * day), false, run.state);
});

test('the last good response is the end while results are missing, else the last answer, else the start', () => {
  const { running, collecting } = runOf;
  assert.ok(running.state === 'running' && collecting.state === 'collecting');
  const started = { ...running, dispatchedAt: 5, lastAnswerAt: undefined };
  const asked = { ...started, lastAnswerAt: 7 };
  const ended = { ...collecting, dispatchedAt: 5, lastAnswerAt: 7, exitedAt: 9 };
  assert.deepEqual([started, asked, ended].map(lastGoodAnswerAt), [5, 7, 9]);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  isNearRetentionEnd,
  isPastLocalRetention,
  isRetentionNoticeDue,
  isTroubleWarning,
  lastGoodAnswerAt,
  mayStopWatching,
  needsDecision,
  resultsKeptUntil,
} from '../../../../src/core/run/state/deadlines.ts';
import type { Run } from '../../../../src/core/run/state/run.ts';
import { runOf } from '../sampleRuns.ts';

const day = 24 * 60 * 60 * 1000;

/** Whether it holds so many milliseconds after `at`. */
const after = (holds: (run: Run, now: number) => boolean, run: Run, at: number, ms: readonly number[]) =>
  ms.map((passed) => holds(run, at + passed));

test('a run being cancelled may be given up a day later, not before', () => {
  const run = runOf.cancelling;
  assert.ok(run.state === 'cancelling');
  assert.deepEqual(after(mayStopWatching, run, run.cancelAskedAt, [0, day - 1, day]), [false, false, true]);
});

test('a run that may be given up, or has an unconfirmed start, needs a decision', () => {
  const run = runOf.cancelling;
  assert.ok(run.state === 'cancelling');
  assert.deepEqual(after(needsDecision, run, run.cancelAskedAt, [day - 1, day]), [false, true]);
  assert.deepEqual([runOf.unknown, runOf.running].map((each) => needsDecision(each, 0)), [true, false]); // prettier-ignore
});

test('F169 trouble is a warning after 10 minutes, or at once if it needs a person', () => {
  const { running } = runOf;
  assert.ok(running.state === 'running');
  const since = 1_000;
  const warnings = (kind: 'timeout' | 'secretStorage' | 'unauthorized' | 'tokenCommand'): boolean[] => {
    const run = { ...running, trouble: { kind, since, times: 1, failures: 1, tokens: 0 } };
    return after(isTroubleWarning, run, since, [0, 10 * 60_000 - 1, 10 * 60_000]);
  };
  assert.deepEqual(warnings('timeout'), [false, false, true]);
  assert.deepEqual(warnings('secretStorage'), [false, false, true]);
  assert.deepEqual(warnings('unauthorized'), [true, true, true]);
  assert.deepEqual(warnings('tokenCommand'), [true, true, true]);
  assert.equal(isTroubleWarning(running, since), false);
});

test('a run that the service denies may be given up a day after the first denial, not before', () => {
  const { running } = runOf;
  assert.ok(running.state === 'running');
  const trouble = { since: 5, times: 1, failures: 1, tokens: 0 };
  const denied = { ...running, trouble: { ...trouble, kind: 'notFound' as const, deniedSince: 9 } };
  assert.deepEqual(after(mayStopWatching, denied, 9, [0, day - 1, day]), [false, false, true]);
  const failing = { ...running, trouble: { ...trouble, kind: 'serverError' as const, deniedSince: 9 } };
  assert.deepEqual(after(mayStopWatching, failing, 9, [day]), [false]);
});

test('a run whose polls fail may be given up when its results may be deleted, not before', () => {
  const { running } = runOf;
  assert.ok(running.state === 'running');
  const trouble = { since: 5, times: 1, failures: 1, tokens: 0 };
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

test('results are kept for 30 days from the last answer of a live run, or from when an ended one last ran', () => {
  const { running, cancelling, succeeded, cancelled, imported } = runOf;
  assert.ok(succeeded.state === 'succeeded');
  const seen = { lastAnswerAt: 7 };
  const ended = { ...succeeded, exitedAt: 9, ranAt: 8 };
  const runs = [{ ...running, ...seen }, { ...cancelling, ...seen }, ended, { ...ended, ranAt: undefined }];
  assert.deepEqual(
    (runs as Run[]).map(resultsKeptUntil),
    [7, 7, 8, 9].map((at) => at + 30 * day),
  );
  assert.deepEqual([cancelled, imported].map(resultsKeptUntil), [undefined, undefined]);
});

test('a notice of the end of retention is due once, and again if it came at a wrong time', () => {
  const run = runOf.succeeded;
  assert.ok(run.state === 'succeeded');
  const now = run.exitedAt + 26 * day;
  const isDue = (retentionNoticedAt?: number, at = now): boolean =>
    isRetentionNoticeDue({ ...run, retentionNoticedAt }, at);
  assert.deepEqual([isDue(undefined, run.exitedAt), isDue()], [false, true]);
  assert.deepEqual([isDue(now), isDue(now - 1)], [false, false]);
  assert.deepEqual([isDue(now + 1), isDue(run.exitedAt)], [true, true]);
});

test('the last good response is the end while results are missing, else the last answer, else the start', () => {
  const { running, collecting } = runOf;
  assert.ok(running.state === 'running' && collecting.state === 'collecting');
  const started = { ...running, dispatchedAt: 5, lastAnswerAt: undefined };
  const asked = { ...started, lastAnswerAt: 7 };
  const ended = { ...collecting, dispatchedAt: 5, lastAnswerAt: 7, exitedAt: 9 };
  assert.deepEqual([started, asked, ended].map(lastGoodAnswerAt), [5, 7, 9]);
});

test('results are near their expiry from five days before it', () => {
  const run = runOf.succeeded;
  assert.ok(run.state === 'succeeded');
  const moments = [0, 25 * day - 1, 25 * day, 30 * day - 1, 30 * day, 31 * day];
  assert.deepEqual(after(isNearRetentionEnd, run, run.exitedAt, moments), [
    false,
    false,
    true,
    true,
    false,
    false,
  ]);
});

test('results of a run that ended unobserved expire from its last known live time', () => {
  const run = runOf.succeeded;
  assert.ok(run.state === 'succeeded');
  const away = { ...run, ranAt: run.exitedAt - 20 * day };
  assert.deepEqual(after(isNearRetentionEnd, away, run.exitedAt, [0, 5 * day, 10 * day - 1, 10 * day]), [
    false,
    true,
    true,
    false,
  ]);
});

test('a run without results on the service has no expiry', () => {
  for (const run of [runOf.preparing, runOf.unknown, runOf.failed, runOf.imported])
    assert.deepEqual(after(isNearRetentionEnd, run, 0, [0, 26 * day, 31 * day]), [false, false, false]);
});

test('a run is past retention once it has ended, was announced, and the days have passed', () => {
  const run = runOf.succeeded;
  assert.ok(run.state === 'succeeded');
  const isPastLocalRetentionIn = (days: number) => (each: Run, now: number) =>
    isPastLocalRetention(each, days, now);
  const notified = { ...run, noticeDue: false, targets: [] };
  const moments = [3 * day, 3 * day + 1];
  assert.deepEqual(after(isPastLocalRetentionIn(3), notified, run.endedAt, moments), [false, true]);
  assert.deepEqual(after(isPastLocalRetentionIn(3), { ...notified, noticeDue: true }, run.endedAt, moments), [
    false,
    false,
  ]);
  for (const open of [runOf.running, runOf.collecting, runOf.unknown, runOf.preparing])
    assert.equal(isPastLocalRetention({ ...open, noticeDue: false }, 1, 365 * day), false, open.state);
});

test('a run with files on the service is kept as long as the service may keep them', () => {
  const run = runOf.succeeded;
  assert.ok(run.state === 'succeeded');
  const leaves = (state: 'reserved' | 'confirmed' | 'deleted' | 'cancelled'): boolean =>
    isPastLocalRetention(
      {
        ...run,
        noticeDue: false,
        targets: [{ folder: '/shop', name: 'shop', upload: { fileId: 'file', state, at: 0 } }],
      },
      3,
      run.endedAt + 20 * day,
    );
  assert.deepEqual((['reserved', 'confirmed', 'deleted', 'cancelled'] as const).map(leaves), [
    false,
    false,
    true,
    true,
  ]);
});

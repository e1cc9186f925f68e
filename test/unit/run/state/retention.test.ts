import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  hasOldArchives,
  isPastLocalRetention,
  resultsKeptUntil,
  uploadsToRemove,
} from '../../../../src/core/run/state/retention.ts';
import type { Run, UploadState } from '../../../../src/core/run/state/run.ts';
import { dayMs as day } from '../passTime.ts';
import { holdsAfter as after, runOf } from '../sampleRuns.ts';

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

test('archives are old after a week, and while they are here', () => {
  const run = { ...runOf.running, createdAt: 5 };
  assert.deepEqual(after(hasOldArchives, run, 5, [7 * day, 7 * day + 1]), [false, true]);
  assert.equal(hasOldArchives({ ...run, archivesRemovedAt: 1 }, 30 * day), false);
});

test('F94 the uploads of an ended run are to be removed for 30 days as the setting says, unused ones in any case', () => {
  const left = (run: Run, deletesSource: boolean, state: UploadState = 'confirmed', passed = 0): number => {
    const upload = { fileId: 'file', state, at: 0 };
    const ended = { ...run, targets: [{ folder: '/shop', name: 'shop', upload }] };
    return uploadsToRemove(ended, deletesSource, passed).length;
  };
  const { succeeded, cancelled, failed, running, unknown, imported } = runOf;
  const mayStillRun = { ...cancelled, mayStillRun: true } as Run;
  assert.deepEqual([succeeded, mayStillRun, failed].map((run) => left(run, true)), [1, 1, 1]); // prettier-ignore
  assert.deepEqual([succeeded, mayStillRun, failed, cancelled].map((run) => left(run, false)), [0, 0, 1, 1]); // prettier-ignore
  assert.deepEqual(
    [running, unknown].map((run) => left(run, true)),
    [0, 0],
  );
  assert.equal(uploadsToRemove(imported, true, 0).length, 0);
  const states = ['reserved', 'confirmed', 'cancelled', 'deleted'] as const;
  assert.deepEqual(states.map((state) => left(succeeded, true, state)), [1, 1, 0, 0]); // prettier-ignore
  const ended = (succeeded as { endedAt: number }).endedAt;
  assert.deepEqual([0, 1].map((ms) => left(succeeded, true, 'confirmed', ended + 30 * day + ms)), [1, 0]); // prettier-ignore
});

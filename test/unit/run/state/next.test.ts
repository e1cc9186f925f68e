import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { next, type Circumstances } from '../../../../src/core/run/state/next.ts';
import type { Run } from '../../../../src/core/run/state/run.ts';
import { dayMs } from '../passTime.ts';
import { preparingAt, runOf } from '../sampleRuns.ts';

const hour = 3600_000;
const wait = { at: 100, ms: 60_000, firmMs: 0 };
const upload = { fileId: 'file-1', state: 'confirmed', at: 1 } as const;
const [target] = runOf.succeeded.targets as [Run['targets'][number]];
const trouble = { since: 1, times: 1, failures: 1, tokens: 0 };
const here = { name: 'report', file: 'report.md' };
const missing = { name: 'findings', failure: { kind: 'timeout' } as const };

const changed = (run: Run, change: object): Run => ({ ...run, ...change });
/** An ended run that was shown, and of which nothing is left to remove. */
const settled = (change: object = {}): Run =>
  changed(runOf.succeeded, {
    noticeDue: false,
    archivesRemovedAt: 1,
    targets: [{ ...target, upload: { ...upload, state: 'deleted' } }],
    ...change,
  });

/** The steps of a run as text, in order, each with its wait. */
function stepsOf(run: Run, given: Partial<Circumstances> = {}): string[] {
  const circumstances = {
    now: hour,
    notedRunId: undefined,
    deletesSource: true,
    retainLocalDays: 90,
    ...given,
  };
  return next(run, circumstances).map((each) => {
    const name = each.step === 'record' ? each.event.type : each.step;
    return each.wait === undefined ? name : `${name} after ${String(each.wait.ms)}`;
  });
}

type Row = readonly [what: string, run: Run, steps: readonly string[], given?: Partial<Circumstances>];

const table: readonly Row[] = [
  // A start whose window is gone.
  ['uploading', preparingAt.uploading, ['takenOver']],
  ['confirming', preparingAt.confirming, ['takenOver']],
  ['dispatching', runOf.dispatching, ['takenOver']],
  ['dispatching, with a note of its run ID', runOf.dispatching, ['dispatched'], { notedRunId: 'run-7' }],
  ['unknown, with a note of its run ID', runOf.unknown, ['dispatched'], { notedRunId: 'run-7' }],
  ['unknown', changed(runOf.unknown, { noticeDue: false }), []],
  ['unknown, not shown', runOf.unknown, ['announce']],
  [
    'unknown for 8 days, with its archive',
    changed(runOf.unknown, { noticeDue: false }),
    ['cleanUpDue'],
    { now: 8 * dayMs },
  ],
  [
    'unknown for 8 days, with its archive, as an hour before',
    changed(runOf.unknown, { noticeDue: false, cleanUpDueAt: 8 * dayMs }),
    [],
    { now: 8 * dayMs + hour },
  ],
  [
    'unknown for 9 days, with its archive, as a day before',
    changed(runOf.unknown, { noticeDue: false, cleanUpDueAt: 8 * dayMs }),
    [`removeArchives after ${String(dayMs)}`],
    { now: 9 * dayMs },
  ],
  // A run of the service.
  ['running', changed(runOf.running, { check: wait }), ['poll after 60000']],
  ['running, never polled', changed(runOf.running, { check: undefined }), ['poll']],
  [
    'running, without a token',
    changed(runOf.running, { check: undefined, trouble: { ...trouble, kind: 'unauthorized' } }),
    ['poll after Infinity'],
  ],
  [
    'running, with another token',
    changed(runOf.running, { check: wait, trouble: { ...trouble, kind: 'unauthorized' } }),
    ['poll after 60000'],
  ],
  ['cancelling', changed(runOf.cancelling, { check: wait }), ['poll after 60000']],
  [
    'running for 26 days without an answer',
    changed(runOf.running, { check: wait, targets: [] }),
    ['warnOfRetention', 'poll after 60000'],
    { now: 26 * dayMs },
  ],
  [
    'running for 8 days, with its archive',
    changed(runOf.running, { check: wait, lastAnswerAt: 8 * dayMs }),
    ['cleanUpDue', 'poll after 60000'],
    { now: 8 * dayMs },
  ],
  [
    'running for 9 days, with its archive, as a day before',
    changed(runOf.running, { check: wait, lastAnswerAt: 9 * dayMs, cleanUpDueAt: 8 * dayMs }),
    [`removeArchives after ${String(dayMs)}`, 'poll after 60000'],
    { now: 9 * dayMs },
  ],
  ['collecting', runOf.collecting, ['download']],
  [
    'collecting for 8 days, with its archive',
    runOf.collecting,
    ['download', 'cleanUpDue'],
    { now: 8 * dayMs },
  ],
  ['collecting, after a failure', changed(runOf.collecting, { check: wait }), ['download after 60000']],
  ['collecting, downloaded', changed(runOf.collecting, { isDownloaded: true }), ['workOut']],
  [
    'collecting, working out ended the process once',
    changed(runOf.collecting, { isDownloaded: true, workOutTries: 1 }),
    ['workOut'],
  ],
  [
    'collecting, working out ended the process twice',
    changed(runOf.collecting, { isDownloaded: true, workOutTries: 2 }),
    ['collected'],
  ],
  // An ended run.
  ['succeeded', settled(), []],
  ['succeeded, not shown', settled({ noticeDue: true }), ['announce']],
  [
    'succeeded, with archives and uploads',
    settled({ archivesRemovedAt: undefined, artifacts: [here], targets: [{ ...target, upload }] }),
    ['removeArchives', 'removeUploads'],
  ],
  [
    'succeeded, with archives, without all results',
    settled({ archivesRemovedAt: undefined, artifacts: [here, missing] }),
    [],
  ],
  ['succeeded, source kept', settled({ targets: [{ ...target, upload }] }), [], { deletesSource: false }],
  [
    'succeeded, a removal failed',
    settled({ targets: [{ ...target, upload }], removal: { ...trouble, kind: 'serverError', wait } }),
    ['removeUploads after 60000'],
  ],
  [
    'succeeded, a removal without a token',
    settled({ targets: [{ ...target, upload }], removal: { ...trouble, kind: 'unauthorized' } }),
    [],
  ],
  [
    'succeeded, uploads past retention',
    settled({ targets: [{ ...target, upload }] }),
    [],
    { now: 31 * dayMs },
  ],
  ['succeeded, near retention', settled({ artifacts: [missing] }), ['warnOfRetention'], { now: 26 * dayMs }],
  [
    'succeeded, near retention, noticed',
    settled({ artifacts: [missing], retentionNoticedAt: 26 * dayMs }),
    [],
    { now: 27 * dayMs },
  ],
  ['succeeded, past the local retention', settled(), ['cleanUpDue'], { now: 91 * dayMs }],
  [
    'succeeded, past the local retention, as before',
    settled({ cleanUpDueAt: 91 * dayMs }),
    [`forget after ${String(dayMs)}`],
    { now: 92 * dayMs },
  ],
  [
    'succeeded, noted under a wrong clock',
    settled({ cleanUpDueAt: 91 * dayMs }),
    ['cleanUpNotDue'],
    { now: dayMs },
  ],
  ['imported', runOf.imported, []],
];

describe('what is next for a run', () => {
  for (const [what, run, steps, given] of table)
    test(what, () => {
      assert.deepEqual(stepsOf(run, given), steps);
    });
});

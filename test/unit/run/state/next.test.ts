import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { next, type Circumstances } from '../../../../src/core/run/state/next.ts';
import type { Run } from '../../../../src/core/run/state/run.ts';
import { runOf, uploadedRun } from '../sampleRuns.ts';

const upload = { fileId: 'file-1', state: 'confirmed', at: 1 } as const;
const [target] = runOf.succeeded.targets as [Run['targets'][number]];
const here = { name: 'report', file: 'report.md' };
const missing = { name: 'findings', failure: { kind: 'timeout' } as const };

const changed = (run: Run, change: object): Run => ({ ...run, ...change });
/** The run has ended and was shown, and nothing is left to remove. */
const closed = (change: object = {}): Run =>
  changed(runOf.succeeded, {
    noticeDue: false,
    archivesRemovedAt: 1,
    targets: [{ ...target, upload: { ...upload, state: 'deleted' } }],
    ...change,
  });

/** The steps of a run are in order. A change of the journal alone is its event. */
function stepsOf(run: Run, given: Partial<Circumstances> = {}): string[] {
  const circumstances = { now: 0, notedRunId: undefined, deletesSource: true, ...given };
  return next(run, circumstances).map((each) => (each.step === 'record' ? each.event.type : each.step));
}

type Row = readonly [what: string, run: Run, steps: readonly string[], given?: Partial<Circumstances>];

const table: readonly Row[] = [
  ['preparing', uploadedRun, ['takenOver']],
  ['dispatching', runOf.dispatching, ['takenOver']],
  ['dispatching, with a note of its run ID', runOf.dispatching, ['dispatched'], { notedRunId: 'run-7' }],
  ['unknown, with a note of its run ID', runOf.unknown, ['dispatched'], { notedRunId: 'run-7' }],
  ['unknown', changed(runOf.unknown, { noticeDue: false }), []],
  ['unknown, not shown', runOf.unknown, ['announce']],
  ['running', runOf.running, ['poll']],
  ['cancelling', runOf.cancelling, ['poll']],
  ['collecting', runOf.collecting, ['download']],
  ['collecting, one artifact is here', changed(runOf.collecting, { artifacts: [here] }), ['download']],
  ['collecting, all is here', changed(runOf.collecting, { artifacts: [here, missing] }), ['saveResult']],
  ['succeeded', closed(), []],
  ['succeeded, not shown', closed({ noticeDue: true }), ['announce']],
  [
    'succeeded, with archives and uploads',
    closed({ archivesRemovedAt: undefined, artifacts: [here], targets: [{ ...target, upload }] }),
    ['removeArchives', 'removeUploads'],
  ],
  [
    'succeeded, with archives, without all results',
    closed({ archivesRemovedAt: undefined, artifacts: [here, missing] }),
    [],
  ],
  [
    'with archives, but no record',
    closed({ archivesRemovedAt: undefined, artifacts: [here], lacksRecord: true }),
    [],
  ],
  ['succeeded, source kept', closed({ targets: [{ ...target, upload }] }), [], { deletesSource: false }],
  ['imported', runOf.imported, []],
];

describe('what is next for a run', () => {
  for (const [what, run, steps, given] of table)
    test(what, () => {
      assert.deepEqual(stepsOf(run, given), steps);
    });
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { trackedRun } from '../../../../src/core/run/state/newRun.ts';

const identity = { id: 'one', now: 1_000 };

test('a run that was started elsewhere runs since its start, and its files are confirmed', () => {
  const note = {
    workflow: 'whitebox-assessment' as const,
    baseUrl: 'https://assessment.example.test/v1',
    organizationId: 'invented',
    language: 'english' as const,
    runId: 'run-1',
    targets: [
      { folder: '/shop', name: 'shop', fileId: 'file-1' },
      { folder: '/tool', name: 'tool' },
    ],
  };
  const run = trackedRun(identity, { ...note, dispatchedAt: 300 });
  assert.deepEqual([run.createdAt, run.dispatchedAt, run.lastAnswerAt], [300, 300, 1_000]);
  assert.deepEqual(
    run.targets.map(({ upload }) => upload),
    [{ fileId: 'file-1', state: 'confirmed', at: 1_000 }, undefined],
  );
  const withoutStart = trackedRun(identity, note);
  assert.deepEqual([withoutStart.createdAt, withoutStart.dispatchedAt], [1_000, 1_000]);
});

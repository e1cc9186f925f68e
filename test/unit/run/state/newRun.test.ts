import assert from 'node:assert/strict';
import { test } from 'node:test';
import { importedRun, trackedRun } from '../../../../src/core/run/state/newRun.ts';
import { asJournaled } from '../sampleRuns.ts';

const identity = { id: 'one', now: 1_000 };
const targets = [{ folder: '/shop', name: 'shop' }];

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

test('an imported run names no service, and has the times of its run only if both are known', () => {
  const facts = {
    language: 'japanese' as const,
    importedFrom: 'findings.sarif',
    artifacts: [],
    targets,
  };
  const imported = {
    version: 1,
    id: 'one',
    workflow: 'whitebox-assessment',
    baseUrl: '',
    organizationId: '',
    language: 'japanese',
    webhookEndpointIds: [],
    targets,
    createdAt: 1_000,
    noticeDue: false,
    state: 'imported',
    endedAt: 1_000,
    importedFrom: 'findings.sarif',
    artifacts: [],
  };
  assert.deepEqual(asJournaled(importedRun(identity, facts)), imported);
  const times = { dispatchedAt: 300, exitedAt: 500 };
  assert.deepEqual(
    asJournaled(
      importedRun(identity, {
        ...facts,
        ...times,
        workflow: 'blackbox-crawl',
        targetUrls: ['http://127.0.0.1:9/'],
        runId: 'run-1',
        endedEarly: true,
      }),
    ),
    {
      ...imported,
      ...times,
      createdAt: 300,
      workflow: 'blackbox-crawl',
      input: { target_urls: ['http://127.0.0.1:9/'] },
      runId: 'run-1',
      endedEarly: true,
    },
  );
  for (const [key, at] of Object.entries(times)) {
    const run = importedRun(identity, { ...facts, [key]: at });
    assert.deepEqual([run.dispatchedAt, run.exitedAt], [undefined, undefined], key);
  }
});

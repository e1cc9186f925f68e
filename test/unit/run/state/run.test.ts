import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  elapsedMs,
  isUnsent,
  needsToken,
  type Run,
  shared,
  titleOf,
} from '../../../../src/core/run/state/run.ts';
import { packagingRun, runOf } from '../sampleRuns.ts';

test('a run has lasted from its dispatch or creation to its exit, its end, or now', () => {
  const { running, succeeded, failed, preparing } = runOf;
  assert.ok(running.state === 'running' && succeeded.state === 'succeeded' && failed.state === 'failed');
  const changed = (run: Run, change: object): Run => ({ ...run, createdAt: 100, ...change });
  const times: [Run, number][] = [
    [changed(preparing, {}), 900],
    [changed(running, { dispatchedAt: 300 }), 700],
    [changed(succeeded, { dispatchedAt: 300, exitedAt: 500, endedAt: 800 }), 200],
    [changed(failed, { endedAt: 400 }), 300],
    [changed(running, { dispatchedAt: 5_000 }), 0],
  ];
  assert.deepEqual(
    times.map(([run]) => elapsedMs(run, 1_000)),
    times.map(([, ms]) => ms),
  );
});

test('a run is unsent if it failed before the service had it', () => {
  const { failed } = runOf;
  assert.ok(failed.state === 'failed');
  const unsent = { ...failed, runId: undefined };
  assert.deepEqual([unsent, { ...unsent, runId: 'r' }, runOf.running, runOf.cancelled].map(isUnsent), [
    true,
    false,
    false,
    false,
  ]);
});

test('a run needs a token if it is live and its token was rejected or removed', () => {
  const { running, succeeded } = runOf;
  assert.ok(running.state === 'running');
  const trouble = { since: 5, times: 1, pollsInVain: 0, wakingMs: 0 };
  const needs = (kind: 'unauthorized' | 'notSignedIn' | 'serverError', run: Run = running): boolean =>
    needsToken({ ...run, trouble: { ...trouble, kind } } as Run);
  assert.deepEqual([needs('unauthorized'), needs('notSignedIn'), needs('serverError')], [true, true, false]);
  assert.deepEqual([needs('unauthorized', succeeded), needsToken(running)], [false, false]);
});

test('a run is named by its folders, and takes over only common members of all states', () => {
  const run = {
    ...runOf.preparing,
    label: undefined,
    targets: ['shop', 'tool'].map((name) => ({ folder: `/${name}`, name })),
  };
  assert.equal(titleOf(run), 'shop, tool');
  assert.deepEqual(
    Object.keys(shared(run)).sort(),
    Object.keys(packagingRun)
      .filter((key) => key !== 'state' && key !== 'step')
      .sort(),
  );
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AssessmentError } from '../../../../src/core/errors.ts';
import {
  elapsedMs,
  isUnsent,
  keptArtifact,
  keptOrFailed,
  type Run,
  toFailure,
} from '../../../../src/core/run/state/run.ts';
import { needsToken } from '../../../../src/core/run/state/trouble.ts';
import { runOf } from '../sampleRuns.ts';

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
  const needs = (kind: 'unauthorized' | 'notSignedIn' | 'serverError', run: Run = running): boolean =>
    needsToken({ ...run, trouble: { firstSeen: 5, kind } } as Run);
  assert.deepEqual([needs('unauthorized'), needs('notSignedIn'), needs('serverError')], [true, true, false]);
  assert.deepEqual([needs('unauthorized', succeeded), needsToken(running)], [false, false]);
});

test('an artifact that is here is found by its role, and another one has the reason why it is not', () => {
  const { succeeded } = runOf;
  assert.ok(succeeded.state === 'succeeded');
  const findings = { name: 'findings', file: 'findings.json' };
  const report = { name: 'file-7', role: 'report', file: 'report.md' };
  const missing = { name: 'extra', failure: { kind: 'notFound' as const } };
  const roles = [
    { name: 'file-7', role: 'report' },
    { name: 'file-8', role: 'extra' },
  ];
  const run = {
    ...succeeded,
    exit: { ...succeeded.exit, roles },
    artifacts: [missing, findings, report],
  };
  assert.deepEqual(
    ['findings', 'report', 'file-7', 'extra'].map((role) => keptArtifact(run, role)),
    [findings, report, undefined, undefined],
  );
  const failure = { kind: 'serverError', status: 503 } as const;
  assert.deepEqual(
    ['file-7', 'file-8', 'extra'].map((name) => keptOrFailed(run, name, failure)),
    [report, { ...roles[1], failure }, { name: 'extra', failure }],
  );
  assert.equal(keptArtifact(runOf.running, 'findings'), undefined);
});

test('of an error only known facts are kept', () => {
  const error = new AssessmentError('serverError', { status: 503, detail: 'Down.', retryAfterMs: 5 });
  assert.deepEqual(toFailure(error), { kind: 'serverError', status: 503, detail: 'Down.' });
});

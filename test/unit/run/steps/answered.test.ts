import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Description } from '../../../../src/core/api/schema.ts';
import type { AssessmentClient } from '../../../../src/core/api/client.ts';
import type { RunIn } from '../../../../src/core/run/state/run.ts';
import { poll, toAnswered } from '../../../../src/core/run/steps/poll.ts';
import type { StepDeps } from '../../../../src/core/run/steps/step.ts';
import { emptyExit, runOf, stillRunning } from '../sampleRuns.ts';
import { VirtualClock } from '../virtualClock.ts';

const reference = (artifact_name: string) => ({ artifact_name });

function exitOf(
  artifacts: Description['artifacts'],
  successOutput: Record<string, { artifact_name: string } | undefined>,
) {
  const description = { status: 'EXITED', output: { kind: 'SUCCESS', successOutput }, artifacts };
  return toAnswered({ workflow: 'whitebox-assessment' }, description).exit;
}

test('an artifact has the role of the member that refers to it, and without one its own name', () => {
  const listed = [{ name: 'report-7' }, { name: 'extra' }, undefined, { name: 'findings' }];
  const exit = exitOf(listed, { report: reference('report-7'), findings: reference('findings') });
  assert.deepEqual(exit, {
    kind: 'SUCCESS',
    artifacts: ['report-7', 'extra', 'findings'],
    roles: [{ name: 'report-7', role: 'report' }],
    abort: undefined,
  });
});

test('of several roles a known one counts, or that of its own name, else the first that is not too long', () => {
  const roleFor = (name: string, roles: readonly string[]): string | undefined => {
    const output = Object.fromEntries(roles.map((role) => [role, reference(name)]));
    return exitOf([], output)?.roles?.find((each) => each.name === name)?.role;
  };
  assert.equal(roleFor('file-1', ['other_role', 'report']), 'report');
  assert.equal(roleFor('file-1', ['one', 'two']), 'one');
  assert.equal(roleFor('file-1', ['x'.repeat(256)]), 'x'.repeat(256));
  assert.equal(roleFor('file-1', ['x'.repeat(257), 'two']), 'two');
  assert.equal(roleFor('own', ['one', 'own']), undefined);
  assert.equal(exitOf([], { report: reference('report') })?.roles, undefined);
});

test('an artifact that is only named like the role of another one has no such role', () => {
  const exit = exitOf([{ name: 'report' }], { report: reference('file-1') });
  assert.deepEqual(exit?.roles, [
    { name: 'report', role: 'other' },
    { name: 'file-1', role: 'report' },
  ]);
});

test('artifacts of an aborted run are found in the detail of its reason', () => {
  const exitWith = (detail: unknown) =>
    toAnswered(
      { workflow: 'blackbox-crawl' },
      { status: 'EXITED', output: { kind: 'ABORTED', abortedReason: { code: 'invented', detail } } },
    ).exit;
  const exit = exitWith({ scan_progress: reference('progress-1'), spent: 5, more: { artifact_name: 7 } });
  assert.deepEqual(
    [exit?.artifacts, exit?.roles],
    [['progress-1'], [{ name: 'progress-1', role: 'scan_progress' }]],
  );
  for (const detail of [undefined, null, 'text', []]) assert.deepEqual(exitWith(detail)?.artifacts, []);
});

test('an answer other than EXITED says nothing of an end', () => {
  const description = { status: 'RUNNING', output: { kind: 'SUCCESS' }, artifacts: [{ name: 'report' }] };
  assert.deepEqual(toAnswered({ workflow: 'blackbox-crawl' }, description), {
    type: 'answered',
    status: 'RUNNING',
  });
});

test('F59 only exits without a result in a row count together, and not by the wall clock', async () => {
  const [clock, firstSeen, seconds] = [new VirtualClock(), new Map<string, number>(), [] as number[]];
  for (const said of [emptyExit, emptyExit, stillRunning, emptyExit]) {
    const client = { describe: () => Promise.resolve(said) } as unknown as AssessmentClient;
    const deps = { clientFor: () => client, clock, firstSeen };
    const { withoutOutcomeMs = NaN } = await poll(
      runOf.running as RunIn<'running'>,
      deps as unknown as StepDeps,
    );
    seconds.push(Math.floor(withoutOutcomeMs / 1_000));
    clock.advance(1_000);
    clock.moveWall(99_000);
  }
  assert.deepEqual(seconds, [0, 1, NaN, 0]);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Description } from '../../../src/core/api/schema.ts';
import { advance, type RunEvent } from '../../../src/core/run/state/advance.ts';
import {
  continuationsOf,
  hasHitCreditLimit,
  isContinued,
  predecessorOf,
} from '../../../src/core/features/continuedRuns.ts';
import { endedEarly, type Run, type RunIn } from '../../../src/core/run/state/run.ts';
import type { WorkflowId } from '../../../src/core/workflows/workflow.ts';
import { aborted, answered, runOf, success } from '../run/sampleRuns.ts';

const at = 10;
const atCreditLimit: Description = {
  status: 'EXITED',
  output: { kind: 'ABORTED', abortedReason: { code: 'credit_limit_reached' } },
};

function ended(workflow: WorkflowId, description: Description, hasFeatures: boolean): Run {
  const artifacts = hasFeatures ? [{ name: 'features', file: 'features.json', bytes: 2 }] : [];
  const events: RunEvent[] = [
    answered(description, at, { workflow }),
    ...artifacts.map((artifact) => ({ type: 'artifactDownloaded', artifact, at }) as const),
    { type: 'collected', at },
  ];
  return events.reduce(advance, { ...runOf.running, workflow });
}

/** `resume` may refer to these runs (API reference, sections 2.7 and 2.8). */
const ends: readonly [WorkflowId, Description, hasFeatures: boolean, Record<string, true | string>][] = [
  ['blackbox-crawl', success, true, { assessPairs: true, crawlFurther: true }],
  ['blackbox-crawl', success, false, { assessPairs: 'noFeatures', crawlFurther: true }],
  ['blackbox-crawl', atCreditLimit, true, { assessPairs: 'notEligible', crawlFurther: 'notEligible' }],
  ['blackbox-assessment', success, true, { assessPairs: true, continueAssessment: true }],
  ['blackbox-assessment', success, false, { assessPairs: 'noFeatures', continueAssessment: true }],
  ['blackbox-assessment', atCreditLimit, true, { assessPairs: true, continueAssessment: true }],
  ['blackbox-assessment', aborted, true, { assessPairs: 'notEligible', continueAssessment: 'notEligible' }],
  ['whitebox-assessment', success, true, {}],
];

test('a run is continued as the API reference allows, and with chosen pairs only if its features are local', () => {
  for (const [workflow, description, hasFeatures, expected] of ends) {
    const run = ended(workflow, description, hasFeatures);
    assert.deepEqual(Object.fromEntries(continuationsOf(run)), expected, JSON.stringify(run));
  }
});

test('a run that is live, imported, or unknown to the service is not continued', () => {
  const workflow = 'blackbox-crawl' as const;
  const exit = { kind: 'SUCCESS', artifacts: [] };
  for (const run of [
    { ...runOf.running, workflow },
    { ...ended(workflow, success, true), runId: undefined },
    { ...runOf.imported, workflow, runId: 'r-1', exit },
  ] as Run[])
    assert.deepEqual([...continuationsOf(run)], [], run.state);
});

test('a run has hit its credit limit if it was aborted with that code', () => {
  const [limit, other] = [atCreditLimit, aborted].map((end) => ended('blackbox-assessment', end, true));
  const cancelled = { ...limit!, state: 'cancelled' } as Run;
  const runs = [limit!, other!, cancelled, runOf.succeeded];
  assert.deepEqual(runs.map(hasHitCreditLimit), [true, false, false, false]);
});

test('the continued run is read from each kind of resume', () => {
  const reference = { workflow_id: 'blackbox-crawl' as const, workflow_run_id: 'run-0' };
  const assessment = { workflow_id: 'blackbox-assessment' as const, workflow_run_id: 'run-9' };
  const resumes = [
    undefined,
    reference,
    { kind: 'assess_crawled_features' as const, assess_crawled_features: reference },
    { kind: 'continue_assessment' as const, continue_assessment: assessment },
  ];
  const runs = resumes.map((resume) => ({ input: { target_urls: ['http://127.0.0.1:9/'], resume } }));
  assert.deepEqual(runs.map(predecessorOf), [undefined, 'run-0', 'run-0', 'run-9']);
  assert.deepEqual(runs.map(isContinued), [false, false, false, true]);
  const { succeeded } = runOf;
  assert.deepEqual(
    [succeeded.input, predecessorOf(succeeded), isContinued(succeeded)],
    [undefined, undefined, false],
  );
});

test('a run is partial if it did not complete, here or before its export', () => {
  const { succeeded, aborted, cancelled, failed, imported } = runOf;
  assert.deepEqual([succeeded, aborted, cancelled, failed, imported].map(endedEarly), [
    false,
    true,
    true,
    true,
    false,
  ]);
  assert.equal(endedEarly({ ...(imported as RunIn<'imported'>), endedEarly: true }), true);
});

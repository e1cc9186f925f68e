import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describeResponse } from '../../service/apiSchemas.ts';

test('a run description has only the members of its status and kind', () => {
  const artifact = { artifact_name: 'report' };
  const isValid = new Ajv2020({ strict: true }).compile(
    describeResponse([{ name: 'report', required: true }]),
  );
  const success = { kind: 'SUCCESS', successOutput: { report: artifact } };
  const aborted = { kind: 'ABORTED', abortedReason: { code: 'invented' } };
  const artifacts = [{ name: 'report' }];
  const right = [
    { status: 'RUNNING' },
    { status: 'EXITED' },
    { status: 'EXITED', output: success, artifacts },
    { status: 'EXITED', output: aborted, artifacts: [] },
  ];
  const wrong = [
    { status: 'RUNNING', output: success },
    { status: 'RUNNING', artifacts },
    { status: 'EXITED', output: { ...success, ...aborted, kind: 'SUCCESS' }, artifacts },
    { status: 'EXITED', output: { ...success, kind: 'ABORTED' }, artifacts },
  ];
  assert.deepEqual([...right, ...wrong].map((each) => isValid(each)), [true, true, true, true, false, false, false, false]); // prettier-ignore
});

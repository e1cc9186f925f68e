import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AssessmentError, isAbortError, knownError, systemCode } from '../../../src/core/errors.ts';

test("an error has its kind, the service's message and its cause", () => {
  const cause = new Error('inner');
  const error = new AssessmentError('capacity', { status: 413, detail: 'Full.' }, { cause });
  assert.deepEqual([error.name, error.message, error.cause], ['AssessmentError', 'capacity: Full.', cause]);
  assert.equal(new AssessmentError('notSignedIn').message, 'notSignedIn');
});

test('a cancellation is distinguished from a failure', () => {
  const stop = new AbortController();
  stop.abort();
  assert.equal(isAbortError(stop.signal.reason), true);
  assert.equal(isAbortError(new AssessmentError('timeout')), false);
  assert.equal(isAbortError('AbortError'), false);
});

test('the system code is found on an error or its causes', () => {
  const system = Object.assign(new Error('no'), { code: 'ENOSPC' });
  assert.equal(systemCode(new Error('outer', { cause: new Error('middle', { cause: system }) })), 'ENOSPC');
  assert.equal(systemCode(Object.assign(new Error('no'), { code: 7 })), undefined);
  assert.equal(systemCode('ENOSPC'), undefined);
});

test('a system error is known by its code, and any other error is unexpected', () => {
  const system = (code: string): Error => Object.assign(new Error('no'), { code });
  for (const [error, kind, detail] of [
    [system('ENOSPC'), 'diskFull', 'ENOSPC'],
    [system('EDQUOT'), 'diskFull', 'EDQUOT'],
    [system('EROFS'), 'storage', 'EROFS'],
    [system('UNKNOWN'), 'storage', 'UNKNOWN'],
    [system('ERR_INVALID_ARG_TYPE'), 'unexpected', 'Error: no'],
    [new TypeError('x is undefined'), 'unexpected', 'TypeError: x is undefined'],
  ] as const) {
    const known = knownError(error);
    assert.deepEqual([known.kind, known.data.detail, known.cause], [kind, detail, error]);
  }
  const ours = new AssessmentError('timeout');
  assert.equal(knownError(ours), ours);
});

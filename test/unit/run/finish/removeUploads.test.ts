import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { AssessmentClient } from '../../../../src/core/api/client.ts';
import { AssessmentError, type ErrorKind } from '../../../../src/core/errors.ts';
import { hasUploads, removeFile } from '../../../../src/core/run/finish/removeUploads.ts';
import type { UploadState } from '../../../../src/core/run/state/run.ts';
import { runOf } from '../sampleRuns.ts';

const dayMs = 24 * 3600_000;

/** A service that answers a cancellation and a deletion with these failures, or does them. */
function serviceThat(
  cancel: ErrorKind | undefined,
  remove: ErrorKind | undefined,
): { client: AssessmentClient; calls: string[] } {
  const calls: string[] = [];
  const answer = (call: string, kind: ErrorKind | undefined) => (): Promise<void> => {
    calls.push(call);
    return kind === undefined ? Promise.resolve() : Promise.reject(new AssessmentError(kind));
  };
  const client = { cancelUpload: answer('cancel', cancel), deleteFile: answer('delete', remove) };
  return { client: client as unknown as AssessmentClient, calls };
}

describe('a file on the service', () => {
  for (const [believed, cancel, remove, outcome, calls] of [
    ['reserved', undefined, 'notFound', 'cancelled', ['cancel']],
    ['confirmed', 'notFound', undefined, 'deleted', ['delete']],
    ['reserved', 'conflict', undefined, 'deleted', ['cancel', 'delete']],
    ['confirmed', undefined, 'rejected', 'cancelled', ['delete', 'cancel']],
    ['reserved', 'notFound', 'notFound', 'cancelled', ['cancel', 'delete']],
    ['confirmed', 'notFound', 'notFound', 'deleted', ['delete', 'cancel']],
  ] as const) {
    test(`that is believed ${believed} is ${outcome} by ${calls.join(' and ')}, when those answer ${String(cancel)} and ${String(remove)}`, async () => {
      const service = serviceThat(cancel, remove);
      assert.equal(await removeFile('file', believed, service.client), outcome);
      assert.deepEqual(service.calls, calls);
    });
  }

  for (const [believed, cancel, remove, kind, calls] of [
    ['reserved', 'forbidden', undefined, 'forbidden', ['cancel']],
    ['confirmed', undefined, 'serverError', 'serverError', ['delete']],
    ['reserved', 'conflict', 'notFound', 'notFound', ['cancel', 'delete']],
    ['reserved', 'notFound', 'conflict', 'conflict', ['cancel', 'delete']],
    ['confirmed', 'serverError', 'notFound', 'serverError', ['delete', 'cancel']],
  ] as const) {
    test(`that is believed ${believed} is not gone, by ${calls.join(' and ')}, when those answer ${String(cancel)} and ${String(remove)}`, async () => {
      const service = serviceThat(cancel, remove);
      await assert.rejects(removeFile('file', believed, service.client), { kind });
      assert.deepEqual(service.calls, calls);
    });
  }

  test('of an ended run remains for thirty days, as the setting says', () => {
    const run = runOf.succeeded;
    assert.ok(run.state === 'succeeded');
    const remainsIn = (state: UploadState, confirmedToo: boolean, passedMs = 0): boolean => {
      const upload = { fileId: 'file', state, at: 0 };
      const left = { ...run, targets: [{ folder: '/shop', name: 'shop', upload }] };
      return hasUploads(left, confirmedToo, run.endedAt + passedMs);
    };
    const states = ['reserved', 'confirmed', 'cancelled', 'deleted'] as const;
    assert.deepEqual(
      states.map((state) => remainsIn(state, true)),
      [true, true, false, false],
    );
    assert.deepEqual(
      states.map((state) => remainsIn(state, false)),
      [true, false, false, false],
    );
    const passed = [30 * dayMs, 30 * dayMs + 1];
    assert.deepEqual(
      passed.map((ms) => remainsIn('confirmed', true, ms)),
      [true, false],
    );
    assert.equal(hasUploads(runOf.running, true, 0), false);
  });
});

import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import type { AssessmentClient } from '../../../../src/core/api/client.ts';
import { AssessmentError, type ErrorKind } from '../../../../src/core/errors.ts';
import { RunStore } from '../../../../src/core/run/disk/runStore.ts';
import { removeFile, sendRemovals } from '../../../../src/core/run/steps/sendRemovals.ts';
import type { RunDeps } from '../../../../src/core/run/steps/step.ts';
import type { RunIn, Target } from '../../../../src/core/run/state/run.ts';
import { silent } from '../../../silentLog.ts';
import { minuteMs, pass, stride } from '../passTime.ts';
import { storeWithoutSpaceFor } from '../hookedStore.ts';
import { type Fixture, type RunWindow, type WindowOptions, setUpWindow } from '../runWindow.ts';
import { runOf } from '../sampleRuns.ts';
import { trackRemoteRun } from '../seededRuns.ts';
import { tempFolder } from '../tempFolder.ts';
import { states } from '../uploads.ts';
import { VirtualClock } from '../virtualClock.ts';

/** Ends a run of the window on the service, and waits for its notification. */
async function end(fixture: Fixture, window: RunWindow, run: RunIn<'running'>): Promise<void> {
  await fixture.service.finishRun(run.runId);
  await window.untilEnded(run.id);
  await pass(fixture, minuteMs);
}

async function untidyRun(t: TestContext, status: number, options: WindowOptions = {}) {
  const { fixture, window } = await setUpWindow(t, options);
  const run = (await window.start()) as RunIn<'running'>;
  const heal = fixture.refuse('/delete', status);
  await end(fixture, window, run);
  assert.deepEqual(states(fixture), ['confirmed']);
  return { fixture, window, id: run.id, heal };
}

describe('the source of an ended run', () => {
  test('F56 F100 is not deleted with a rejected token, and deleted soon after the token was accepted', async (t) => {
    const { fixture, window, id, heal } = await untidyRun(t, 401);
    const asked = fixture.sent('/delete');
    for (let focus = 0; focus < 10; focus += 1) await window.tracker.resume();
    for (let change = 0; change < 3; change += 1) await window.tracker.tokenChanged((run) => run.id !== id);
    assert.equal(fixture.sent('/delete'), asked);
    heal();
    await pass(fixture, 15 * minuteMs);
    assert.deepEqual(states(fixture), ['deleted']);
  });

  test('F56 is deleted at once when the user changes the token source', async (t) => {
    const { fixture, window, heal } = await untidyRun(t, 401);
    heal();
    await fixture.passUntil(window.tracker.tokenChanged(undefined, { isNewSource: true }));
    assert.deepEqual(states(fixture), ['deleted']);
  });

  test('F100 is retried until deleted, without a visible window, and then no timer is left', async (t) => {
    const { fixture, heal } = await untidyRun(t, 503);
    const asked = fixture.sent('/delete');
    await stride(fixture, 120 * minuteMs);
    const times = fixture.sent('/delete') - asked;
    assert.ok(times > 4 && times < 120, `${String(times)} times in two hours`);
    heal();
    await pass(fixture, 20 * minuteMs);
    assert.deepEqual(states(fixture), ['deleted']);
    const { length } = fixture.clock.slept;
    await fixture.passUntil(fixture.clock.sleep(60 * minuteMs));
    assert.deepEqual(fixture.clock.slept.slice(length + 1), []);
  });

  test('F66 is deleted again, at growing intervals, while that cannot be saved', async (t) => {
    const store = storeWithoutSpaceFor('uploadRemoved');
    const { fixture, window, heal } = await untidyRun(t, 503, { store });
    heal();
    await trackRemoteRun(fixture, window);
    const asked = fixture.sent('/delete');
    await stride(fixture, 60 * minuteMs);
    const times = fixture.sent('/delete') - asked;
    assert.ok(times >= 1 && times <= 18, `${String(times)} times in an hour`);
    assert.equal(states(fixture)[0], 'deleted');
  });
});

/** The service answers a cancellation and a deletion with these failures, or does them. */
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
    // A call whose answer was lost deleted it, so it is no reservation any more.
    ['confirmed', 'conflict', 'notFound', 'deleted', ['delete', 'cancel']],
    ['reserved', 'conflict', 'notFound', 'cancelled', ['cancel', 'delete']],
  ] as const) {
    test(`believed ${believed} is ${outcome} by ${calls.join(' and ')} with ${String(cancel)} and ${String(remove)}`, async () => {
      const service = serviceThat(cancel, remove);
      assert.equal(await removeFile('file', believed, service.client), outcome);
      assert.deepEqual(service.calls, calls);
    });
  }

  for (const [believed, cancel, remove, kind, calls] of [
    ['reserved', 'forbidden', undefined, 'forbidden', ['cancel']],
    ['confirmed', undefined, 'serverError', 'serverError', ['delete']],
    ['reserved', 'rejected', 'notFound', 'notFound', ['cancel', 'delete']],
    ['confirmed', 'conflict', 'conflict', 'conflict', ['delete', 'cancel']],
    ['reserved', 'notFound', 'conflict', 'conflict', ['cancel', 'delete']],
    ['confirmed', 'serverError', 'notFound', 'serverError', ['delete', 'cancel']],
  ] as const) {
    test(`believed ${believed} stays after ${calls.join(' and ')} with ${String(cancel)} and ${String(remove)}`, async () => {
      const service = serviceThat(cancel, remove);
      await assert.rejects(removeFile('file', believed, service.client), { kind });
      assert.deepEqual(service.calls, calls);
    });
  }

  test('F51 is not asked about after a failure with another one, and each removal is saved', async (t) => {
    const clock = new VirtualClock();
    const store = new RunStore(await tempFolder(t), { clock, log: silent });
    const targets = ['a', 'b', 'c'].map((fileId): Target => {
      return { folder: `/${fileId}`, name: fileId, upload: { fileId, state: 'reserved', at: 0 } };
    });
    const run = await store.create({
      ...(runOf.cancelled as RunIn<'cancelled'>),
      endedAt: clock.now(),
      targets,
    });
    const calls: string[] = [];
    const cancelUpload = (fileId: string): Promise<void> => {
      calls.push(fileId);
      return fileId === 'b' ? Promise.reject(new AssessmentError('rateLimited')) : Promise.resolve();
    };
    const client = { cancelUpload } as unknown as AssessmentClient;
    const removing = sendRemovals(run, true, {
      store,
      clock,
      clientFor: () => client,
    } as unknown as RunDeps);
    await assert.rejects(removing, { kind: 'rateLimited' });
    assert.deepEqual(calls, ['a', 'b']);
    const known = store.get(run.id)?.targets.map(({ upload }) => upload?.state);
    assert.deepEqual(known, ['cancelled', 'reserved', 'reserved']);
  });
});

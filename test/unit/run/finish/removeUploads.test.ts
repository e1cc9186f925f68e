import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import type { AssessmentClient } from '../../../../src/core/api/client.ts';
import { AssessmentError, type ErrorKind } from '../../../../src/core/errors.ts';
import { hasUploads, removeFile } from '../../../../src/core/run/finish/removeUploads.ts';
import type { RunIn, UploadState } from '../../../../src/core/run/state/run.ts';
import { dayMs, minuteMs, pass, stride } from '../days.ts';
import { storeWithoutSpaceFor } from '../preparedStore.ts';
import {
  type Desk,
  openWindow,
  type RunWindow,
  setUpDesk,
  type WindowOptions,
  setUpWindow,
} from '../runWindow.ts';
import { runOf } from '../sampleRuns.ts';
import { trackRemoteRun } from '../seededRuns.ts';
import { states } from '../uploads.ts';

/** From now on the service refuses every deletion so. */
const refuse = (desk: Desk, status: number): (() => void) =>
  desk.service.addFault({ match: { path: '/delete' }, before: { kind: 'reply', status } });

/** Ends a run of the window on the service, and waits until it has been told of here. */
async function end(desk: Desk, window: RunWindow, run: RunIn<'running'>): Promise<void> {
  await desk.service.finishRun(run.runId);
  await window.untilEnded(run.id);
  await pass(desk, minuteMs);
}

/** A run whose end has come, and whose file the service refused to delete with this status. */
async function untidyRun(t: TestContext, status: number, options: WindowOptions = {}) {
  const { desk, window } = await setUpWindow(t, options);
  const run = (await window.start()) as RunIn<'running'>;
  const heal = refuse(desk, status);
  await end(desk, window, run);
  assert.deepEqual(states(desk), ['confirmed']);
  return { desk, window, id: run.id, heal };
}

describe('the source of an ended run', () => {
  test('F56 is not asked to go with a token that is known to be wrong, and goes once that has changed', async (t) => {
    const { desk, window, id, heal } = await untidyRun(t, 401);
    const asked = desk.sent('/delete');
    for (let focus = 0; focus < 10; focus += 1) await window.tracker.resume();
    for (let change = 0; change < 3; change += 1) await window.tracker.tokenChanged((run) => run.id !== id);
    assert.equal(desk.sent('/delete'), asked);
    heal();
    await desk.clock.passUntil(window.tracker.tokenChanged(), desk.traffic);
    assert.deepEqual(states(desk), ['deleted']);
  });

  test('F56 is asked to go ever less while every token that a command makes is refused, and goes once one is taken', async (t) => {
    const desk = await setUpDesk(t);
    let made = 0;
    const windows: RunWindow[] = [];
    // As the editor's secret store does: whatever is kept there is told to every window.
    const refresh = (): Promise<string | undefined> => {
      made += 1;
      const token = `invented-token-${String(made)}`;
      for (const window of windows) {
        window.setToken(token);
        void setImmediate().then(() => window.tracker.tokenChanged());
      }
      return Promise.resolve(made > 200 ? undefined : token);
    };
    const [window, other] = [openWindow(t, desk, { refresh }), openWindow(t, desk, { refresh })];
    windows.push(window, other);
    const run = (await window.start()) as RunIn<'running'>;
    const heal = refuse(desk, 401);
    await end(desk, window, run);
    await desk.clock.passUntil(other.tracker.resume(), desk.traffic);
    for (let minute = 0; minute < 120; minute += 1) {
      await stride(desk, minuteMs);
      for (const { tracker } of windows) void tracker.resume();
    }
    assert.ok(made > 4 && made < 80, `${String(made)} tokens in two hours`);
    heal();
    await pass(desk, 20 * minuteMs);
    for (const each of windows) each.setToken(desk.service.token);
    await desk.clock.passUntil(window.tracker.tokenChanged(), desk.traffic);
    await pass(desk, 20 * minuteMs);
    assert.deepEqual(states(desk), ['deleted']);
  });

  test('F56 goes at once when a person has changed where tokens come from', async (t) => {
    const { desk, window, heal } = await untidyRun(t, 401);
    heal();
    await desk.clock.passUntil(window.tracker.tokenChanged(undefined, { isNewSource: true }), desk.traffic);
    assert.deepEqual(states(desk), ['deleted']);
  });

  test('F56 goes at once with the first token after a refused change of where tokens come from', async (t) => {
    const { desk, window, heal } = await untidyRun(t, 401);
    const asked = desk.sent('/delete');
    await window.tracker.tokenChanged(undefined, { isNewSource: true });
    assert.ok(desk.sent('/delete') > asked);
    heal();
    await window.tracker.tokenChanged();
    assert.deepEqual(states(desk), ['deleted']);
  });

  test('F100 is asked to go until it has gone, without anybody looking at the window, and then no timer is left', async (t) => {
    const { desk, heal } = await untidyRun(t, 503);
    const asked = desk.sent('/delete');
    await stride(desk, 120 * minuteMs);
    const times = desk.sent('/delete') - asked;
    assert.ok(times > 4 && times < 120, `${String(times)} times in two hours`);
    heal();
    await pass(desk, 20 * minuteMs);
    assert.deepEqual(states(desk), ['deleted']);
    const { length } = desk.clock.slept;
    await desk.clock.passUntil(desk.clock.sleep(60 * minuteMs), desk.traffic);
    assert.deepEqual(desk.clock.slept.slice(length + 1), []);
  });

  test('is asked to go ever less while what becomes of it cannot be noted', async (t) => {
    const store = storeWithoutSpaceFor('uploadRemoved');
    const { desk, window, heal } = await untidyRun(t, 503, { store });
    heal();
    await trackRemoteRun(desk, window);
    const asked = desk.sent('/delete');
    await stride(desk, 60 * minuteMs);
    const times = desk.sent('/delete') - asked;
    assert.ok(times > 2 && times < 20, `${String(times)} times in an hour`);
  });
});

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

import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import type { AssessmentClient } from '../../../../src/core/api/client.ts';
import { AssessmentError, type ErrorKind } from '../../../../src/core/errors.ts';
import { RunStore } from '../../../../src/core/run/disk/runStore.ts';
import { mayHaveUploads } from '../../../../src/core/run/state/next.ts';
import { removeFile, removeUploads } from '../../../../src/core/run/steps/removeUploads.ts';
import type { RunEvent } from '../../../../src/core/run/state/event.ts';
import type { StepDeps } from '../../../../src/core/run/steps/step.ts';
import type { Run, RunIn, Target, UploadState } from '../../../../src/core/run/state/run.ts';
import { silent } from '../../../silentLog.ts';
import { dayMs, minuteMs, pass, stride } from '../passTime.ts';
import { storeWithoutSpaceFor } from '../hookedStore.ts';
import {
  type Fixture,
  openWindow,
  type RunWindow,
  setUpFixture,
  type WindowOptions,
  setUpWindow,
} from '../runWindow.ts';
import { runOf } from '../sampleRuns.ts';
import { trackRemoteRun } from '../seededRuns.ts';
import { tempFolder } from '../tempFolder.ts';
import { states } from '../uploads.ts';
import { VirtualClock } from '../virtualClock.ts';

/** Makes the service refuse deletions with this status. */
const refuse = (fixture: Fixture, status: number): (() => void) =>
  fixture.service.addFault({ match: { path: '/delete' }, before: { kind: 'reply', status } });

/** Ends a run of the window on the service, and waits for its notification. */
async function end(fixture: Fixture, window: RunWindow, run: RunIn<'running'>): Promise<void> {
  await fixture.service.finishRun(run.runId);
  await window.untilEnded(run.id);
  await pass(fixture, minuteMs);
}

async function untidyRun(t: TestContext, status: number, options: WindowOptions = {}) {
  const { fixture, window } = await setUpWindow(t, options);
  const run = (await window.start()) as RunIn<'running'>;
  const heal = refuse(fixture, status);
  await end(fixture, window, run);
  assert.deepEqual(states(fixture), ['confirmed']);
  return { fixture, window, id: run.id, heal };
}

describe('the source of an ended run', () => {
  test('F56 is not deleted with a rejected token, and deleted once the token changed', async (t) => {
    const { fixture, window, id, heal } = await untidyRun(t, 401);
    const asked = fixture.sent('/delete');
    for (let focus = 0; focus < 10; focus += 1) await window.tracker.resume();
    for (let change = 0; change < 3; change += 1) await window.tracker.tokenChanged((run) => run.id !== id);
    assert.equal(fixture.sent('/delete'), asked);
    heal();
    await fixture.passUntil(window.tracker.tokenChanged());
    assert.deepEqual(states(fixture), ['deleted']);
  });

  test("F56 is retried at growing intervals while the command's tokens are rejected, and deleted once one is accepted", async (t) => {
    const fixture = await setUpFixture(t);
    let made = 0;
    const windows: RunWindow[] = [];
    // As the editor's secret store does: every change there is announced to every window.
    const refresh = (): Promise<string | undefined> => {
      made += 1;
      const token = `invented-token-${String(made)}`;
      for (const window of windows) {
        window.setToken(token);
        void setImmediate().then(() => window.tracker.tokenChanged());
      }
      return Promise.resolve(made > 200 ? undefined : token);
    };
    const [window, other] = [openWindow(t, fixture, { refresh }), openWindow(t, fixture, { refresh })];
    windows.push(window, other);
    const run = (await window.start()) as RunIn<'running'>;
    const heal = refuse(fixture, 401);
    await end(fixture, window, run);
    await fixture.passUntil(other.tracker.resume());
    for (let minute = 0; minute < 120; minute += 1) {
      await stride(fixture, minuteMs);
      for (const { tracker } of windows) void tracker.resume();
    }
    assert.ok(made > 4 && made < 80, `${String(made)} tokens in two hours`);
    heal();
    await pass(fixture, 20 * minuteMs);
    for (const each of windows) each.setToken(fixture.service.token);
    await fixture.passUntil(window.tracker.tokenChanged());
    await pass(fixture, 20 * minuteMs);
    assert.deepEqual(states(fixture), ['deleted']);
  });

  test('F56 F66 is deleted after a change of the token while the disk took nothing', async (t) => {
    const { fixture, window, heal } = await untidyRun(t, 401, {
      store: storeWithoutSpaceFor('tokenChanged', 2),
    });
    heal();
    await window.tracker.tokenChanged();
    assert.deepEqual(states(fixture), ['confirmed']);
    await pass(fixture, minuteMs);
    assert.deepEqual(states(fixture), ['deleted']);
  });

  test('F56 is deleted at once when the user changes the token source', async (t) => {
    const { fixture, window, heal } = await untidyRun(t, 401);
    heal();
    await fixture.passUntil(window.tracker.tokenChanged(undefined, { isNewSource: true }));
    assert.deepEqual(states(fixture), ['deleted']);
  });

  test('F56 is deleted at once with the first token after a rejected change of the source', async (t) => {
    const { fixture, window, heal } = await untidyRun(t, 401);
    const asked = fixture.sent('/delete');
    await window.tracker.tokenChanged(undefined, { isNewSource: true });
    assert.ok(fixture.sent('/delete') > asked);
    heal();
    await window.tracker.tokenChanged();
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
    test(`believed ${believed} is ${outcome} by ${calls.join(' and ')} with ${String(cancel)} and ${String(remove)}`, async () => {
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
    test(`believed ${believed} stays after ${calls.join(' and ')} with ${String(cancel)} and ${String(remove)}`, async () => {
      const service = serviceThat(cancel, remove);
      await assert.rejects(removeFile('file', believed, service.client), { kind });
      assert.deepEqual(service.calls, calls);
    });
  }

  test('of an ended run remains for thirty days if the setting says so', () => {
    const run = runOf.succeeded;
    assert.ok(run.state === 'succeeded');
    const remainsIn = (state: UploadState, confirmedToo: boolean, passedMs = 0): boolean => {
      const upload = { fileId: 'file', state, at: 0 };
      const left = { ...run, targets: [{ folder: '/shop', name: 'shop', upload }] };
      return mayHaveUploads(left, confirmedToo, run.endedAt + passedMs);
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
    assert.equal(mayHaveUploads(runOf.running, true, 0), false);
  });

  const upload = (fileId: string, state: UploadState, isSure?: true): Target => ({
    folder: `/${fileId}`,
    name: fileId,
    upload: { fileId, state, at: 0, ...(isSure && { isSure }) },
  });
  /** Removes these files of a run, and says which calls were made, what then is known, and the failure. */
  async function removing(
    t: TestContext,
    targets: readonly Target[],
    answers: Record<string, AssessmentError | undefined> = {},
    { includeConfirmed = false, base = runOf.cancelled }: { includeConfirmed?: boolean; base?: Run } = {},
  ) {
    const clock = new VirtualClock();
    const store = new RunStore(await tempFolder(t), { clock, log: silent });
    await store.create({ ...base, targets: [...targets] });
    const calls: string[] = [];
    const answer = (call: string) => (fileId: string) => {
      calls.push(`${call} ${fileId}`);
      const error = answers[`${call} ${fileId}`];
      return error === undefined ? Promise.resolve() : Promise.reject(error);
    };
    const client = { cancelUpload: answer('cancel'), deleteFile: answer('delete') };
    const deps = {
      clock,
      log: silent,
      clientFor: () => client,
      random: () => 0,
      deleteSourceAfterRun: () => includeConfirmed,
      save: (event: RunEvent) => store.apply(base.id, event),
    } as unknown as StepDeps;
    const failed = await removeUploads({ ...base, targets: [...targets] }, deps);
    const known = store.get(base.id)?.targets.map((target) => target.upload?.state);
    return { calls, known, failure: failed?.failure, waitMs: failed?.retryAfterMs };
  }
  const failing = (kind: ErrorKind, retryAfterMs?: number) => new AssessmentError(kind, { retryAfterMs });

  test('that may be a reservation is cancelled, and not deleted if the setting keeps it', async (t) => {
    const both = [upload('a', 'confirmed'), upload('b', 'reserved')];
    const cancelled = await removing(t, both);
    assert.deepEqual(cancelled.calls, ['cancel a', 'cancel b']);
    assert.deepEqual(cancelled.known, ['cancelled', 'cancelled']);
    for (const kind of ['conflict', 'rejected', 'notFound'] as const) {
      const confirmed = await removing(t, [upload('a', 'confirmed')], { 'cancel a': failing(kind) });
      assert.deepEqual([confirmed.calls, confirmed.known, confirmed.failure], [['cancel a'], ['confirmed'], undefined]); // prettier-ignore
    }
    const refused = await removing(t, [upload('a', 'confirmed')], { 'cancel a': failing('forbidden') });
    assert.deepEqual([refused.known, refused.failure?.kind], [['confirmed'], 'forbidden']);
  });

  test('that is surely confirmed is deleted only if the setting deletes it', async (t) => {
    const sure = [upload('a', 'confirmed', true), upload('gone', 'deleted')];
    assert.deepEqual((await removing(t, sure)).calls, []);
    const deleted = await removing(t, sure, {}, { includeConfirmed: true });
    assert.deepEqual([deleted.calls, deleted.known], [['delete a'], ['deleted', 'deleted']]);
    const dispatched = await removing(t, [upload('a', 'confirmed')], {}, { base: runOf.succeeded });
    assert.deepEqual(dispatched.calls, []);
  });

  test('F51 stays after a rate limit, with the longest wait of all', async (t) => {
    const files = [upload('a', 'reserved'), upload('b', 'reserved'), upload('c', 'reserved')];
    const slow = await removing(t, files, {
      'cancel a': failing('serverError', 1_000),
      'cancel b': failing('serverError', 3_000),
      'cancel c': failing('serverError', 2_000),
    });
    assert.deepEqual([slow.calls.length, slow.waitMs], [3, 3_000]);
    const limited = await removing(t, files, { 'cancel b': failing('rateLimited') });
    assert.deepEqual(limited.calls, ['cancel a', 'cancel b']);
    assert.deepEqual(limited.known, ['cancelled', 'reserved', 'reserved']);
    assert.deepEqual([limited.failure?.kind, limited.waitMs], ['rateLimited', 0]);
  });
});

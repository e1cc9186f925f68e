import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { AssessmentError } from '../../../../src/core/errors.ts';
import { storeWithHook, storeWithoutSpaceFor } from '../hookedStore.ts';
import { setUpWindow } from '../runWindow.ts';
import { setUpRun } from '../seededRuns.ts';
import { eventually } from '../../core/eventually.ts';

describe('a cancellation', () => {
  for (const [what, status, state] of [
    ['without any answer', undefined, 'cancelled'],
    ['that is refused', 403, 'aborted'],
  ] as const) {
    test(`${what} lets the run end as ${state}`, async (t) => {
      const { fixture, window, id, runId } = await setUpRun(t);
      const match = { path: '/cancel' };
      fixture.service.addFault(
        status === undefined
          ? { match, after: { kind: 'reset' } }
          : { match, before: { kind: 'reply', status } },
      );
      await assert.rejects(fixture.passUntil(window.tracker.cancel(id)));
      assert.equal(window.store.get(id)?.state, 'running');
      await window.until(id, (run) => 'lastAnswerAt' in run && run.lastAnswerAt !== undefined);
      if (status !== undefined) await fixture.service.finishRun(runId, { kind: 'aborted', code: 'invented' });
      assert.equal((await window.untilEnded(id)).state, state);
    });
  }

  test('that never left this machine, although tried again and again, counts for nothing', async (t) => {
    const { fixture, window, id, runId } = await setUpRun(t);
    const plug = fixture.pullCable();
    await assert.rejects(fixture.passUntil(window.tracker.cancel(id)), { kind: 'unsent' });
    plug();
    assert.equal(fixture.sent('/cancel'), 0);
    await fixture.service.finishRun(runId, { kind: 'aborted', code: 'invented' });
    assert.equal((await window.untilEnded(id)).state, 'aborted');
  });

  test('with a lost answer and a rejected second request lets the run end as cancelled', async (t) => {
    const { fixture, window, id } = await setUpRun(t);
    fixture.service.addFault({ match: { path: '/cancel', nth: 1 }, after: { kind: 'reset' } });
    await fixture.passUntil(window.tracker.cancel(id));
    assert.equal(fixture.sent('/cancel'), 2);
    assert.equal((await window.untilEnded(id)).state, 'cancelled');
  });

  test('that was accepted but cannot be saved lets the run end as cancelled', async (t) => {
    const { fixture, window, id } = await setUpRun(t, {
      store: storeWithHook((event) => {
        if ('answer' in event && event.answer === 'accepted') throw new AssessmentError('storage');
      }),
    });
    await assert.rejects(fixture.passUntil(window.tracker.cancel(id)), { kind: 'storage' });
    assert.equal((await window.untilEnded(id)).state, 'cancelled');
  });

  test('is sent even if it cannot be saved first, since the run costs credits meanwhile', async (t) => {
    const { fixture, window, id } = await setUpRun(t, { store: storeWithoutSpaceFor('cancelSent', 1) });
    await fixture.passUntil(window.tracker.cancel(id));
    assert.equal((await window.untilEnded(id)).state, 'cancelled');
    assert.equal(fixture.sent('/cancel'), 1);
  });

  test('during the dispatch does not abort it: the paid run is known', async (t) => {
    const { fixture, window } = await setUpWindow(t);
    const stop = new AbortController();
    const held = Promise.withResolvers<undefined>();
    fixture.service.addFault({ match: { path: '/dispatch' }, after: { kind: 'hold', until: held.promise } });
    const started = window.tracker.start(await window.assessment(), { signal: stop.signal });
    await eventually(() => fixture.service.runs().length > 0, 'the service has a run');
    stop.abort();
    held.resolve(undefined);
    const run = await fixture.passUntil(started);
    assert.ok(run?.state === 'running');
    assert.equal(run.runId, fixture.service.runs()[0]?.id);
  });

  test('while the dispatch waits, with nothing accepted, ends the run at once for good', async (t) => {
    const { fixture, window } = await setUpWindow(t);
    const stop = new AbortController();
    const headers = { 'retry-after': '110' };
    fixture.refuse({ path: '/dispatch', times: 1 }, { status: 429, headers });
    const started = window.tracker.start(await window.assessment(), { signal: stop.signal });
    const began = fixture.clock.now();
    await eventually(
      () => fixture.clock.slept.some((ms) => ms >= 110_000),
      'a wait of at least 110_000 ms has begun',
    );
    stop.abort();
    const run = await started;
    assert.ok(run?.state === 'cancelled');
    assert.equal(fixture.clock.now() - began, 0);
    await window.until(run.id, ({ targets: [target] }) => target?.upload?.state === 'deleted');
    assert.deepEqual([fixture.sent('/dispatch'), fixture.service.files()[0]?.state], [1, 'deleted']);
  });
});

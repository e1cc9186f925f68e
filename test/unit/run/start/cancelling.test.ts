import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { storeWithoutSpaceFor } from '../hookedStore.ts';
import { setUpWindow } from '../runWindow.ts';
import { setUpRun } from '../seededRuns.ts';
import { eventually } from '../../core/eventually.ts';

describe('a cancellation', () => {
  for (const [what, status, state] of [
    ['whose answers are all lost is told as what it was', undefined, 'cancelled'],
    ['that is refused is not', 403, 'aborted'],
  ] as const) {
    test(`of a run that then ends ${what}`, async (t) => {
      const { fixture, window, id, runId } = await setUpRun(t);
      const match = { path: '/cancel' };
      fixture.service.addFault(
        status === undefined
          ? { match, after: { kind: 'reset' } }
          : { match, before: { kind: 'reply', status } },
      );
      await assert.rejects(fixture.clock.passUntil(window.tracker.cancel(id), fixture.traffic));
      assert.equal(window.store.get(id)?.state, 'running');
      await window.until(id, (run) => 'lastAnswerAt' in run && run.lastAnswerAt !== undefined);
      if (status !== undefined) await fixture.service.finishRun(runId, { kind: 'aborted', code: 'invented' });
      assert.equal((await window.untilEnded(id)).state, state);
    });
  }

  test('of a run whose answer was lost, and whose second is refused, is told as what it was', async (t) => {
    const { fixture, window, id } = await setUpRun(t);
    fixture.service.addFault({ match: { path: '/cancel', nth: 1 }, after: { kind: 'reset' } });
    await fixture.clock.passUntil(window.tracker.cancel(id), fixture.traffic);
    assert.equal(fixture.sent('/cancel'), 2);
    assert.equal((await window.untilEnded(id)).state, 'cancelled');
  });

  test('of a run that the service took, and that cannot be noted any more, is told as what it was', async (t) => {
    const { fixture, window, id } = await setUpRun(t, { store: storeWithoutSpaceFor('cancelAsked') });
    await assert.rejects(fixture.clock.passUntil(window.tracker.cancel(id), fixture.traffic), /no space/);
    assert.equal((await window.untilEnded(id)).state, 'cancelled');
  });

  test('is sent also when it cannot be noted first, since the run costs as long as it goes on', async (t) => {
    const { fixture, window, id } = await setUpRun(t, { store: storeWithoutSpaceFor('cancelSent') });
    await fixture.clock.passUntil(window.tracker.cancel(id), fixture.traffic);
    assert.equal((await window.untilEnded(id)).state, 'cancelled');
    assert.equal(fixture.sent('/cancel'), 1);
  });

  test('during the dispatch does not tear it off: the run that was paid for is known', async (t) => {
    const { fixture, window } = await setUpWindow(t);
    const stop = new AbortController();
    const held = Promise.withResolvers<undefined>();
    fixture.service.addFault({ match: { path: '/dispatch' }, after: { kind: 'hold', until: held.promise } });
    const started = window.tracker.start(await window.assessment(), { signal: stop.signal });
    await eventually(() => fixture.service.runs().length > 0, 'the service has a run');
    stop.abort();
    held.resolve(undefined);
    const run = await fixture.clock.passUntil(started, fixture.traffic);
    assert.ok(run?.state === 'running');
    assert.equal(run.runId, fixture.service.runs()[0]?.id);
  });

  test('while the dispatch waits, with nothing accepted, ends the run at once, and no run starts later', async (t) => {
    const { fixture, window } = await setUpWindow(t);
    const stop = new AbortController();
    const headers = { 'retry-after': '110' };
    fixture.service.addFault({
      match: { path: '/dispatch', times: 1 },
      before: { kind: 'reply', status: 429, headers },
    });
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

import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import { storeWithHook, storeWithoutSpaceFor } from '../hookedStore.ts';
import { type Fixture, openWindow, setUpFixture, setUpWindow } from '../runWindow.ts';
import { endWithoutExit, seedUnknownRun, trackRemoteRun } from '../seededRuns.ts';
import { accepted } from '../uploads.ts';
import { eventually } from '../../core/eventually.ts';

describe('an unknown run', () => {
  async function lose(t: TestContext) {
    const fixture = await setUpFixture(t);
    fixture.service.addFault({ match: { path: '/dispatch', nth: 1 }, after: { kind: 'reset' } });
    const window = openWindow(t, fixture);
    const { id } = await window.start();
    return { fixture, window, id };
  }

  test('F94 that is abandoned ends, and its confirmed file is deleted', async (t) => {
    const { fixture, window } = await setUpWindow(t);
    const { id } = await seedUnknownRun(fixture, window);
    await window.tracker.abandon(id);
    const run = window.store.get(id);
    assert.ok(run?.state === 'cancelled' && run.mayStillRun);
    assert.equal(fixture.service.files()[0]?.state, 'deleted');
  });

  test('stays unknown if the service does not know the run ID', async (t) => {
    const { fixture, window } = await setUpWindow(t);
    const { id } = await seedUnknownRun(fixture, window);
    const given = fixture.passUntil(window.tracker.giveRunId(id, 'run-nobody-has'));
    await assert.rejects(given, { kind: 'notFound' });
    assert.equal(window.store.get(id)?.state, 'unknown');
  });

  test('refuses the run ID of another run, from any window, unless that one was given up', async (t) => {
    const { fixture, window } = await setUpWindow(t);
    const { id } = await seedUnknownRun(fixture, window);
    const other = openWindow(t, fixture);
    const { id: tracked, runId } = await trackRemoteRun(fixture, other);
    const give = () => fixture.passUntil(window.tracker.giveRunId(id, runId));
    await assert.rejects(give(), { kind: 'runIdTaken' });
    assert.equal(window.store.get(id)?.state, 'unknown');
    await endWithoutExit(other, tracked, fixture.clock.now());
    await give();
    assert.equal(window.store.get(id)?.state, 'running');
  });

  test('F66 whose second dispatch the disk does not take names the disk, and sends nothing', async (t) => {
    const { fixture, window } = await setUpWindow(t, { store: storeWithoutSpaceFor('dispatchIntended', 1) });
    const { id } = await seedUnknownRun(fixture, window);
    await assert.rejects(window.tracker.resend(id), { kind: 'diskFull' });
    assert.deepEqual([window.store.get(id)?.state, fixture.sent('/dispatch')], ['unknown', 0]);
    assert.equal((await fixture.passUntil(window.tracker.resend(id))).state, 'running');
  });

  const refusals = [
    ['is refused', (fixture: Fixture) => fixture.refuse('/dispatch', 403)],
    ['gets a 429 for ever', (fixture: Fixture) => fixture.refuse('/dispatch', 429)],
    ['finds no network', (fixture: Fixture) => fixture.pullCable()],
  ] as const;
  for (const [what, refuse] of refusals) {
    test(`F45 F94 whose second dispatch ${what} stays unknown, and its files are kept`, async (t) => {
      const { fixture, window, id } = await lose(t);
      const before = window.store.get(id);
      assert.ok(before?.state === 'unknown');
      const heal = refuse(fixture);
      t.after(heal);
      const run = await fixture.passUntil(window.tracker.resend(id));
      assert.ok(run.state === 'unknown');
      const { refusal, ...rest } = run;
      assert.deepEqual(rest, before);
      assert.ok(['forbidden', 'rateLimited', 'unsent'].includes(refusal?.kind ?? ''), refusal?.kind);
      assert.deepEqual(window.ended.at(-1), run, 'the user is notified');
      heal();
      await fixture.passUntil(window.tracker.resume());
      assert.equal(fixture.service.files()[0]?.state, 'confirmed');
      const [started] = fixture.service.runs();
      await fixture.passUntil(window.tracker.giveRunId(id, started!.id));
      assert.equal(window.store.get(id)?.state, 'running');
    });
  }

  /** A second dispatch waits after a 429, in the window that lost the first one. */
  async function waitAgain(t: TestContext) {
    const { fixture, window, id } = await lose(t);
    fixture.refuse({ path: '/dispatch', times: 1 }, { status: 429, headers: { 'retry-after': '60' } });
    const stop = new AbortController();
    const again = window.tracker.resend(id, stop.signal);
    await eventually(
      () => fixture.clock.slept.some((ms) => ms >= 60_000),
      'a wait of at least 60_000 ms has begun',
    );
    return { fixture, window, id, again, stop };
  }

  test('refuses a run ID while its second dispatch waits, which would lose the second run', async (t) => {
    const { fixture, window, id, again } = await waitAgain(t);
    const other = openWindow(t, fixture);
    await other.store.reload();
    const [first] = fixture.service.runs();
    for (const { tracker } of [window, other])
      await assert.rejects(tracker.giveRunId(id, first!.id), { kind: 'busyElsewhere' });
    const run = await fixture.passUntil(again);
    assert.ok(run.state === 'running');
    assert.equal(run.runId, fixture.service.runs()[1]?.id);
  });

  test('F47 that is given up while its second dispatch is accepted does not lose the run', async (t) => {
    const { fixture, window, id } = await lose(t);
    await window.close();
    const store = storeWithHook(async (event) => {
      if (event.type !== 'dispatched') return;
      const at = fixture.clock.now();
      await other.apply(id, { type: 'dispatchLost', reason: { kind: 'interrupted' }, at });
      await other.apply(id, { type: 'abandoned', at });
    });
    const again = openWindow(t, fixture, { store });
    const { store: other } = openWindow(t, fixture);
    await Promise.all([again.store.reload(), other.reload()]);
    const run = await fixture.passUntil(again.tracker.resend(id));
    const [, second] = fixture.service.runs();
    assert.ok(run.state === 'running' && run.runId === second!.id && run.id !== id);
    assert.equal(fixture.sent('/dispatch'), 2);
    await fixture.service.finishRun(second!.id);
    await again.untilState(run.id, 'succeeded');
  });

  for (const who of ['the user', 'the end of its window'] as const) {
    test(`whose second dispatch is stopped by ${who} while it waits stays unknown`, async (t) => {
      const { fixture, window, id, again, stop } = await waitAgain(t);
      const sent = fixture.sent('/dispatch');
      if (who === 'the user') stop.abort();
      else window.tracker.dispose();
      const run = await again;
      assert.ok(run.state === 'unknown');
      assert.deepEqual([run.reason.kind, run.refusal], ['connectionLost', undefined]);
      assert.deepEqual([fixture.sent('/dispatch'), fixture.service.files()[0]?.state], [sent, 'confirmed']);
      const next = openWindow(t, fixture);
      await next.tracker.resume();
      assert.equal((await fixture.passUntil(next.tracker.resend(id))).state, 'running');
    });
  }

  test('F47 dispatched again twice at once, in one or two windows, is sent once', async (t) => {
    const { fixture, window } = await setUpWindow(t);
    const { id } = await seedUnknownRun(fixture, window);
    const other = openWindow(t, fixture);
    await other.store.reload();
    const tries = [window.tracker.resend(id), window.tracker.resend(id), other.tracker.resend(id)];
    const outcomes = await fixture.passUntil(Promise.allSettled(tries));
    assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 1);
    for (const outcome of outcomes) {
      if (outcome.status === 'rejected')
        assert.equal((outcome.reason as { kind: string }).kind, 'busyElsewhere');
    }
    assert.deepEqual([fixture.sent('/dispatch'), accepted(fixture)], [1, 1]);
  });
});

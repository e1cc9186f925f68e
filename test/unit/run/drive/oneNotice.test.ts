import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { killHolder } from '../deadProcess.ts';
import { minuteMs, pass } from '../passTime.ts';
import { storeWithHook, storeWithoutSpaceFor } from '../hookedStore.ts';
import { openWindow, setUpFixture, setUpWindow } from '../runWindow.ts';
import { trackRemoteRun, trackRunThatEndsUnseen } from '../seededRuns.ts';
import { states } from '../uploads.ts';
import { VirtualClock } from '../virtualClock.ts';
import { eventually } from '../../core/eventually.ts';

describe('the end of a run', () => {
  test('F63 F103 is announced once by a window that cannot save that, and again by the next window', async (t) => {
    const { fixture, window } = await setUpWindow(t, { store: storeWithoutSpaceFor('endNotified') });
    const started = await window.start();
    assert.ok(started.state === 'running');
    await fixture.service.finishRun(started.runId);
    await window.untilState(started.id, 'succeeded');
    await pass(fixture, 20 * minuteMs);
    await fixture.passUntil(window.tracker.resume());
    assert.deepEqual(states(fixture), ['deleted'], 'its source is deleted');
    assert.deepEqual([window.ended.length, window.store.get(started.id)?.noticeDue], [1, true]);
    await window.close();
    const next = openWindow(t, fixture);
    await fixture.passUntil(next.tracker.resume());
    assert.deepEqual([next.ended.length, next.store.get(started.id)?.noticeDue], [1, false]);
  });

  test('F63 F103 is announced once by a window that can save that later, and not by one that finds it noted or removed', async (t) => {
    const fixture = await setUpFixture(t);
    const other = openWindow(t, fixture);
    const noteFirst = storeWithHook(async ({ type, at }) => {
      if (type !== 'endNotified') return;
      const [run] = await other.store.reload().then(() => other.store.all());
      await other.store.apply(run!.id, { type, at });
    });
    const removeFirst = storeWithHook(async ({ type }) => {
      if (type === 'endNotified') await other.store.remove(other.store.all()[0]!.id);
    });
    for (const [store, notices] of [
      [storeWithoutSpaceFor('endNotified', 2), 1],
      [noteFirst, 0],
      [removeFirst, 0],
    ] as const) {
      const window = openWindow(t, fixture, { store });
      const { id, runId } = await trackRemoteRun(fixture, window);
      await fixture.service.finishRun(runId);
      await fixture.passUntil(other.store.reload());
      await window.untilState(id, 'succeeded');
      await pass(fixture, 20 * minuteMs);
      assert.equal(window.ended.length, notices);
      await window.store.remove(id);
      await window.close();
    }
  });

  test('F62 F63 is announced once by windows that open together', async (t) => {
    const fixture = await setUpFixture(t);
    const id = await trackRunThatEndsUnseen(t, fixture);
    const windows = Array.from({ length: 4 }, () => openWindow(t, fixture));
    await Promise.all(windows.map(({ tracker }) => tracker.resume()));
    await windows[0]!.untilEnded(id);
    await pass(fixture, minuteMs);
    assert.equal(windows.flatMap(({ ended }) => ended).length, 1);
  });

  test('F63 is not announced by a window that lost the run, even if it received the last answer', async (t) => {
    const fixture = await setUpFixture(t);
    const clock = new VirtualClock();
    const [slow, other] = [openWindow(t, fixture, { clock }), openWindow(t, fixture)];
    const held = Promise.withResolvers<undefined>();
    const hold = { kind: 'hold' as const, until: held.promise };
    fixture.service.addFault({ match: { path: '/dispatch' }, before: hold, after: { kind: 'reset' } });
    const started = slow.tracker.start(await slow.assessment());
    await eventually(() => fixture.sent('/dispatch') > 0, 'the dispatch is sent');
    const { id } = slow.store.all()[0]!;
    await killHolder(fixture, id);
    await other.tracker.resume();
    for (let beats = 0; beats < 4; beats += 1) {
      fixture.clock.advance(5_000);
      // The held request and its timers do not count.
      await fixture.clock.rest({ ...fixture.traffic, isBusy: () => false, othersTimers: Infinity });
    }
    assert.equal(other.store.get(id)?.state, 'unknown');
    // Its next heartbeat notices.
    clock.advance(5_000);
    await eventually(() => slow.store.get(id)?.state === 'unknown', 'the run is unknown');
    held.resolve(undefined);
    assert.equal((await started)?.state, 'unknown');
    assert.deepEqual([slow.ended.length, other.ended.length], [0, 1]);
  });
});

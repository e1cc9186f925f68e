import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Run } from '../../../../src/core/run/state/run.ts';
import { openWindow, type RunWindow, setUpWindow } from '../runWindow.ts';

/** Resolves with the window's run once the condition holds. */
function untilMade(window: RunWindow, isReached: (run: Run) => boolean): Promise<Run> {
  return new Promise((resolve) => {
    window.store.onDidChange(([run]) => {
      if (run !== undefined && isReached(run)) resolve(run);
    });
  });
}

describe('F54 F63 a sleeping machine on which another window wakes first', () => {
  test('does not interrupt an upload of the first window', async (t) => {
    const { fixture, window } = await setUpWindow(t);
    const other = openWindow(t, fixture);
    await other.tracker.resume();
    fixture.service.addFault({ match: { method: 'PUT' }, before: { kind: 'stall' } });
    const stop = new AbortController();
    const reserved = untilMade(window, ({ targets }) => targets[0]?.upload !== undefined);
    const started = window.tracker.start(await window.assessment(), { signal: stop.signal });
    const { id } = await reserved;
    fixture.clock.moveWall(8 * 3600_000);
    await other.tracker.resume();
    assert.deepEqual([other.store.get(id)?.state, other.ended], ['preparing', []]);
    stop.abort();
    await started.catch(() => undefined);
  });

  test('does not make a running dispatch count as lost', async (t) => {
    const { fixture, window } = await setUpWindow(t);
    const other = openWindow(t, fixture);
    await other.tracker.resume();
    const held = Promise.withResolvers<undefined>();
    fixture.service.addFault({ match: { path: '/dispatch' }, before: { kind: 'hold', until: held.promise } });
    const intended = untilMade(window, ({ state }) => state === 'dispatching');
    const started = window.tracker.start(await window.assessment());
    const { id } = await intended;
    fixture.clock.moveWall(8 * 3600_000);
    await other.tracker.resume();
    assert.deepEqual([other.store.get(id)?.state, other.ended], ['dispatching', []]);
    held.resolve(undefined);
    await fixture.passUntil(started);
    assert.deepEqual([(await started)?.state, fixture.sent('/dispatch')], ['running', 1]);
  });
});

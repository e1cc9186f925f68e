import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { bury } from '../buriedWindow.ts';
import { minuteMs, pass } from '../days.ts';
import { storeWithoutSpaceFor } from '../preparedStore.ts';
import { openWindow, setUpDesk, setUpWindow } from '../runWindow.ts';
import { trackRunThatEndsUnseen } from '../seededRuns.ts';
import { states } from '../uploads.ts';
import { VirtualClock } from '../virtualClock.ts';
import { eventually } from '../../core/eventually.ts';

describe('the end of a run', () => {
  test('F63 F103 is told by a window that cannot note that, once, and keeps no timer going; the next window tells it again', async (t) => {
    const { desk, window } = await setUpWindow(t, { store: storeWithoutSpaceFor('endNotified') });
    const started = await window.start();
    assert.ok(started.state === 'running');
    // What is left to be tidied up has the window take the run up again.
    const reply = { kind: 'reply' as const, status: 503 };
    const heal = desk.service.addFault({ match: { path: '/delete' }, before: reply });
    await desk.service.finishRun(started.runId);
    await window.untilState(started.id, 'succeeded');
    await pass(desk, minuteMs);
    heal();
    await pass(desk, 20 * minuteMs);
    assert.deepEqual(states(desk), ['deleted'], 'taken up again');
    const { length } = desk.clock.slept;
    await desk.clock.passUntil(desk.clock.sleep(60 * minuteMs), desk.traffic);
    assert.deepEqual(desk.clock.slept.slice(length + 1), []);
    await desk.clock.passUntil(window.tracker.resume(), desk.traffic);
    assert.deepEqual([window.ended.length, window.store.get(started.id)?.noticeDue], [1, true]);
    window.tracker.dispose();
    const next = openWindow(t, desk);
    await desk.clock.passUntil(next.tracker.resume(), desk.traffic);
    assert.deepEqual([next.ended.length, next.store.get(started.id)?.noticeDue], [1, false]);
  });

  test('F62 F63 is told once by windows that open together', async (t) => {
    const desk = await setUpDesk(t);
    const id = await trackRunThatEndsUnseen(t, desk);
    const windows = Array.from({ length: 4 }, () => openWindow(t, desk));
    await Promise.all(windows.map(({ tracker }) => tracker.resume()));
    await windows[0]!.untilEnded(id);
    await pass(desk, minuteMs);
    assert.equal(windows.flatMap(({ ended }) => ended).length, 1);
  });

  test('F63 is not told by a window that has lost the run, though it heard last what became of its dispatch', async (t) => {
    const desk = await setUpDesk(t);
    const clock = new VirtualClock();
    const [slow, other] = [openWindow(t, desk, { clock }), openWindow(t, desk)];
    const held = Promise.withResolvers<undefined>();
    const hold = { kind: 'hold' as const, until: held.promise };
    desk.service.addFault({ match: { path: '/dispatch' }, before: hold, after: { kind: 'reset' } });
    const started = slow.tracker.start(await slow.assessment());
    await eventually(() => desk.sent('/dispatch') > 0, 'the dispatch is sent');
    const { id } = slow.store.all()[0]!;
    await bury(desk, id);
    await other.tracker.resume();
    assert.equal(other.store.get(id)?.state, 'unknown');
    // Its next heartbeat notices.
    clock.advance(5_000);
    await eventually(() => slow.store.get(id)?.state === 'unknown', 'the run is unknown');
    held.resolve(undefined);
    assert.equal((await started)?.state, 'unknown');
    assert.deepEqual([slow.ended.length, other.ended.length], [0, 1]);
  });
});

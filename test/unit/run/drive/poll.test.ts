import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import { type Run } from '../../../../src/core/run/state/run.ts';
import { minuteMs, pass, stride } from '../passTime.ts';
import { storeWithoutSpaceFor } from '../hookedStore.ts';
import { openWindow, type RunWindow } from '../runWindow.ts';
import { endWithoutExit, setUpRun } from '../seededRuns.ts';

describe('a run that a window polls', () => {
  test('F63 is released and announced once another window has ended it', async (t) => {
    const { fixture, window, id } = await setUpRun(t);
    const { store } = openWindow(t, fixture);
    await store.reload();
    await endWithoutExit({ store }, id, fixture.clock.now());
    await window.untilEnded(id);
    const asked = fixture.sent('/describe');
    await pass(fixture, 60 * minuteMs);
    assert.equal(fixture.sent('/describe'), asked);
    assert.deepEqual(
      window.ended.map(({ state }) => state),
      ['failed'],
    );
  });

  test('F63 is no longer driven once another window has removed it, and no timer is left', async (t) => {
    const { fixture, window, id } = await setUpRun(t);
    const { store } = openWindow(t, fixture);
    await store.remove(id);
    await pass(fixture, minuteMs);
    assert.equal(window.store.get(id), undefined);
    const slept = fixture.clock.slept.length;
    await fixture.passUntil(fixture.clock.sleep(60 * minuteMs));
    assert.equal(fixture.clock.slept.length - slept, 1);
  });

  test('F66 is still polled if its trouble cannot be saved, which is logged', async (t) => {
    const { fixture, window, id } = await setUpRun(t, { store: storeWithoutSpaceFor('stepFailed', 9) });
    const heal = fixture.service.addFault({
      match: { path: '/describe' },
      before: { kind: 'reply', status: 403 },
    });
    await pass(fixture, 10 * minuteMs);
    heal();
    const healedAt = fixture.clock.now();
    assert.ok(
      window.lines.includes(`Run ${id}: its failure could not be saved: Error: no space left on device`),
    );
    await window.until(id, (run) => 'lastAnswerAt' in run && (run.lastAnswerAt ?? 0) > healedAt);
  });
});

/** A run that failed to poll offline, with its next poll minutes away; `plug` restores the network. */
async function runOffline(t: TestContext) {
  const { fixture, window, id } = await setUpRun(t);
  const plug = fixture.pullCable();
  t.after(plug);
  const isFar = (): boolean => (window.tracker.nextCheckAt(id) ?? 0) - fixture.clock.now() > 3 * minuteMs;
  await window.until(id, (run) => 'trouble' in run && run.trouble?.kind === 'unsent');
  while (!isFar()) await pass(fixture, 5_000);
  return { fixture, window, id, plug };
}

const isUntroubled = (run: Run | undefined): boolean => run?.state === 'running' && run.trouble === undefined;

describe('a run with an unreachable service', () => {
  test('F53 is polled at growing intervals, and when due once the network is back', async (t) => {
    const { fixture, window, id, plug } = await runOffline(t);
    const dues = new Set<number>();
    for (let minutes = 0; minutes < 60; minutes += 1) {
      await stride(fixture, minuteMs);
      dues.add(window.tracker.nextCheckAt(id) ?? 0);
    }
    assert.ok(dues.size > 2 && dues.size < 20, `${String(dues.size)} tries in an hour`);
    plug();
    const due = window.tracker.nextCheckAt(id) ?? 0;
    await window.until(id, isUntroubled);
    assert.ok(Math.abs(fixture.clock.now() - due) <= 5_000);
  });

  test('F53 is polled when its window gets the focus, at most once a minute and not during Retry-After', async (t) => {
    const { fixture, window, id, plug } = await runOffline(t);
    plug();
    const other = openWindow(t, fixture);
    const focus = ({ tracker }: RunWindow) => fixture.passUntil(tracker.focused());
    const reply = { kind: 'reply' as const, status: 503 };
    const heal = fixture.service.addFault({ match: { path: '/describe' }, before: reply });
    const asked = fixture.sent('/describe');
    for (let focuses = 0; focuses < 5; focuses += 1) await focus(window);
    assert.equal(fixture.sent('/describe') - asked, 0, 'it has just been polled');
    fixture.clock.advance(minuteMs);
    await focus(other);
    for (let focuses = 0; focuses < 30; focuses += 1) await focus(window);
    assert.equal(fixture.sent('/describe') - asked, 1);
    heal();
    fixture.clock.advance(minuteMs);
    await focus(window);
    assert.equal(isUntroubled(window.store.get(id)), true);
    await focus(window);
    assert.equal(fixture.sent('/describe') - asked, 2, 'the last poll did not fail');
  });
});

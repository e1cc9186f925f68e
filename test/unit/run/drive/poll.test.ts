import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { minuteMs, pass } from '../passTime.ts';
import { storeWithoutSpaceFor } from '../hookedStore.ts';
import { openWindow } from '../runWindow.ts';
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
    const heal = fixture.refuse('/describe', 403);
    await pass(fixture, 10 * minuteMs);
    heal();
    const healedAt = fixture.clock.now();
    assert.ok(
      window.lines.includes(`Run ${id}: its failure could not be saved: Error: no space left on device`),
    );
    await window.until(id, (run) => 'lastAnswerAt' in run && (run.lastAnswerAt ?? 0) > healedAt);
  });
});

test('F53 a run with an unreachable service is polled at the focus of its own window, at most once a minute', async (t) => {
  const { fixture, window, id } = await setUpRun(t);
  const plug = fixture.pullCable();
  t.after(plug);
  await window.until(id, (run) => 'trouble' in run && run.trouble?.kind === 'unsent');
  plug();
  const asked = fixture.sent('/describe');
  for (const tracker of [window.tracker, openWindow(t, fixture).tracker])
    await fixture.passUntil(tracker.focused());
  assert.equal(fixture.sent('/describe'), asked);
  fixture.clock.advance(minuteMs);
  for (let focuses = 0; focuses < 2; focuses += 1) await fixture.passUntil(window.tracker.focused());
  const run = window.store.get(id);
  assert.ok(run?.state === 'running' && run.trouble === undefined);
  assert.equal(fixture.sent('/describe') - asked, 1);
});

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { minuteMs, pass } from '../days.ts';
import { storeWithoutSpaceFor } from '../preparedStore.ts';
import { openWindow, setUpDesk } from '../runWindow.ts';
import { endWithoutExit, trackRemoteRun } from '../seededRuns.ts';

describe('a run that a window asks about', () => {
  test('F63 is given back, and told of, once another window has ended it', async (t) => {
    const desk = await setUpDesk(t);
    const window = openWindow(t, desk);
    const { id } = await trackRemoteRun(desk, window);
    const { store } = openWindow(t, desk);
    await store.reload();
    await endWithoutExit({ store }, id, desk.clock.now());
    await window.untilEnded(id);
    const asked = desk.sent('/describe');
    await pass(desk, 60 * minuteMs);
    assert.equal(desk.sent('/describe'), asked);
    assert.deepEqual(
      window.ended.map(({ state }) => state),
      ['failed'],
    );
  });

  test('F63 is driven no more once another window has removed it, and no timer is left', async (t) => {
    const desk = await setUpDesk(t);
    const window = openWindow(t, desk);
    const { id } = await trackRemoteRun(desk, window);
    const { store } = openWindow(t, desk);
    await store.remove(id);
    await pass(desk, minuteMs);
    assert.equal(window.tracker.nextCheckAt(id), undefined);
    const slept = desk.clock.slept.length;
    await desk.clock.passUntil(desk.clock.sleep(60 * minuteMs), desk.traffic);
    assert.equal(desk.clock.slept.length - slept, 1);
  });

  test('F66 is asked about all the same when trouble with it cannot be noted, and that is logged', async (t) => {
    const desk = await setUpDesk(t);
    const window = openWindow(t, desk, { store: storeWithoutSpaceFor('pollFailed') });
    const { id } = await trackRemoteRun(desk, window);
    const heal = desk.service.addFault({
      match: { path: '/describe' },
      before: { kind: 'reply', status: 403 },
    });
    await pass(desk, 10 * minuteMs);
    heal();
    const healedAt = desk.clock.now();
    assert.ok(window.lines.includes(`Run ${id}: Error: no space left on device`), window.lines.join('\n'));
    await window.until(id, (run) => 'lastAnswerAt' in run && (run.lastAnswerAt ?? 0) > healedAt);
  });

  test('F53 is asked about when its time comes, also where nobody can tell that the network is back', async (t) => {
    const desk = await setUpDesk(t);
    const broken = { reaches: () => Promise.reject(new Error('no such interface')), addresses: () => '' };
    const window = openWindow(t, desk, { network: broken });
    const { id } = await trackRemoteRun(desk, window);
    const plug = desk.pullCable();
    t.after(plug);
    await window.until(id, (run) => 'trouble' in run && run.trouble !== undefined);
    await pass(desk, minuteMs);
    plug();
    await window.until(id, (run) => run.state === 'running' && run.trouble === undefined);
    const line = 'The network could not be checked: Error: no such interface';
    assert.ok(window.lines.filter((each) => each === line).length > 2, window.lines.join('\n'));
  });
});

import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, test, type TestContext } from 'node:test';
import { mayStopWatching } from '../../../../src/core/run/state/trouble.ts';
import type { RunIn } from '../../../../src/core/run/state/run.ts';
import { randomOf } from '../../../torture/seededValues.ts';
import { dayMs, leap, pass, stayAwake, stride } from '../passTime.ts';
import { type Fixture, openWindow, type RunWindow, setUpWindow } from '../runWindow.ts';
import { setUpRun } from '../seededRuns.ts';

describe('a service that fails for long', () => {
  test('F52 with 5xx for a day is polled at growing intervals, logged once, and the run recovers', async (t) => {
    const { fixture, window, id, runId } = await setUpRun(t, { random: randomOf(1) });
    const heal = fixture.service.addFault({
      match: { path: '/describe' },
      before: { kind: 'reply', status: 503 },
    });
    const asked = fixture.sent('/describe');
    await stride(fixture, dayMs / 4);
    const looks = fixture.sent('/describe') - asked;
    assert.ok(
      looks > 22 && looks <= 60,
      `${String(looks)} looks in six hours, the first and busiest of the day`,
    );
    await leap(fixture, (3 * dayMs) / 4);
    const troubled = window.store.get(id);
    assert.ok(troubled?.state === 'running' && troubled.trouble?.kind === 'serverError');
    assert.deepEqual(window.ended, []);
    heal();
    await window.until(id, (run) => run.state === 'running' && run.trouble === undefined);
    await fixture.service.finishRun(runId);
    await window.untilEnded(id);
    assert.equal(window.ended.length, 1, 'one notice');
  });

  test('F52 logs each distinct trouble once as a warning', async (t) => {
    const { fixture, window } = await setUpRun(t);
    for (const status of [503, 500, 403]) {
      const heal = fixture.service.addFault({
        match: { path: '/describe' },
        before: { kind: 'reply', status },
      });
      await fixture.untilSent('/describe', fixture.sent('/describe') + 4);
      heal();
    }
    const warned = window.warnings.filter((line) => line.includes('poll failed'));
    assert.equal(warned.length, 3, warned.join('\n'));
  });
});

async function forgottenRun(
  t: TestContext,
): Promise<{ fixture: Fixture; window: RunWindow; id: string; heal: () => void }> {
  const { fixture, window, id } = await setUpRun(t);
  const heal = fixture.service.addFault({
    match: { path: '/describe' },
    before: { kind: 'reply', status: 404 },
  });
  await window.until(id, (run) => 'trouble' in run && run.trouble?.kind === 'notFound');
  return { fixture, window, id, heal };
}

describe('a run with occasional bytes of results', () => {
  test('F125 has trouble, can be given up after a day, and then be removed', async (t) => {
    const { fixture, window, id, runId } = await setUpRun(t);
    const slow = createServer((_request, response) => {
      const send = (): void => {
        if (response.destroyed) return;
        fixture.clock.advance(30_000);
        response.write('x', () => setImmediate(send));
      };
      send();
    });
    await new Promise<void>((resolve) => slow.listen(0, '127.0.0.1', resolve));
    t.after(() => slow.close());
    const url = `http://127.0.0.1:${String((slow.address() as AddressInfo).port)}/report`;
    const body = JSON.stringify({ url, expires_in_seconds: 900 });
    const reply = { kind: 'reply' as const, status: 200, body };
    fixture.service.addFault({ match: { path: /artifact-download-url$/ }, before: reply });
    await fixture.service.finishRun(runId);
    await window.until(id, (run) => run.state === 'collecting' && run.trouble?.kind === 'timeout');
    fixture.clock.advance(dayMs);
    await fixture.passUntil(window.tracker.stopWatching(id));
    assert.equal(window.store.get(id)?.state, 'succeeded');
    await fixture.passUntil(window.tracker.remove(id));
    assert.equal(window.store.get(id), undefined);
  });
});

describe('a run that no longer answers', () => {
  test('F95 can be given up after 24 h of 404, not before', async (t) => {
    const { fixture, window, id } = await forgottenRun(t);
    const mayStop = (): boolean => mayStopWatching(window.store.get(id)!, fixture.clock.now());
    await leap(fixture, 23 * 3600_000);
    assert.equal(mayStop(), false);
    await leap(fixture, 3600_000);
    assert.equal(mayStop(), true);
    await fixture.passUntil(window.tracker.stopWatching(id));
    const run = window.store.get(id);
    assert.ok(run?.state === 'failed');
    assert.deepEqual([run.failure.kind, run.noticeDue, window.ended.length], ['unanswered', false, 0]);
    const asked = fixture.sent('/describe');
    await pass(fixture, 3600_000);
    assert.equal(fixture.sent('/describe'), asked, 'it is asked about no more');
  });

  test('F95 is watched further, and keeps its source, if it answers again before it is given up', async (t) => {
    const { fixture, window, id, heal } = await forgottenRun(t);
    await leap(fixture, dayMs);
    const other = openWindow(t, fixture);
    await other.store.reload();
    heal();
    await fixture.passUntil(window.tracker.checkNow(id));
    assert.equal(mayStopWatching(other.store.get(id)!, fixture.clock.now()), true);
    await assert.rejects(other.tracker.stopWatching(id), { kind: 'changedMeanwhile' });
    assert.deepEqual([window.store.get(id)?.state, fixture.sent('/delete')], ['running', 0]);
  });

  test('F95 is polled at the longest interval for as long as nobody stops it', async (t) => {
    const { fixture, window, id } = await forgottenRun(t);
    await stayAwake(fixture, 25);
    await leap(fixture, 60 * dayMs);
    const asked = fixture.sent('/describe');
    await stride(fixture, dayMs / 4);
    const times = fixture.sent('/describe') - asked;
    assert.ok(times >= 6 * 4 && times < 6 * 12, `${String(times)} times in six hours`);
    assert.deepEqual([window.store.get(id)?.state, window.ended], ['running', []]);
  });

  test('F97 is watched further, and keeps its source, after a clock 30 days ahead during a minute of failures', async (t) => {
    const { fixture, window } = await setUpWindow(t);
    const { id, runId } = (await window.start()) as RunIn<'running'>;
    const match = { path: '/describe' };
    const heal = fixture.service.addFault({ match, before: { kind: 'reply', status: 503 } });
    fixture.clock.moveWall(30 * dayMs);
    await fixture.untilSent('/describe', 6);
    fixture.clock.moveWall(-30 * dayMs);
    assert.deepEqual([window.store.get(id)?.state, fixture.sent('/delete')], ['running', 0]);
    heal();
    await fixture.service.finishRun(runId);
    assert.equal((await window.untilEnded(id)).state, 'succeeded');
  });

  test('F95 that waits for a token is not polled, and can be given up by a user who could sign in', async (t) => {
    const { fixture, window, id } = await setUpRun(t);
    window.setToken(undefined);
    await window.until(id, (run) => 'trouble' in run && run.trouble?.kind === 'notSignedIn');
    const asked = fixture.sent('/describe');
    const mayStop = (): boolean => mayStopWatching(window.store.get(id)!, fixture.clock.now());
    await leap(fixture, 29 * dayMs);
    assert.equal(mayStop(), false);
    await leap(fixture, 2 * dayMs);
    assert.deepEqual([mayStop(), fixture.sent('/describe') - asked], [true, 0]);
    window.setToken(fixture.service.token);
    await fixture.passUntil(window.tracker.tokenChanged());
    const run = window.store.get(id);
    assert.ok(run?.state === 'running' && run.trouble === undefined);
  });
});

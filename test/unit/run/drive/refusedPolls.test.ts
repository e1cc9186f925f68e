import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import { AssessmentError } from '../../../../src/core/errors.ts';
import { needsUser } from '../../../../src/core/run/state/trouble.ts';
import { minuteMs, pass } from '../passTime.ts';
import { openWindow, setUpFixture } from '../runWindow.ts';
import { trackRemoteRun, setUpRun } from '../seededRuns.ts';

/** The run waits for another token. Counts its polls. */
async function pausedRun(t: TestContext) {
  const { fixture, window, id } = await setUpRun(t);
  fixture.service.setTokens(['next-invented-token']);
  await window.until(id, needsUser);
  return { fixture, window, id, asked: fixture.sent('/describe') };
}

describe('a watched run', () => {
  for (const [what, kind] of [
    ['F56 with a rejected', 'unauthorized'],
    ['F89 with a missing', 'notSignedIn'],
  ] as const)
    test(`${what} token pauses, is kept, and continues once the token changed`, async (t) => {
      const { fixture, window, id, runId } = await setUpRun(t);
      if (kind === 'unauthorized') fixture.service.setTokens(['next-invented-token']);
      else window.setToken(undefined);
      const paused = await window.until(id, needsUser);
      assert.equal('trouble' in paused && paused.trouble?.kind, kind);
      const asked = fixture.sent('/describe');
      await pass(fixture, 20 * minuteMs);
      assert.equal(fixture.sent('/describe') - asked, kind === 'unauthorized' ? 1 : 0);
      window.setToken(kind === 'unauthorized' ? 'next-invented-token' : fixture.service.token);
      await fixture.passUntil(window.tracker.tokenChanged());
      const run = window.store.get(id);
      assert.ok(run?.state === 'running' && run.trouble === undefined);
      assert.ok(window.tracker.nextCheckAt(id) !== undefined);
      await fixture.service.finishRun(runId);
      assert.equal((await window.untilEnded(id)).state, 'succeeded');
    });

  test('F56 with a rejected token is polled by the window that takes it over, which has another token', async (t) => {
    const { fixture, window, id, asked } = await pausedRun(t);
    const other = openWindow(t, fixture);
    await other.tracker.resume();
    other.setToken('next-invented-token');
    await fixture.passUntil(other.tracker.tokenChanged());
    assert.equal(fixture.sent('/describe'), asked, 'the lease is held');
    await window.close();
    await other.until(id, (run) => run.state === 'running' && run.trouble === undefined);
  });

  test('F56 with a rejected token is polled once after a change that every window hears of', async (t) => {
    const { fixture, window, id, asked } = await pausedRun(t);
    const other = openWindow(t, fixture);
    await other.tracker.resume();
    for (const each of [window, other]) each.setToken('next-invented-token');
    for (const { tracker } of [other, window]) await fixture.passUntil(tracker.tokenChanged());
    assert.equal(fixture.sent('/describe') - asked, 1);
    await fixture.passUntil(window.tracker.tokenChanged());
    assert.equal(fixture.sent('/describe') - asked, 1, 'it does not wait for a token');
    assert.ok(window.tracker.nextCheckAt(id) !== undefined);
  });

  test('F56 with a rejected token is polled again at once after another window has had an answer', async (t) => {
    const { fixture, window, id, asked } = await pausedRun(t);
    const other = openWindow(t, fixture);
    other.setToken('next-invented-token');
    await fixture.passUntil(other.tracker.checkNow(id));
    assert.equal(fixture.sent('/describe') - asked, 1);
    window.setToken('next-invented-token');
    await pass(fixture, minuteMs);
    assert.ok(fixture.sent('/describe') - asked > 1);
  });

  test('F56 with a rejected token continues at once with the right one, however often tokens of others changed', async (t) => {
    const { fixture, window, id, asked } = await pausedRun(t);
    for (let change = 0; change < 5; change += 1)
      await fixture.passUntil(window.tracker.tokenChanged((run) => run.id !== id));
    assert.equal(fixture.sent('/describe'), asked);
    window.setToken('next-invented-token');
    await fixture.passUntil(window.tracker.tokenChanged((run) => run.id === id));
    const run = window.store.get(id);
    assert.ok(run?.state === 'running' && run.trouble === undefined);
  });

  test('F56 whose token command fails is polled at once by its window when the user changes the command', async (t) => {
    const fixture = await setUpFixture(t);
    let tries = 0;
    let prints = (): Promise<string> => Promise.reject(new AssessmentError('tokenCommand'));
    const window = openWindow(t, fixture, {
      refresh: () => {
        tries += 1;
        return prints();
      },
    });
    const { id } = await trackRemoteRun(fixture, window);
    window.setToken('expired-invented-token');
    await window.until(id, needsUser);
    while (tries < 5) await pass(fixture, 5_000);
    const [other, before] = [openWindow(t, fixture), fixture.clock.now()];
    await other.tracker.resume();
    await other.tracker.tokenChanged(undefined, { isNewSource: true });
    assert.equal(tries, 5);
    await fixture.passUntil(window.tracker.tokenChanged(undefined, { isNewSource: true }));
    assert.equal(tries, 6);
    prints = () => Promise.resolve(fixture.service.token);
    await fixture.passUntil(window.tracker.tokenChanged(undefined, { isNewSource: true }));
    const run = window.store.get(id);
    assert.equal(run !== undefined && 'trouble' in run ? run.trouble : undefined, undefined);
    assert.ok(fixture.clock.now() - before < 1_000);
  });

  for (const [status, kind] of [
    [403, 'forbidden'],
    [404, 'notFound'],
  ] as const) {
    test(`F57 answered ${String(status)} is kept and polled again`, async (t) => {
      const { fixture, window, id, runId } = await setUpRun(t);
      const heal = fixture.refuse('/describe', status);
      await fixture.untilSent('/describe', fixture.sent('/describe') + 2);
      const troubled = window.store.get(id);
      assert.ok(troubled?.state === 'running');
      assert.equal(troubled.trouble?.kind, kind);
      heal();
      await fixture.service.finishRun(runId);
      assert.equal((await window.untilEnded(id)).state, 'succeeded');
    });
  }

  test('F51 answered 429 in another window waits equally long in the window that drives it', async (t) => {
    const fixture = await setUpFixture(t);
    const driving = openWindow(t, fixture);
    const { id } = await trackRemoteRun(fixture, driving);
    const other = openWindow(t, fixture);
    await other.tracker.resume();
    fixture.refuse({ path: '/describe', times: 1 }, { status: 429, headers: { 'retry-after': '600' } });
    await fixture.passUntil(other.tracker.checkNow(id));
    const [askedAt, asked] = [fixture.clock.now(), fixture.sent('/describe')];
    await driving.until(id, () => fixture.sent('/describe') > asked);
    assert.ok(fixture.clock.now() - askedAt >= 600_000);
  });
});

import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import { mayStopWatching } from '../../../../src/core/run/state/trouble.ts';
import type { RunIn } from '../../../../src/core/run/state/run.ts';
import { dayMs, leap, pass } from '../passTime.ts';
import { type Fixture, openWindow, type RunWindow, setUpWindow } from '../runWindow.ts';
import { setUpRun } from '../seededRuns.ts';

describe('a service that fails for long', () => {
  test('F52 logs each distinct trouble once as a warning', async (t) => {
    const { fixture, window } = await setUpRun(t);
    for (const status of [503, 500, 403]) {
      const heal = fixture.refuse('/describe', status);
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
  const heal = fixture.refuse('/describe', 404);
  await window.until(id, (run) => 'trouble' in run && run.trouble?.kind === 'notFound');
  return { fixture, window, id, heal };
}

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
});

import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { type Run } from '../../../../src/core/run/state/run.ts';
import { pass } from '../passTime.ts';
import { type Fixture, openWindow, type RunWindow, setUpFixture, setUpWindow } from '../runWindow.ts';
import { eventually } from '../../core/eventually.ts';

describe('a window that is killed', () => {
  const kills = [
    ['F46 with SIGKILL while the dispatch is under way', '/dispatch', 'unknown', ['confirmed']],
    ['F42 with SIGKILL in mid-upload', /\/storage\//, 'failed', ['cancelled']],
  ] as const;
  for (const [how, path, state, files] of kills) {
    test(`${how} leaves no partial state: ${state}`, async (t) => {
      const fixture = await setUpFixture(t);
      fixture.service.addFault({ match: { path }, before: { kind: 'stall' } });
      const { baseUrl, organizationId, token } = fixture.service;
      const child = fork(join(import.meta.dirname, 'startingProcess.ts'), [], { stdio: 'inherit' });
      child.send({ root: fixture.root, folder: fixture.folder, baseUrl, organizationId, token });
      await eventually(() => fixture.sent(path) > 0, `a request of ${String(path)}`);
      const gone = once(child, 'exit');
      child.kill('SIGKILL');
      await gone;
      const window = openWindow(t, fixture);
      await fixture.passUntil(window.tracker.resume());
      await pass(fixture, 20_000);
      assert.deepEqual(window.store.all().map((run) => run.state), [state]); // prettier-ignore
      assert.deepEqual(
        fixture.service.files().map((file) => file.state),
        files,
      );
      assert.equal(fixture.sent('/dispatch'), path === '/dispatch' ? 1 : 0);
      assert.equal(window.ended.length, 1);
    });
  }
});

describe('a window that is closed', () => {
  /** Opens the next window; returns the run it finds and checks that its end is announced once. */
  async function findNext(t: TestContext, fixture: Fixture, closed: RunWindow): Promise<Run | undefined> {
    const next = openWindow(t, fixture);
    await fixture.passUntil(next.tracker.resume());
    const ended = [...closed.ended, ...next.ended].map(({ state }) => state);
    assert.deepEqual(ended, ['failed'], 'the user was notified once');
    return next.store.all()[0];
  }

  test('F46 before it sends its intended dispatch has started nothing, and says so', async (t) => {
    const { fixture, window } = await setUpWindow(t);
    window.store.onDidChange(([run]) => {
      if (run?.state === 'dispatching') window.tracker.dispose();
    });
    await window.start();
    const run = await findNext(t, fixture, window);
    assert.ok(run?.state === 'failed');
    assert.deepEqual([run.failure, fixture.sent('/dispatch')], [{ kind: 'interrupted' }, 0]);
    assert.equal(fixture.service.files()[0]?.state, 'deleted');
  });

  test('F46 during its dispatch still learns the run', async (t) => {
    const { fixture, window } = await setUpWindow(t);
    const answer = Promise.withResolvers<undefined>();
    fixture.service.addFault({
      match: { path: '/dispatch' },
      after: { kind: 'hold', until: answer.promise },
    });
    const started = window.tracker.start(await window.assessment());
    await eventually(() => fixture.service.runs().length > 0, 'the service has a run');
    window.tracker.dispose();
    answer.resolve(undefined);
    const run = await fixture.passUntil(started);
    assert.ok(run?.state === 'running');
    assert.deepEqual([run.runId, fixture.sent('/dispatch')], [fixture.service.runs()[0]?.id, 1]);
  });
});

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { mayStopWatching } from '../../../../src/core/run/state/trouble.ts';
import type { Run } from '../../../../src/core/run/state/run.ts';
import { RunStore } from '../../../../src/core/run/disk/runStore.ts';
import { killHolder } from '../deadProcess.ts';
import { leap, minuteMs, pass, stayAwake } from '../passTime.ts';
import { openWindow, setUpFixture, setUpWindow } from '../runWindow.ts';
import { trackRemoteRun, trackRun, setUpRun } from '../seededRuns.ts';
import { VirtualClock } from '../virtualClock.ts';

describe('a watched run', () => {
  test('F62 continues after VS Code was closed for days, with one notification', async (t) => {
    const fixture = await setUpFixture(t);
    const first = openWindow(t, fixture);
    const { id, runId } = await trackRemoteRun(fixture, first);
    await first.close();
    fixture.clock.advance(3 * 24 * 3600_000);
    await fixture.service.finishRun(runId);
    const second = openWindow(t, fixture);
    await second.tracker.resume();
    const before = fixture.clock.now();
    await second.untilEnded(id);
    assert.ok(fixture.clock.now() - before <= 10_000, 'asked within 10 s');
    assert.deepEqual([first.ended.length, second.ended.length], [0, 1]);
    const third = openWindow(t, fixture);
    await third.tracker.resume();
    assert.deepEqual(third.ended, []);
  });

  for (const [what, status, state] of [
    ['has its results', undefined, 'succeeded'],
    ['no longer knows it', 404, 'running'],
  ] as const) {
    test(`F62 F95 is polled after VS Code was closed for 31 days, when the service ${what}`, async (t) => {
      const fixture = await setUpFixture(t);
      const first = openWindow(t, fixture);
      const { id, runId } = await trackRemoteRun(fixture, first);
      await first.close();
      if (status !== undefined) fixture.refuse('/describe', status);
      fixture.clock.advance(31 * 24 * 3600_000);
      await fixture.service.finishRun(runId);
      const second = openWindow(t, fixture);
      const plug = fixture.pullCable();
      t.after(plug);
      await second.tracker.resume();
      // The window opens before the network is up.
      await second.until(id, (run) => 'trouble' in run && run.trouble?.kind === 'unsent');
      plug();
      if (state === 'succeeded') {
        await second.untilEnded(id);
        return;
      }
      // An unknown run may become known again, and only a user gives it up.
      await stayAwake(fixture, 25);
      const kept = second.store.get(id);
      assert.ok(kept?.state === state && mayStopWatching(kept, fixture.clock.now()));
    });
  }

  test('F63 is polled by one of five windows, and taken over when that one is killed, with one notification', async (t) => {
    const fixture = await setUpFixture(t);
    const frozen = new VirtualClock();
    const owner = openWindow(t, fixture, { clock: frozen });
    const { id, runId } = await trackRemoteRun(fixture, owner);
    const others = Array.from({ length: 4 }, () => openWindow(t, fixture));
    for (const window of others) await window.tracker.resume();
    const asked = fixture.sent('/describe');
    await fixture.passUntil(
      (async () => {
        for (let beat = 0; beat < 3; beat += 1) await fixture.clock.sleep(5_000);
      })(),
    );
    assert.equal(fixture.sent('/describe'), asked, 'the owner lives: nobody else asks');
    await killHolder(fixture, id);
    await fixture.service.finishRun(runId);
    const before = fixture.clock.now();
    await others[0]!.untilEnded(id);
    assert.ok(fixture.clock.now() - before <= 30_000, `${fixture.clock.now() - before} ms`);
    const ends = others.map(({ ended }) => ended.length).sort();
    assert.deepEqual(ends, [0, 0, 0, 1]);
    assert.equal(fixture.sent(/artifact-download-url$/), 2);
  });

  test('F197 of a window in another container, whose processes are not known here, stays with that window', async (t) => {
    const fixture = await setUpFixture(t);
    const [owner, other] = [openWindow(t, fixture), openWindow(t, fixture)];
    const { id, runId } = await trackRemoteRun(fixture, owner);
    await killHolder(fixture, id);
    await other.tracker.resume();
    await pass(fixture, 10 * minuteMs);
    assert.notEqual(owner.tracker.nextCheckAt(id), undefined);
    await fixture.service.finishRun(runId);
    await owner.untilEnded(id);
    assert.deepEqual([owner.ended.length, other.ended.length], [1, 0]);
  });

  test('F63 of a killed window is taken over by one that had no run when it opened', async (t) => {
    const fixture = await setUpFixture(t);
    const idle = openWindow(t, fixture);
    await idle.tracker.resume();
    const watching = idle.store.watch();
    t.after(() => watching.dispose());
    const owner = openWindow(t, fixture, { clock: new VirtualClock() });
    const { id, runId } = await trackRemoteRun(fixture, owner);
    await killHolder(fixture, id);
    await fixture.service.finishRun(runId);
    assert.equal((await idle.untilEnded(id)).state, 'succeeded');
    assert.deepEqual([owner.ended.length, idle.ended.length], [0, 1]);
  });

  test('uses the only timer: an idle window has none, nor has one whose runs have ended', async (t) => {
    const { fixture, window } = await setUpWindow(t);
    const sleptInAnHour = async (): Promise<number[]> => {
      const { length } = fixture.clock.slept;
      await fixture.passUntil(fixture.clock.sleep(3600_000));
      return fixture.clock.slept.slice(length + 1);
    };
    await window.tracker.resume();
    assert.deepEqual(await sleptInAnHour(), []);
    const { id, runId } = await trackRemoteRun(fixture, window);
    await fixture.service.finishRun(runId);
    await window.untilEnded(id);
    // The running heartbeat is the last one.
    await fixture.passUntil(fixture.clock.sleep(60_000));
    assert.deepEqual(await sleptInAnHour(), []);
  });

  test('F54 is polled within 10 s after the machine slept', async (t) => {
    const { fixture, window, id, runId } = await setUpRun(t);
    await fixture.service.finishRun(runId);
    await fixture.clock.whenAsleep();
    fixture.clock.moveWall(8 * 3600_000);
    const before = fixture.clock.now();
    await window.untilEnded(id);
    assert.ok(fixture.clock.now() - before <= 10_000);
    const { requests } = fixture.service;
    assert.ok(
      requests.every(({ headers }) => headers['connection'] === 'close'),
      'no socket is used twice',
    );
    assert.ok(!window.lines.some((line) => line.includes('failed')), window.lines.join('\n'));
  });

  test('F63 with an end seen by another window gets its results at once', async (t) => {
    const fixture = await setUpFixture(t);
    const [window, other] = [openWindow(t, fixture), openWindow(t, fixture)];
    const { id, runId } = await trackRemoteRun(fixture, window);
    await window.tracker.resume();
    await other.tracker.resume();
    // Its own next poll is minutes away by then.
    await leap(fixture, 3 * 3600_000);
    await fixture.service.finishRun(runId);
    const asked = fixture.clock.now();
    await fixture.passUntil(other.tracker.checkNow(id));
    await window.untilState(id, 'succeeded');
    assert.ok(fixture.clock.now() - asked <= 30_000, `${String(fixture.clock.now() - asked)} ms`);
  });

  test('is polled alone when a user asks for it, and with the others when a user asks for all', async (t) => {
    const { fixture, window, id } = await setUpRun(t);
    await trackRemoteRun(fixture, window);
    const asked = fixture.sent('/describe');
    await fixture.passUntil(window.tracker.checkNow(id));
    assert.equal(fixture.sent('/describe') - asked, 1);
    await fixture.passUntil(window.tracker.checkNow());
    assert.equal(fixture.sent('/describe') - asked, 3);
  });

  test('F67 is not polled sooner when a user renames it, nor while its results do not come yet', async (t) => {
    const { fixture, window, id, runId } = await setUpRun(t);
    await fixture.passUntil(window.tracker.resume());
    const rename = async (label: string): Promise<void> => {
      const next = window.tracker.nextCheckAt(id);
      assert.ok((next ?? 0) > fixture.clock.now());
      await window.tracker.rename(id, label);
      assert.equal(window.tracker.nextCheckAt(id), next);
    };
    await rename('Before the release');
    fixture.refuse(/artifact-download-url$/, 503);
    await fixture.service.finishRun(runId);
    await fixture.untilSent(/artifact-download-url$/, 4);
    await rename('After the release');
  });

  test('that cannot be taken over is released for any window to retry', async (t) => {
    const fixture = await setUpFixture(t);
    const first = openWindow(t, fixture);
    const { id, runId } = await trackRemoteRun(fixture, first);
    await first.close();
    let isReadable = true;
    class UnreadableStore extends RunStore {
      override refresh(each: string): Promise<Run | undefined> {
        return isReadable ? super.refresh(each) : Promise.reject(new Error('unreadable'));
      }
    }
    const second = openWindow(t, fixture, { store: (root, deps) => new UnreadableStore(root, deps) });
    await second.store.reload();
    isReadable = false;
    await second.tracker.resume();
    assert.ok(second.lines.some((line) => line.includes(`${id} could not be taken over`)));
    const third = openWindow(t, fixture);
    await fixture.service.finishRun(runId);
    await third.tracker.resume();
    assert.notEqual(third.tracker.nextCheckAt(id), undefined, 'taken up at once');
    assert.equal((await third.untilEnded(id)).state, 'succeeded');
  });

  test('tracked twice is one run, and an unknown one is none', async (t) => {
    const { fixture, window, id, runId } = await setUpRun(t);
    assert.equal(window.store.get(id)?.createdAt, fixture.clock.now(), 'when it was started is not known');
    assert.equal(await trackRun(fixture, window, runId), id);
    await assert.rejects(trackRun(fixture, window, 'run-nobody'), { kind: 'notFound' });
    assert.equal(window.store.all().length, 1);
  });
});

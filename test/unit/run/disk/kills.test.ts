import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { isFinal, isLive, type Run } from '../../../../src/core/run/state/run.ts';
import { RunStore } from '../../../../src/core/run/disk/runStore.ts';
import { killHolder } from '../deadProcess.ts';
import { minuteMs, pass } from '../passTime.ts';
import { CrashingStore, type Phase } from '../crashingStore.ts';
import { type Fixture, openWindow, type RunWindow, setUpFixture, setUpWindow } from '../runWindow.ts';
import { VirtualClock } from '../virtualClock.ts';
import { silent } from '../../../silentLog.ts';
import { eventually } from '../../core/eventually.ts';

/** Starts a run that crashes at one write; resolves at the crash, or when the start is done. */
async function crashWhileStarting(
  t: TestContext,
  fixture: Fixture,
  write: number,
  phase: Phase,
): Promise<'crashed' | 'done'> {
  // A separate, stopped clock, so that this window does nothing afterwards.
  const clock = new VirtualClock();
  let store: CrashingStore | undefined;
  const window = openWindow(t, fixture, {
    clock,
    store: (root, deps) => (store = new CrashingStore(root, deps)),
  });
  store!.crashAt(write, phase);
  const started = window.tracker.start(await window.assessment());
  return Promise.race([store!.crashed.then(() => 'crashed' as const), started.then(() => 'done' as const)]);
}

/** Lets the next window drive every run until it needs the user or is final. */
async function seeThrough(fixture: Fixture, window: RunWindow): Promise<readonly Run[]> {
  await fixture.passUntil(window.tracker.resume());
  for (const { id } of fixture.service.runs()) await fixture.service.finishRun(id);
  for (const { id } of window.store.all()) {
    await window.until(id, (run) => run.state === 'unknown' || (isFinal(run) && !run.noticeDue));
  }
  // The source is deleted after the end was announced.
  await pass(fixture, minuteMs);
  return window.store.all();
}

describe('a window that is killed', () => {
  for (const phase of ['before', 'after'] as const) {
    test(`F46 ${phase} any write of a start leads to at most one dispatch, with nothing left on the service`, async (t) => {
      const seen = new Set<string>();
      for (let write = 1; ; write += 1) {
        const fixture = await setUpFixture(t);
        const end = await crashWhileStarting(t, fixture, write, phase);
        if (end === 'done') break;
        const [killed] = await readRuns(fixture);
        seen.add(killed?.state ?? 'none');
        if (killed !== undefined) await killHolder(fixture, killed.id);
        const sentBefore = fixture.sent('/dispatch');
        const window = openWindow(t, fixture);
        const runs = await seeThrough(fixture, window);

        assert.equal(fixture.sent('/dispatch'), sentBefore, `write ${String(write)}: sent again`);
        assert.ok(fixture.service.runs().length <= 1);
        const inJournal = killed?.targets[0]?.upload?.fileId;
        for (const { fileId, state } of fixture.service.files()) {
          // The file ID lost with the process before it was saved: the service cannot list files.
          const isKept = fileId !== inJournal ? 'reserved' : runs[0]?.state === 'unknown' ? 'confirmed' : '';
          assert.ok(['cancelled', 'deleted', isKept].includes(state), `write ${String(write)}: ${state}`);
        }
        if (killed?.state === 'dispatching') assert.equal(runs[0]?.state, 'unknown');
        if (killed?.state === 'running') assert.equal(runs[0]?.state, 'succeeded');
        if (killed !== undefined && !isLive(killed))
          assert.equal(window.ended.length, 1, 'the user was notified once');
      }
      const expected = ['preparing', 'dispatching', ...(phase === 'after' ? ['running'] : ['none'])];
      assert.deepEqual([...seen].sort(), expected.sort());
    });
  }

  const kills = [
    ['F46 with SIGKILL while the dispatch is under way', '/dispatch', 'unknown', ['confirmed']],
    ['F42 with SIGKILL in mid-upload', /\/storage\//, 'failed', ['cancelled']],
  ] as const;
  for (const [how, path, state, files] of kills) {
    test(`${how} leaves no partial state: ${state}`, async (t) => {
      const fixture = await setUpFixture(t);
      const arrived = new Promise<void>((resolve) => {
        const look = (): void => {
          if (fixture.sent(path) > 0) resolve();
          else void setImmediate().then(look);
        };
        look();
      });
      fixture.service.addFault({ match: { path }, before: { kind: 'stall' } });
      const { baseUrl, organizationId, token } = fixture.service;
      const child = fork(join(import.meta.dirname, 'startingProcess.ts'), [], { stdio: 'inherit' });
      child.send({ root: fixture.root, folder: fixture.folder, baseUrl, organizationId, token });
      await arrived;
      const gone = once(child, 'exit');
      child.kill('SIGKILL');
      await gone;
      const window = openWindow(t, fixture);
      await window.tracker.resume();
      assert.deepEqual(
        window.store.all().map((run) => run.state),
        [state],
      );
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
    window.store.onDidChange(([{ state }]) => {
      if (state === 'dispatching') window.tracker.dispose();
    });
    await window.start();
    const run = await findNext(t, fixture, window);
    assert.ok(run?.state === 'failed');
    assert.deepEqual([run.failure, fixture.sent('/dispatch')], [{ kind: 'interrupted' }, 0]);
    assert.equal(fixture.service.files()[0]?.state, 'deleted');
  });

  test('F46 while its dispatch waits after a 429 has started nothing, and sends nothing more', async (t) => {
    const { fixture, window } = await setUpWindow(t);
    const reply = { kind: 'reply' as const, status: 429, headers: { 'retry-after': '60' } };
    fixture.service.addFault({ match: { path: '/dispatch', times: 1 }, before: reply });
    const started = window.tracker.start(await window.assessment());
    await eventually(
      () => fixture.clock.slept.some((ms) => ms >= 60_000),
      'a wait of at least 60_000 ms has begun',
    );
    window.tracker.dispose();
    await fixture.passUntil(started);
    const run = await findNext(t, fixture, window);
    assert.ok(run?.state === 'failed');
    assert.deepEqual([run.failure, fixture.sent('/dispatch')], [{ kind: 'interrupted' }, 1]);
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

async function readRuns(fixture: Fixture): Promise<readonly Run[]> {
  const store = new RunStore(fixture.root, { clock: fixture.clock, log: silent });
  await store.reload();
  return store.all();
}

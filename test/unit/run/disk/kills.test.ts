import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { isFinal, isLive, type Run } from '../../../../src/core/run/state/run.ts';
import { RunStore } from '../../../../src/core/run/disk/runStore.ts';
import { bury } from '../buriedWindow.ts';
import { minuteMs, pass } from '../days.ts';
import { DyingStore, type Phase } from '../dyingStore.ts';
import { type Desk, openWindow, type RunWindow, setUpDesk, setUpWindow } from '../runWindow.ts';
import { VirtualClock } from '../virtualClock.ts';
import { silent } from '../../../silentLog.ts';
import { stepOf } from '../sampleRuns.ts';
import { eventually } from '../../core/eventually.ts';

/** A window that dies at one write of its start; resolves when it has, or when it had nothing left to write. */
async function dieWhileStarting(
  t: TestContext,
  desk: Desk,
  write: number,
  phase: Phase,
): Promise<'died' | 'done'> {
  // Its own clock stands still, so that nothing of it goes on afterwards.
  const clock = new VirtualClock();
  let store: DyingStore | undefined;
  const window = openWindow(t, desk, {
    clock,
    store: (root, deps) => (store = new DyingStore(root, deps)),
  });
  store!.dieAt(write, phase);
  const started = window.tracker.start(await window.assessment());
  return Promise.race([store!.died.then(() => 'died' as const), started.then(() => 'done' as const)]);
}

/** Lets the next window see every run to where it waits for a person or is over. */
async function seeThrough(desk: Desk, window: RunWindow): Promise<readonly Run[]> {
  await desk.clock.passUntil(window.tracker.resume(), desk.traffic);
  for (const { id } of desk.service.runs()) await desk.service.finishRun(id);
  for (const { id } of window.store.all()) {
    await window.until(id, (run) => run.state === 'unknown' || (isFinal(run) && !run.noticeDue));
  }
  // The source goes after the end was told.
  await pass(desk, minuteMs);
  return window.store.all();
}

describe('a window that is killed', () => {
  for (const phase of ['before', 'after'] as const) {
    test(`F46 at any write of a start, right ${phase} it, leads to at most one accepted dispatch and leaves nothing of the journal on the service`, async (t) => {
      const seen = new Set<string>();
      for (let write = 1; ; write += 1) {
        const desk = await setUpDesk(t);
        const end = await dieWhileStarting(t, desk, write, phase);
        if (end === 'done') break;
        const [killed] = await readRuns(desk);
        seen.add(stepOf(killed) ?? 'none');
        if (killed !== undefined) await bury(desk, killed.id);
        const sentBefore = desk.sent('/dispatch');
        const window = openWindow(t, desk);
        const runs = await seeThrough(desk, window);

        assert.equal(desk.sent('/dispatch'), sentBefore, `write ${String(write)}: sent again`);
        assert.ok(desk.service.runs().length <= 1);
        const inJournal = killed?.targets[0]?.upload?.fileId;
        for (const { fileId, state } of desk.service.files()) {
          // The one file ID that dies with the process before it is on disk: the service has no list to find it in.
          const isKept = fileId !== inJournal ? 'reserved' : runs[0]?.state === 'unknown' ? 'confirmed' : '';
          assert.ok(['cancelled', 'deleted', isKept].includes(state), `write ${String(write)}: ${state}`);
        }
        if (killed?.state === 'dispatching') assert.equal(runs[0]?.state, 'unknown');
        if (killed?.state === 'running') assert.equal(runs[0]?.state, 'succeeded');
        if (killed !== undefined && !isLive(killed) && stepOf(killed) !== 'packaging')
          assert.equal(window.ended.length, 1, 'the person was told once');
      }
      const expected = [
        'packaging',
        'uploading',
        'confirming',
        'dispatching',
        ...(phase === 'after' ? ['running'] : ['none']),
      ];
      assert.deepEqual([...seen].sort(), expected.sort());
    });
  }

  const kills = [
    ['F46 with SIGKILL while the dispatch is under way', '/dispatch', 'unknown', ['confirmed']],
    ['F42 with SIGKILL in mid-upload', /\/storage\//, 'failed', ['cancelled']],
  ] as const;
  for (const [how, path, state, files] of kills) {
    test(`${how} leaves nothing half done: ${state}`, async (t) => {
      const desk = await setUpDesk(t);
      const arrived = new Promise<void>((resolve) => {
        const look = (): void => {
          if (desk.sent(path) > 0) resolve();
          else void setImmediate().then(look);
        };
        look();
      });
      desk.service.addFault({ match: { path }, before: { kind: 'stall' } });
      const { baseUrl, organizationId, token } = desk.service;
      const child = fork(join(import.meta.dirname, '../start/startingProcess.ts'), [], { stdio: 'inherit' });
      child.send({ root: desk.root, folder: desk.folder, baseUrl, organizationId, token });
      await arrived;
      const gone = once(child, 'exit');
      child.kill('SIGKILL');
      await gone;
      const window = openWindow(t, desk);
      await window.tracker.resume();
      assert.deepEqual(
        window.store.all().map((run) => run.state),
        [state],
      );
      assert.deepEqual(
        desk.service.files().map((file) => file.state),
        files,
      );
      assert.equal(desk.sent('/dispatch'), path === '/dispatch' ? 1 : 0);
      assert.equal(window.ended.length, 1);
    });
  }
});

describe('a window that is closed', () => {
  /** What the next window finds of the run, and that its end is told once. */
  async function findNext(t: TestContext, desk: Desk, closed: RunWindow): Promise<Run | undefined> {
    const next = openWindow(t, desk);
    await desk.clock.passUntil(next.tracker.resume(), desk.traffic);
    const ended = [...closed.ended, ...next.ended].map(({ state }) => state);
    assert.deepEqual(ended, ['failed'], 'a person was told once');
    return next.store.all()[0];
  }

  test('F46 before the dispatch it intended is sent has started nothing, and says so', async (t) => {
    const { desk, window } = await setUpWindow(t);
    window.store.onDidChange(({ state }) => {
      if (state === 'dispatching') window.tracker.dispose();
    });
    await window.start();
    const run = await findNext(t, desk, window);
    assert.ok(run?.state === 'failed');
    assert.deepEqual([run.failure, desk.sent('/dispatch')], [{ kind: 'interrupted' }, 0]);
    assert.equal(desk.service.files()[0]?.state, 'deleted');
  });

  test('F46 while its dispatch waits, having met a 429, has started nothing, and sends nothing more', async (t) => {
    const { desk, window } = await setUpWindow(t);
    const reply = { kind: 'reply' as const, status: 429, headers: { 'retry-after': '60' } };
    desk.service.addFault({ match: { path: '/dispatch', times: 1 }, before: reply });
    const started = window.tracker.start(await window.assessment());
    await eventually(
      () => desk.clock.slept.some((ms) => ms >= 60_000),
      'a wait of at least 60_000 ms has begun',
    );
    window.tracker.dispose();
    await desk.clock.passUntil(started, desk.traffic);
    const run = await findNext(t, desk, window);
    assert.ok(run?.state === 'failed');
    assert.deepEqual([run.failure, desk.sent('/dispatch')], [{ kind: 'interrupted' }, 1]);
  });

  test('F46 while its dispatch is under way knows the run all the same', async (t) => {
    const { desk, window } = await setUpWindow(t);
    const answer = Promise.withResolvers<undefined>();
    desk.service.addFault({ match: { path: '/dispatch' }, after: { kind: 'hold', until: answer.promise } });
    const started = window.tracker.start(await window.assessment());
    await eventually(() => desk.service.runs().length > 0, 'the service has a run');
    window.tracker.dispose();
    answer.resolve(undefined);
    const run = await desk.clock.passUntil(started, desk.traffic);
    assert.ok(run?.state === 'running');
    assert.deepEqual([run.runId, desk.sent('/dispatch')], [desk.service.runs()[0]?.id, 1]);
  });
});

async function readRuns(desk: Desk): Promise<readonly Run[]> {
  const store = new RunStore(desk.root, { clock: desk.clock, log: silent });
  await store.reload();
  return store.all();
}

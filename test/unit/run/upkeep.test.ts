import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { advance } from '../../../src/core/run/advance.ts';
import type { Run } from '../../../src/core/run/run.ts';
import { RunStore } from '../../../src/core/run/runStore.ts';
import { deadPid } from './buriedWindow.ts';
import { storeWithoutSpaceFor } from './preparedStore.ts';
import { type Desk, openWindow, type RunWindow, setUpDesk } from './runWindow.ts';
import { runOf } from './sampleRuns.ts';
import { seedUnknownRun, trackRemoteRun } from './seededRuns.ts';
import { startWith } from './uploads.ts';
import { silent } from '../../silentLog.ts';

const dayMs = 24 * 3600_000;

/** A file where the folder of the runs should be: nothing can be kept there, whoever runs the test. */
async function deskWithoutStorage(t: TestContext): Promise<Desk> {
  const desk = await setUpDesk(t);
  await writeFile(desk.root, '');
  removeStandIns(t);
  return desk;
}

/** Has a window find that it cannot write the folder of the runs any more; the runs in there can still be read. */
async function loseStorage(t: TestContext, desk: Desk, { store }: RunWindow): Promise<void> {
  removeStandIns(t);
  await rename(desk.root, `${desk.root}.kept`);
  await writeFile(desk.root, '');
  await store.reload();
  await rm(desk.root);
  await rename(`${desk.root}.kept`, desk.root);
  await store.reload();
  assert.equal(store.isTemporary, true);
}

function removeStandIns(t: TestContext): void {
  t.after(async () => {
    for (const name of await readdir(tmpdir()))
      if (name.startsWith(`whitebox-runs-${String(process.pid)}-`))
        await rm(join(tmpdir(), name), { recursive: true, force: true });
  });
}

describe('storage that cannot be written', () => {
  test('F66 is told of, and a run is tracked to its findings all the same', async (t) => {
    const desk = await deskWithoutStorage(t);
    const window = openWindow(t, desk);
    await window.tracker.resume();
    assert.equal(window.store.isTemporary, true);
    assert.match(window.store.problem ?? '', /^(EEXIST|ENOTDIR)$/);
    const { id, runId } = await trackRemoteRun(desk, window);
    await desk.service.finishRun(runId);
    const run = await window.untilEnded(id);
    assert.equal(run.state, 'succeeded');
    assert.ok((await readdir(window.store.folderOf(id))).includes('findings.json'));
    assert.equal(window.ended.length, 1);
  });

  test('F66 is told of once, also when it comes later, and two looks at it lose nothing of what is kept elsewhere', async (t) => {
    const desk = await setUpDesk(t);
    const { store } = openWindow(t, desk);
    const told: string[] = [];
    store.onDidBecomeTemporary((problem) => told.push(problem));
    await store.reload();
    assert.deepEqual(told, []);
    removeStandIns(t);
    await rm(desk.root, { recursive: true });
    await writeFile(desk.root, '');
    const looks = [store.reload(), store.reload()];
    await Promise.race(looks);
    await store.create(runOf.running);
    await Promise.all(looks);
    await store.reload();
    assert.deepEqual([told, store.all().length], [[store.problem], 1]);
  });

  test('F66 does not let a paid run be started unknowingly, and lets it when a person wants that', async (t) => {
    const desk = await deskWithoutStorage(t);
    const window = openWindow(t, desk);
    await window.tracker.resume();
    const assessment = await window.assessment();
    await assert.rejects(window.tracker.start(assessment), { kind: 'storage' });
    assert.deepEqual([desk.service.requests.length, window.store.all().length], [0, 0]);
    const started = window.tracker.start(assessment, { mayBeForgotten: true });
    assert.equal((await desk.clock.passUntil(started, desk.traffic))?.state, 'running');
  });

  test('F66 that cannot be written any more sends no dispatch again, unless a person wants that', async (t) => {
    const desk = await setUpDesk(t);
    const window = openWindow(t, desk);
    const { id } = await seedUnknownRun(desk, window);
    await loseStorage(t, desk, window);
    await assert.rejects(window.tracker.resend(id), { kind: 'storage' });
    assert.deepEqual([window.store.get(id)?.state, desk.sent('/dispatch')], ['unknown', 0]);
    const again = window.tracker.resend(id, { mayBeForgotten: true });
    assert.equal((await desk.clock.passUntil(again, desk.traffic)).state, 'running');
  });

  test('F66 that cannot be written any more when the archive is made has nothing dispatched', async (t) => {
    const desk = await setUpDesk(t);
    const window = openWindow(t, desk);
    const confirmUpload = async (): Promise<boolean> => {
      await loseStorage(t, desk, window);
      return true;
    };
    const run = await startWith(window, desk, { confirmUpload });
    assert.ok(run?.state === 'failed');
    assert.deepEqual([run.failure.kind, desk.sent('/dispatch')], ['storage', 0]);
  });

  test('F66 leaves the source in no temporary folder for longer than its window lives', async (t) => {
    const left = join(tmpdir(), `whitebox-runs-${String(await deadPid())}-invented`);
    await mkdir(left);
    const desk = await deskWithoutStorage(t);
    await openWindow(t, desk).tracker.resume();
    assert.ok(!(await readdir(tmpdir())).some((name) => left.endsWith(name)));
  });
});

describe('the history', () => {
  /** A store with these runs, and the runs left after a window of it opened at a time. */
  async function leftAfter(t: TestContext, runs: readonly Run[], days: number, keep = 90): Promise<string[]> {
    const desk = await setUpDesk(t);
    const seeded = new RunStore(desk.root, { clock: desk.clock, log: silent });
    for (const run of runs) await seeded.create(run);
    desk.clock.advance(days * dayMs - desk.clock.now());
    const window = openWindow(t, desk, { retainLocalDays: keep });
    await desk.clock.passUntil(window.tracker.resume(), desk.traffic);
    return window.store
      .all()
      .map(({ id }) => id)
      .sort();
  }
  const told = (run: Run, id: string): Run => ({
    ...run,
    id,
    noticeDue: false,
    targets: [{ folder: '/x', name: 'x' }],
  });

  test('loses ended runs once they are older than the setting says', async (t) => {
    const runs = [told(runOf.succeeded, 'a'), told(runOf.failed, 'b')];
    assert.deepEqual(await leftAfter(t, runs, 89), ['a', 'b']);
    assert.deepEqual(await leftAfter(t, runs, 91), []);
    assert.deepEqual(await leftAfter(t, runs, 3, 2), []);
  });

  test('never loses a run that still needs a person', async (t) => {
    const runs = [{ ...runOf.unknown, id: 'unknown' }, told(runOf.succeeded, 'told')];
    assert.deepEqual(await leftAfter(t, runs, 400), ['unknown']);
  });

  test('keeps a run whose source could not be deleted for as long as the service may have it', async (t) => {
    const left = { ...runOf.succeeded, id: 'left', noticeDue: false };
    assert.ok(left.targets.some(({ upload }) => upload?.state === 'confirmed'));
    assert.deepEqual(await leftAfter(t, [left], 20, 2), ['left']);
    assert.deepEqual(await leftAfter(t, [left], 31, 2), []);
  });

  test('keeps the archives of a run whose results are missing for a week, and no longer', async (t) => {
    const desk = await setUpDesk(t);
    const seeded = new RunStore(desk.root, { clock: desk.clock, log: silent });
    const { targets } = runOf.succeeded;
    const [{ archive }] = targets as [(typeof targets)[number]];
    const file = join(seeded.folderOf('old'), archive!.file);
    const uploadedAt = desk.clock.now();
    await seeded.create({
      ...runOf.succeeded,
      id: 'old',
      noticeDue: false,
      uploadedAt,
      endedAt: uploadedAt,
      exitedAt: uploadedAt,
      targets: [{ folder: '/x', name: 'x', archive }],
      artifacts: [{ name: 'findings', failure: { kind: 'timeout' } }],
    } as Run);
    await writeFile(file, '');
    const isKeptAfter = async (ms: number): Promise<boolean> => {
      desk.clock.advance(ms);
      const window = openWindow(t, desk);
      await desk.clock.passUntil(window.tracker.resume(), desk.traffic);
      return existsSync(file);
    };
    assert.deepEqual([await isKeptAfter(7 * dayMs), await isKeptAfter(1)], [true, false]);
  });

  test('F65 keeps the archive of a run whose journal is damaged for a week, and no longer; the damaged journal stays', async (t) => {
    const desk = await setUpDesk(t);
    const window = openWindow(t, desk);
    const { id } = await window.start();
    window.tracker.dispose();
    await writeFile(join(desk.root, id, 'run.json'), '{');
    const leftAfter = async (ms: number): Promise<string[]> => {
      desk.clock.advance(ms);
      const next = openWindow(t, desk);
      await desk.clock.passUntil(next.tracker.resume(), desk.traffic);
      next.tracker.dispose();
      const names = await readdir(join(desk.root, id));
      return names.filter((name) => /^(archive|run)/.test(name)).map((name) => name.replace(/-\d+$/, ''));
    };
    assert.deepEqual(await leftAfter(6 * dayMs), ['archive-0.tar.gz', 'run.json.damaged']);
    assert.deepEqual(await leftAfter(dayMs + 60_000), ['run.json.damaged']);
  });

  test('keeps the name that a person gives a run, and gives the usual one back', async (t) => {
    const desk = await setUpDesk(t);
    const window = openWindow(t, desk);
    await window.store.create(runOf.succeeded);
    const { id } = runOf.succeeded;
    await window.tracker.rename(id, '  Before the release  ');
    const other = openWindow(t, desk);
    await other.store.reload();
    assert.equal(other.store.get(id)?.label, 'Before the release');
    await other.tracker.rename(id, ' ');
    assert.ok(!('label' in other.store.get(id)!));
    assert.equal(advance(runOf.succeeded, { type: 'renamed', label: '', at: 1 }), runOf.succeeded);
  });

  test('links another try to the run that failed', async (t) => {
    const desk = await setUpDesk(t);
    const window = openWindow(t, desk);
    const run = await window.start({ retryOf: 'failed-one' });
    assert.deepEqual([run.retryOf, run.state], ['failed-one', 'running']);
  });
});

describe('a cancellation', () => {
  for (const [what, status, state] of [
    ['whose answers are all lost is told as what it was', undefined, 'cancelled'],
    ['that is refused is not', 403, 'aborted'],
  ] as const) {
    test(`of a run that then ends ${what}`, async (t) => {
      const desk = await setUpDesk(t);
      const window = openWindow(t, desk);
      const { id, runId } = await trackRemoteRun(desk, window);
      const match = { path: '/cancel' };
      desk.service.addFault(
        status === undefined
          ? { match, after: { kind: 'reset' } }
          : { match, before: { kind: 'reply', status } },
      );
      await assert.rejects(desk.clock.passUntil(window.tracker.cancel(id), desk.traffic));
      assert.equal(window.store.get(id)?.state, 'running');
      await window.until(id, (run) => 'lastAnswerAt' in run && run.lastAnswerAt !== undefined);
      if (status !== undefined) await desk.service.finishRun(runId, { kind: 'aborted', code: 'invented' });
      assert.equal((await window.untilEnded(id)).state, state);
    });
  }

  test('of a run whose answer was lost, and whose second is refused, is told as what it was', async (t) => {
    const desk = await setUpDesk(t);
    const window = openWindow(t, desk);
    const { id } = await trackRemoteRun(desk, window);
    desk.service.addFault({ match: { path: '/cancel', nth: 1 }, after: { kind: 'reset' } });
    await desk.clock.passUntil(window.tracker.cancel(id), desk.traffic);
    assert.equal(desk.sent('/cancel'), 2);
    assert.equal((await window.untilEnded(id)).state, 'cancelled');
  });

  test('of a run that the service took, and that cannot be noted any more, is told as what it was', async (t) => {
    const desk = await setUpDesk(t);
    const window = openWindow(t, desk, { store: storeWithoutSpaceFor('cancelAsked') });
    const { id } = await trackRemoteRun(desk, window);
    await assert.rejects(desk.clock.passUntil(window.tracker.cancel(id), desk.traffic), /no space/);
    assert.equal((await window.untilEnded(id)).state, 'cancelled');
  });

  test('is not sent when it cannot be noted first', async (t) => {
    const desk = await setUpDesk(t);
    const window = openWindow(t, desk, { store: storeWithoutSpaceFor('cancelSent') });
    const { id } = await trackRemoteRun(desk, window);
    await assert.rejects(desk.clock.passUntil(window.tracker.cancel(id), desk.traffic), /no space/);
    assert.equal(desk.sent('/cancel'), 0);
  });

  test('during the dispatch does not tear it off: the run that was paid for is known', async (t) => {
    const desk = await setUpDesk(t);
    const window = openWindow(t, desk);
    const stop = new AbortController();
    const held = Promise.withResolvers<undefined>();
    desk.service.addFault({ match: { path: '/dispatch' }, after: { kind: 'hold', until: held.promise } });
    const started = window.tracker.start(await window.assessment(), { signal: stop.signal });
    while (desk.service.runs().length === 0) await setImmediate();
    stop.abort();
    held.resolve(undefined);
    const run = await desk.clock.passUntil(started, desk.traffic);
    assert.ok(run?.state === 'running');
    assert.equal(run.runId, desk.service.runs()[0]?.id);
  });

  test('while the dispatch waits, with nothing accepted, ends the run at once, and no run starts later', async (t) => {
    const desk = await setUpDesk(t);
    const window = openWindow(t, desk);
    const stop = new AbortController();
    const headers = { 'retry-after': '110' };
    desk.service.addFault({
      match: { path: '/dispatch', times: 1 },
      before: { kind: 'reply', status: 429, headers },
    });
    const started = window.tracker.start(await window.assessment(), { signal: stop.signal });
    const began = desk.clock.now();
    while (!desk.clock.slept.some((ms) => ms >= 110_000)) await setImmediate();
    stop.abort();
    const run = await started;
    assert.deepEqual([run?.state, desk.clock.now() - began], ['cancelled', 0]);
    assert.deepEqual([desk.sent('/dispatch'), desk.service.files()[0]?.state], [1, 'deleted']);
  });
});

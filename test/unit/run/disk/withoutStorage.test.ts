import assert from 'node:assert/strict';
import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import type { Run, UploadState } from '../../../../src/core/run/state/run.ts';
import { removeStrays } from '../../../../src/core/run/finish/localCleanup.ts';
import { WakingTime } from '../../../../src/core/run/watch/schedule.ts';
import { deadPid } from '../buriedWindow.ts';
import { type Desk, openWindow, type RunWindow, setUpDesk } from '../runWindow.ts';
import { packagingRun, runOf } from '../sampleRuns.ts';
import { seedUnknownRun, trackRemoteRun } from '../seededRuns.ts';
import { startWith } from '../uploads.ts';

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

/** The folders of this process that stand in for others. */
async function temporaryFolders(): Promise<string[]> {
  const names = await readdir(tmpdir());
  return names.filter((name) => name.startsWith(`whitebox-runs-${String(process.pid)}-`));
}

function removeStandIns(t: TestContext): void {
  t.after(async () => {
    for (const name of await temporaryFolders())
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
    store.onDidBecomeTemporary((problem) => told.push(`not heard: ${problem}`)).dispose();
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

  test('F66 still shows ended runs where they are, and takes along those that will be written to', async (t) => {
    const desk = await setUpDesk(t);
    const window = openWindow(t, desk);
    const ended = { ...runOf.failed, noticeDue: false };
    const uploaded = (state: UploadState): Run => ({
      ...ended,
      targets: [...packagingRun.targets, ...ended.targets].map((target, index) => ({
        ...target,
        upload: { fileId: `file-${String(index)}`, state: index === 0 ? 'deleted' : state, at: 1 },
      })),
    });
    const runs = {
      ended,
      cancelled: uploaded('cancelled'),
      confirmed: uploaded('confirmed'),
      reserved: uploaded('reserved'),
      told: { ...ended, noticeDue: true },
      unknown: runOf.unknown,
    };
    for (const [id, run] of Object.entries(runs)) await window.store.create({ ...run, id });
    await loseStorage(t, desk, window);
    const here = Object.keys(runs).filter((id) => dirname(window.store.folderOf(id)) === desk.root);
    assert.deepEqual([here, window.store.all().length], [['ended', 'cancelled'], 6]);
    assert.ok(!window.lines.some((line) => line.includes('TypeError')), window.lines.join('\n'));
    const made = await temporaryFolders();
    await window.store.reload();
    assert.deepEqual(await temporaryFolders(), made, 'one folder is enough');
    await mkdir(join(desk.root, 'bare'));
    desk.clock.advance(24 * 3600_000);
    await removeStrays({ store: window.store, clock: desk.clock, waking: new WakingTime(desk.clock) });
    assert.ok((await readdir(desk.root)).includes('bare'), 'nothing is swept that cannot be written');
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

import assert from 'node:assert/strict';
import promises, { rename, rm, writeFile } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { describe, test, type TestContext } from 'node:test';
import { replaceFile } from '../../../../src/core/files.ts';
import { refuseFlushes } from '../../core/refuseFlushes.ts';
import { minuteMs, pass } from '../passTime.ts';
import { type Fixture, openWindow, setUpFixture, setUpWindow } from '../runWindow.ts';
import { seedUnknownRun, startRemoteRun, trackRun, trackRunThatEndsUnseen, setUpRun } from '../seededRuns.ts';
import { startWith } from '../uploads.ts';

/**
 * Replaces the folder of runs by a file, so that no user can write there; the returned function
 * restores it.
 */
async function loseStorage({ root }: Fixture): Promise<() => Promise<void>> {
  await rename(root, `${root}.away`);
  await writeFile(root, '');
  return async () => {
    await rm(root);
    await replaceFile(`${root}.away`, root);
  };
}

/**
 * Has every try to write in the folder of runs fail with a code; the returned function undoes it.
 */
function refuseWrites(t: TestContext, { root }: Pick<Fixture, 'root'>, code: string): () => void {
  const { access, open } = promises;
  const refuse = (path: unknown): void => {
    if (String(path).startsWith(root)) throw Object.assign(new Error('refused'), { code });
  };
  const mocks = [
    t.mock.method(promises, 'access', async (path: string, mode: number) => {
      refuse(path);
      await access(path, mode);
    }),
    // On Windows, only a file shows whether a folder can be written.
    t.mock.method(promises, 'open', (path: string, flags: string, mode?: number) => {
      if (path.includes('.writable-')) refuse(path);
      return open(path, flags, mode);
    }),
  ];
  syncBuiltinESMExports();
  const undo = (): void => {
    for (const { mock } of mocks) mock.restore();
    syncBuiltinESMExports();
  };
  t.after(undo);
  return undo;
}

describe('storage that cannot be written', () => {
  test('F66 refuses a start and a second dispatch with the cause, before anything is sent', async (t) => {
    const { fixture, window } = await setUpWindow(t);
    const unknown = await seedUnknownRun(fixture, window);
    const remote = await startRemoteRun(fixture);
    await loseStorage(fixture);
    const sent = fixture.service.requests.length;
    const refused = { kind: 'storage', data: { detail: 'EEXIST' } };
    await assert.rejects(window.tracker.claim([fixture.folder]), refused);
    await assert.rejects(window.tracker.start(await window.assessment()), refused);
    await assert.rejects(window.tracker.resend(unknown.id), refused);
    assert.deepEqual([fixture.service.requests.length, window.store.all()], [sent, [unknown]]);
    await assert.rejects(trackRun(fixture, window, remote), refused);
  });

  test('F66 that fails during a question leads to nothing being sent', async (t) => {
    const { fixture, window } = await setUpWindow(t);
    const confirmUpload = async (): Promise<boolean> => {
      await loseStorage(fixture);
      return true;
    };
    await assert.rejects(startWith(window, fixture, { confirmUpload }), { kind: 'storage' });
    assert.equal(fixture.service.requests.length, 0);
  });

  test('F66 does not stop polls of a leased run, whose end is saved once possible', async (t) => {
    const { fixture, window, id, runId } = await setUpRun(t);
    const bringBack = await loseStorage(fixture);
    const asked = fixture.sent('/describe');
    await pass(fixture, 5 * minuteMs);
    assert.ok(fixture.sent('/describe') - asked > 2);
    assert.deepEqual([window.store.get(id)?.state, window.store.problem], ['running', 'EEXIST']);
    const warned = ['The lease ', `Run ${id}: poll failed`].map((start) =>
      window.warnings.filter((line) => line.startsWith(start) && line.includes(id)),
    );
    assert.deepEqual(
      warned.map(({ length }) => length),
      [1, 1],
      window.warnings.join('\n'),
    );
    await fixture.service.finishRun(runId);
    await pass(fixture, 20 * minuteMs);
    assert.deepEqual([window.store.get(id)?.state, window.ended], ['running', []]);
    await bringBack();
    assert.equal((await window.untilEnded(id)).state, 'succeeded');
    assert.equal(window.ended.length, 1);
  });

  test('F66 shows the last known state of a run without a lease, with the reason, and drives it once possible', async (t) => {
    const fixture = await setUpFixture(t);
    const id = await trackRunThatEndsUnseen(t, fixture);
    const makeWritable = refuseWrites(t, fixture, 'EROFS');
    const window = openWindow(t, fixture);
    const problems: (string | undefined)[] = [];
    window.store.onDidChange(() => {
      if (window.store.problem !== problems.at(-1)) problems.push(window.store.problem);
    });
    const asked = fixture.sent('/describe');
    await window.tracker.resume();
    await pass(fixture, 5 * minuteMs);
    assert.deepEqual([window.store.get(id)?.state, fixture.sent('/describe') - asked], ['running', 0]);
    assert.equal(window.tracker.nextCheckAt(id), undefined);
    assert.ok(!window.lines.some((line) => line.includes('could not be taken over')));
    makeWritable();
    assert.equal((await window.untilEnded(id)).state, 'succeeded');
    assert.deepEqual(problems, ['EROFS', undefined]);
  });

  test('F66 is distinguished from a full disk', async (t) => {
    const fixture = await setUpFixture(t);
    const { store } = openWindow(t, fixture);
    refuseWrites(t, fixture, 'ENOSPC');
    await assert.rejects(store.requireWritable(), { code: 'ENOSPC' });
    assert.equal(store.problem, undefined);
  });

  for (const code of ['ENOTSUP', 'EINVAL', 'ENOSYS'])
    test(`F196 that cannot flush (${code}) takes a run from its start to its results`, async (t) => {
      const { fixture, window } = await setUpWindow(t);
      await refuseFlushes(t, code);
      const run = await window.start();
      assert.ok(run.state === 'running', JSON.stringify(run));
      await fixture.service.finishRun(run.runId);
      const ended = await window.untilEnded(run.id);
      const files = 'artifacts' in ended ? ended.artifacts?.map(({ file }) => file) : [];
      assert.deepEqual(files, ['findings.json', 'report.md']);
    });

  test('F66 F196 whose flush fails for another reason refuses a start', async (t) => {
    const { window } = await setUpWindow(t);
    await refuseFlushes(t, 'EIO');
    await assert.rejects(window.tracker.start(await window.assessment()), { kind: 'storage' });
  });
});

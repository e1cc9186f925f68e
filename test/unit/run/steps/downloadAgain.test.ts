import assert from 'node:assert/strict';
import disk, { readdir, readFile, writeFile } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { isThere } from '../../../../src/core/files.ts';
import { hasRemoteResults, type Run } from '../../../../src/core/run/state/run.ts';
import { pass } from '../passTime.ts';
import { openWindow } from '../runWindow.ts';
import { setUpRun } from '../seededRuns.ts';
import { runOf } from '../sampleRuns.ts';
import { eventually } from '../../core/eventually.ts';

/** Has every renaming to a path that matches fail with a code. */
function refuseRenames(t: TestContext, to: RegExp, code: string): void {
  const { rename } = disk;
  t.mock.method(disk, 'rename', (from: string, path: string) =>
    to.test(path) ? Promise.reject(Object.assign(new Error('refused'), { code })) : rename(from, path),
  );
  syncBuiltinESMExports();
  t.after(() => {
    t.mock.restoreAll();
    syncBuiltinESMExports();
  });
}

describe('results of an ended run', () => {
  test('are offered for another download only by an ended run with artifacts', () => {
    const { succeeded, collecting, failed, imported } = runOf;
    assert.ok(succeeded.state === 'succeeded');
    const empty = { ...succeeded, exit: { ...succeeded.exit, artifacts: [] } };
    const runs: Run[] = [succeeded, empty, collecting, failed, imported];
    assert.deepEqual(runs.map(hasRemoteResults), [true, false, false, false, false]);
  });

  test('F67 that are missing here can be downloaded again, all together', async (t) => {
    const { fixture, window, id, runId } = await setUpRun(t, {
      saveResult: async (run) =>
        void worked.push([run.state, (await readdir(window.store.folderOf(id))).length]),
    });
    const worked: unknown[] = [];
    const heal = fixture.refuse(/artifact-download-url$/, 400);
    await fixture.service.finishRun(runId);
    await window.untilEnded(id);
    heal();
    const again = async (status?: number) => {
      const rule = { match: { path: /artifact-download-url$/, nth: 1 } };
      const undo = fixture.service.addFault(
        status === undefined ? rule : { ...rule, before: { kind: 'reply', status } },
      );
      await fixture.passUntil(window.tracker.downloadAgain(id)).finally(undo);
      const run = window.store.get(id);
      return run?.state === 'succeeded' ? run.artifacts : [];
    };
    const [findings, report] = await again(404);
    assert.equal(findings?.failure?.kind, 'notFound');
    assert.match(report?.file ?? '', /^report-[0-9a-f]{8}\.md$/, 'one that is denied again stops no other');
    const artifacts = await again();
    assert.ok(
      artifacts.every(({ failure, at }) => failure === undefined && at !== undefined),
      'with the time, by which other windows see that they are new',
    );
    const here = (await readdir(window.store.folderOf(id))).filter((name) => /^(report|findings)/.test(name));
    assert.deepEqual(
      here.toSorted(),
      artifacts.map(({ file }) => file).toSorted(),
      'the former ones are gone',
    );
    assert.deepEqual(worked.map((each) => (each as unknown[])[0]), ['succeeded', 'succeeded', 'succeeded']); // prettier-ignore
  });

  for (const [what, code] of [
    ['is denied', undefined],
    ['is held by a program', 'EBUSY'],
    ['finds the disk full', 'ENOSPC'],
    ['is here when the journal cannot be saved', 'EIO'],
  ])
    test(`F67 F205 of which the second ${what} change nothing here, neither files nor journal`, async (t) => {
      const { fixture, window, id, runId } = await setUpRun(t);
      await fixture.service.finishRun(runId);
      await window.untilEnded(id);
      const folder = window.store.folderOf(id);
      await writeFile(join(folder, 'findings.json'), '[]');
      const before = [window.store.get(id), (await readdir(folder)).toSorted()];
      if (code === undefined) fixture.refuse({ path: /artifact-download-url$/, nth: 2 }, 403);
      else refuseRenames(t, code === 'EIO' ? /run\.json$/ : /report-\w+\.md$/, code);
      await assert.rejects(fixture.passUntil(window.tracker.downloadAgain(id)));
      assert.deepEqual([window.store.get(id), (await readdir(folder)).toSorted()], before);
      assert.equal(await readFile(join(folder, 'findings.json'), 'utf8'), '[]');
    });

  test('F205 stay those that the journal names, where that was saved and a failure was said', async (t) => {
    const { fixture, window, id, runId } = await setUpRun(t);
    await fixture.service.finishRun(runId);
    await window.untilEnded(id);
    const apply = window.store.apply.bind(window.store);
    t.mock.method(window.store, 'apply', async (...args: Parameters<typeof apply>) => {
      await apply(...args);
      throw Object.assign(new Error('refused'), { code: 'EIO' });
    });
    await assert.rejects(fixture.passUntil(window.tracker.downloadAgain(id)), { code: 'EIO' });
    const run = window.store.get(id);
    assert.ok(run?.state === 'succeeded');
    for (const { file = '' } of run.artifacts)
      assert.ok(await isThere(join(window.store.folderOf(id), file)));
  });

  test('F67 keep the local copy if the user stops a download that waits for the service', async (t) => {
    const { fixture, window, id, runId } = await setUpRun(t);
    await fixture.service.finishRun(runId);
    await window.untilEnded(id);
    await pass(fixture, 10_000);
    const before = window.store.get(id);
    fixture.refuse('/get-artifact-download-url', { status: 429, headers: { 'retry-after': '100' } });
    const began = fixture.clock.now();
    const stop = new AbortController();
    const again = window.tracker.downloadAgain(id, stop.signal);
    await eventually(
      () => fixture.clock.slept.some((ms) => ms >= 100_000),
      'a wait of at least 100_000 ms has begun',
    );
    stop.abort();
    await assert.rejects(again, { name: 'AbortError' });
    assert.deepEqual([window.store.get(id), fixture.clock.now()], [before, began]);
    const other = openWindow(t, fixture);
    await other.store.reload();
    await assert.rejects(fixture.passUntil(other.tracker.downloadAgain(id)), {
      kind: 'rateLimited',
    });
  });
});

import assert from 'node:assert/strict';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { hasRemoteResults, type Run } from '../../../../src/core/run/state/run.ts';
import { pass } from '../passTime.ts';
import { openWindow } from '../runWindow.ts';
import { setUpRun } from '../seededRuns.ts';
import { runOf } from '../sampleRuns.ts';
import { eventually } from '../../core/eventually.ts';

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
      workOut: async (run) =>
        void worked.push([run.state, (await readdir(window.store.folderOf(id))).length]),
    });
    const worked: unknown[] = [];
    const heal = fixture.service.addFault({
      match: { path: /artifact-download-url$/ },
      before: { kind: 'reply', status: 400 },
    });
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
    const lacking = (await again(404)).map(({ file, failure }) => file ?? failure?.kind);
    assert.deepEqual(lacking, ['notFound', 'report.md'], 'one that is denied again stops no other');
    const artifacts = await again();
    assert.deepEqual(
      artifacts.map(({ file, failure, at }) => [file, failure, at !== undefined]),
      [
        ['findings.json', undefined, true],
        ['report.md', undefined, true],
      ],
      'with the time, by which other windows see that they are new',
    );
    assert.deepEqual(worked.map((each) => (each as unknown[])[0]), ['succeeded', 'succeeded', 'succeeded']); // prettier-ignore
  });

  test('F67 of which the second fails change nothing here, neither files nor journal', async (t) => {
    const { fixture, window, id, runId } = await setUpRun(t);
    await fixture.service.finishRun(runId);
    await window.untilEnded(id);
    const folder = window.store.folderOf(id);
    await writeFile(join(folder, 'findings.json'), '[]');
    const before = [window.store.get(id), (await readdir(folder)).toSorted()];
    fixture.service.addFault({
      match: { path: /artifact-download-url$/, nth: 2 },
      before: { kind: 'reply', status: 403 },
    });
    await assert.rejects(fixture.passUntil(window.tracker.downloadAgain(id)), { kind: 'forbidden' });
    assert.deepEqual([window.store.get(id), (await readdir(folder)).toSorted()], before);
    assert.equal(await readFile(join(folder, 'findings.json'), 'utf8'), '[]');
  });

  test('F67 keep the local copy if the user stops a download that waits for the service', async (t) => {
    const { fixture, window, id, runId } = await setUpRun(t);
    await fixture.service.finishRun(runId);
    await window.untilEnded(id);
    await pass(fixture, 10_000);
    const before = window.store.get(id);
    fixture.service.addFault({
      match: { path: '/get-artifact-download-url' },
      before: { kind: 'reply', status: 429, headers: { 'retry-after': '100' } },
    });
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

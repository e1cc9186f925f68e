import assert from 'node:assert/strict';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { hasRemoteResults } from '../../../../src/core/run/state/artifacts.ts';
import type { Run } from '../../../../src/core/run/state/run.ts';
import { dayMs, leap, pass } from '../passTime.ts';
import { type Fixture, openWindow, setUpWindow } from '../runWindow.ts';
import { trackRemoteRun, setUpRun } from '../seededRuns.ts';
import { runOf } from '../sampleRuns.ts';
import { states } from '../uploads.ts';
import { eventually } from '../../core/eventually.ts';

describe('results near their expiry on the service', () => {
  test('are offered for another download only by an ended run with artifacts', () => {
    const { succeeded, collecting, failed, imported } = runOf;
    assert.ok(succeeded.state === 'succeeded');
    const empty = { ...succeeded, exit: { ...succeeded.exit, artifacts: [] } };
    const runs: Run[] = [succeeded, empty, collecting, failed, imported];
    assert.deepEqual(runs.map(hasRemoteResults), [true, false, false, false, false]);
  });

  const breakStorage = (fixture: Fixture): (() => void) =>
    fixture.service.addFault({
      match: { method: 'GET', path: /\/storage\// },
      before: { kind: 'reply', status: 404 },
    });

  test('F64 that are missing here are announced once, near the end, and can be downloaded again', async (t) => {
    const { fixture, window, id, runId } = await setUpRun(t);
    const heal = breakStorage(fixture);
    await fixture.service.finishRun(runId);
    await window.untilEnded(id);
    window.tracker.dispose();
    const second = openWindow(t, fixture);
    fixture.clock.advance(24 * dayMs);
    await second.tracker.resume();
    assert.deepEqual(second.nearing, []);
    fixture.clock.advance(2 * dayMs);
    const windows = [openWindow(t, fixture), openWindow(t, fixture), openWindow(t, fixture)];
    await fixture.passUntil(Promise.all(windows.map(({ tracker }) => tracker.resume())));
    assert.equal(windows.flatMap(({ nearing }) => nearing).length, 1, 'once, in one window');
    heal();
    const [one] = windows;
    await fixture.passUntil(one!.tracker.downloadAgain(id));
    const run = one!.store.get(id);
    assert.ok(run?.state === 'succeeded');
    assert.deepEqual(
      run.artifacts.map(({ file, failure, at }) => [file, failure, at !== undefined]),
      [
        ['findings.json', undefined, true],
        ['report.md', undefined, true],
      ],
      'with the time, by which other windows see that they are new',
    );
  });

  test('F64 that were lost locally are announced; those that exist are not', async (t) => {
    const { fixture, window } = await setUpWindow(t);
    const ids: string[] = [];
    for (let runs = 0; runs < 2; runs += 1) {
      const { id, runId } = await trackRemoteRun(fixture, window);
      await fixture.service.finishRun(runId);
      await window.untilEnded(id);
      ids.push(id);
    }
    const [, lost = ''] = ids;
    await rm(join(window.store.folderOf(lost), 'findings.json'));
    window.tracker.dispose();
    fixture.clock.advance(26 * dayMs);
    const later = openWindow(t, fixture);
    await later.tracker.resume();
    assert.deepEqual(
      later.nearing.map(({ id }) => id),
      [lost],
    );
  });

  test('F64 of a run that waited for a token since are announced while a window is open', async (t) => {
    const { fixture, window } = await setUpWindow(t);
    await window.tracker.resume();
    const { id } = await trackRemoteRun(fixture, window);
    window.setToken(undefined);
    await window.until(id, (run) => 'trouble' in run && run.trouble?.kind === 'notSignedIn');
    await leap(fixture, 26 * dayMs);
    assert.deepEqual(
      window.nearing.map((run) => run.id),
      [id],
    );
    await leap(fixture, 2 * dayMs);
    assert.equal(window.nearing.length, 1);
  });

  test('F97 are announced again if a clock that was ahead announced them before', async (t) => {
    const { fixture, window, id, runId } = await setUpRun(t);
    breakStorage(fixture);
    await fixture.service.finishRun(runId);
    await window.untilEnded(id);
    window.tracker.dispose();
    fixture.clock.moveWall(28 * dayMs);
    const ahead = openWindow(t, fixture);
    await ahead.tracker.resume();
    assert.equal(ahead.nearing.length, 1);
    ahead.tracker.dispose();
    fixture.clock.moveWall(-28 * dayMs);
    fixture.clock.advance(26 * dayMs);
    for (const notices of [1, 0]) {
      const later = openWindow(t, fixture);
      await later.tracker.resume();
      assert.equal(later.nearing.length, notices);
      later.tracker.dispose();
    }
  });

  test('F67 keep the local copy if another download fails, and the reason is shown', async (t) => {
    const { fixture, window, id, runId } = await setUpRun(t);
    await fixture.service.finishRun(runId);
    await window.untilEnded(id);
    const findings = join(window.store.folderOf(id), 'findings.json');
    await writeFile(findings, '[]');
    breakStorage(fixture);
    const before = window.store.get(id);
    const again = fixture.passUntil(window.tracker.downloadAgain(id));
    await assert.rejects(again, { kind: 'addressRefused' });
    assert.deepEqual(window.store.get(id), before);
  });

  test('F67 are downloaded after the announcement while the source is being deleted', async (t) => {
    const { fixture, window } = await setUpWindow(t);
    const run = await window.start();
    assert.ok(run.state === 'running');
    fixture.service.addFault({
      match: { path: '/delete' },
      before: { kind: 'reply', status: 429, headers: { 'retry-after': '100' } },
    });
    const again = new Promise<void>((resolve, reject) => {
      window.tracker.onDidEnd(({ id }) => {
        window.tracker.downloadAgain(id).then(resolve, reject);
      });
    });
    await fixture.service.finishRun(run.runId);
    await fixture.passUntil(again);
    assert.equal(window.store.get(run.id)?.state, 'succeeded');
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

describe('source that cannot be deleted from the service', () => {
  for (const [answer, headers, waitMs] of [
    ['sends Retry-After', { 'retry-after': '3600' }, 3600_000],
    ['fails', {}, 1_000],
  ] as const) {
    test(`F51 is retried when due after the service ${answer}, not at every focus of the window`, async (t) => {
      const { fixture, window } = await setUpWindow(t);
      const heal = fixture.service.addFault({
        match: { path: '/delete' },
        before: { kind: 'reply', status: 'retry-after' in headers ? 429 : 503, headers },
      });
      const run = await window.start();
      assert.ok(run.state === 'running');
      await fixture.service.finishRun(run.runId);
      await window.untilEnded(run.id);
      await pass(fixture, 60_000);
      await fixture.passUntil(window.tracker.resume());
      const tried = fixture.sent('/delete');
      for (let focus = 0; focus < 5; focus += 1) await fixture.passUntil(window.tracker.resume());
      assert.deepEqual([tried > 0, fixture.sent('/delete') - tried], [true, 0]);
      heal();
      fixture.clock.advance(waitMs + 15 * 60_000);
      await fixture.passUntil(window.tracker.resume());
      // A heartbeat may have started it just before.
      await window.until(run.id, ({ targets }) => targets[0]?.upload?.state === 'deleted');
      assert.deepEqual(states(fixture), ['deleted']);
    });
  }
});

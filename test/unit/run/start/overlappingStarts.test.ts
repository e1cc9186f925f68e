import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { minuteMs, pass } from '../passTime.ts';
import { openWindow, setUpFixture, setUpWindow } from '../runWindow.ts';
import { startRemoteRun, trackRun } from '../seededRuns.ts';
import { accepted, startAsking } from '../uploads.ts';

describe('overlapping starts', () => {
  for (const where of ['in one window', 'in two windows'] as const) {
    test(`F104 ${where} exclude each other: one question, one run`, async (t) => {
      const fixture = await setUpFixture(t);
      const first = openWindow(t, fixture);
      const second = where === 'in one window' ? first : openWindow(t, fixture);
      const assessment = await first.assessment();
      const [target] = assessment.targets;
      const other = { ...target!, folder: `${target!.folder}-docs`, name: 'docs' };
      let questions = 0;
      const confirmUpload = (): Promise<boolean> => Promise.resolve((questions += 1) > 0);
      const overlapping = [[target!], [target!, other], [other, target!]];
      const started = startAsking(first, assessment, async () => {
        for (const targets of overlapping) {
          const start = startAsking(second, { ...assessment, targets }, confirmUpload);
          await assert.rejects(start, { kind: 'startedElsewhere' });
        }
        const apart = await second.tracker.claim([other.folder]);
        await apart.release();
        return confirmUpload();
      });
      assert.equal((await fixture.passUntil(started))?.state, 'running');
      assert.deepEqual([questions, accepted(fixture)], [1, 1]);
      const next = second.tracker.start({ ...assessment, targets: [target!] });
      assert.equal((await fixture.passUntil(next))?.state, 'running', 'and then may begin');
    });
  }

  test('F104 are excluded while the user reads the question, and no longer', async (t) => {
    const fixture = await setUpFixture(t);
    const [first, second] = [openWindow(t, fixture), openWindow(t, fixture)];
    const claim = await first.tracker.claim([fixture.folder]);
    // A first look never takes a claim that was not renewed: it may belong to a machine that slept.
    for (let looks = 1; looks <= 3; looks += 1) {
      await pass(fixture, 2 * minuteMs);
      await assert.rejects(second.tracker.claim([fixture.folder]), { kind: 'startedElsewhere' });
    }
    await claim.release();
    await (await second.tracker.claim([fixture.folder])).release();
  });

  test('F104 are not blocked by a start that could not claim all of its folders', async (t) => {
    const { fixture, window } = await setUpWindow(t);
    const other = `${fixture.folder}-docs`;
    const { startingFolder } = window.store;
    await mkdir(startingFolder, { recursive: true });
    const name = createHash('sha256').update(other).digest('hex').slice(0, 32);
    await writeFile(join(startingFolder, name), 'no folder');
    await assert.rejects(window.tracker.claim([fixture.folder, other]), { code: 'EEXIST' });
    await (await window.tracker.claim([fixture.folder])).release();
  });

  test('F104 that track one run ID in two windows create one run and one notification', async (t) => {
    const fixture = await setUpFixture(t);
    const windows = [openWindow(t, fixture), openWindow(t, fixture), openWindow(t, fixture)];
    // Each window hears of the end so, whichever drives the run.
    for (const { tracker } of windows) await tracker.resume();
    const runId = await startRemoteRun(fixture);
    const tracked = Promise.all(windows.map((window) => trackRun(fixture, window, runId)));
    const ids = await fixture.passUntil(tracked);
    assert.equal(new Set(ids).size, 1);
    await fixture.service.finishRun(runId);
    await windows[0]!.untilEnded(ids[0]!);
    await pass(fixture, minuteMs);
    for (const { store } of windows) assert.equal(store.all().length, 1);
    assert.equal(windows.flatMap(({ ended }) => ended).length, 1);
  });
});

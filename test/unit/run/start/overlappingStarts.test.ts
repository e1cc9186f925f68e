import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { minuteMs, pass } from '../days.ts';
import { openWindow, setUpDesk, setUpWindow } from '../runWindow.ts';
import { startRemoteRun, trackRun } from '../seededRuns.ts';
import { accepted, startAsking } from '../uploads.ts';

describe('starts that overlap', () => {
  for (const where of ['in one window', 'in two windows'] as const) {
    test(`F104 ${where} exclude each other: one question, one run`, async (t) => {
      const desk = await setUpDesk(t);
      const first = openWindow(t, desk);
      const second = where === 'in one window' ? first : openWindow(t, desk);
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
      assert.equal((await desk.clock.passUntil(started, desk.traffic))?.state, 'running');
      assert.deepEqual([questions, accepted(desk)], [1, 1]);
      const next = second.tracker.start({ ...assessment, targets: [target!] });
      assert.equal((await desk.clock.passUntil(next, desk.traffic))?.state, 'running', 'and then may begin');
    });
  }

  test('F104 are kept apart for as long as a person reads the question, and no longer', async (t) => {
    const desk = await setUpDesk(t);
    const [first, second] = [openWindow(t, desk), openWindow(t, desk)];
    const claim = await first.tracker.claim([desk.folder]);
    await pass(desk, 2 * minuteMs);
    await assert.rejects(second.tracker.claim([desk.folder]), { kind: 'startedElsewhere' });
    await claim.release();
    await (await second.tracker.claim([desk.folder])).release();
  });

  test('F104 are not kept from by a start that could not claim all of its folders', async (t) => {
    const { desk, window } = await setUpWindow(t);
    const other = `${desk.folder}-docs`;
    const { startingFolder } = window.store;
    await mkdir(startingFolder, { recursive: true });
    const name = createHash('sha256').update(other).digest('hex').slice(0, 32);
    await writeFile(join(startingFolder, name), 'no folder');
    await assert.rejects(window.tracker.claim([desk.folder, other]), { code: 'EEXIST' });
    await (await window.tracker.claim([desk.folder])).release();
  });

  test('F104 the same run ID tracked in two windows at once makes one run and one notice', async (t) => {
    const desk = await setUpDesk(t);
    const windows = [openWindow(t, desk), openWindow(t, desk), openWindow(t, desk)];
    // So that the end is heard of in each, whichever of them drives the run.
    for (const { tracker } of windows) await tracker.resume();
    const runId = await startRemoteRun(desk);
    const tracked = Promise.all(windows.map((window) => trackRun(desk, window, runId)));
    const ids = await desk.clock.passUntil(tracked, desk.traffic);
    assert.equal(new Set(ids).size, 1);
    await desk.service.finishRun(runId);
    await windows[0]!.untilEnded(ids[0]!);
    await pass(desk, minuteMs);
    for (const { store } of windows) assert.equal(store.all().length, 1);
    assert.equal(windows.flatMap(({ ended }) => ended).length, 1);
  });
});

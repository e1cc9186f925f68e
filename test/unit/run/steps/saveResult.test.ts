import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { describe, test } from 'node:test';
import { AssessmentError } from '../../../../src/core/errors.ts';
import { killHolder } from '../deadProcess.ts';
import { pass } from '../passTime.ts';
import { openWindow, setUpFixture } from '../runWindow.ts';
import { VirtualClock } from '../virtualClock.ts';
import { trackRunThatEndsUnseen } from '../seededRuns.ts';

describe('working out the findings', () => {
  test('is requested once, while artifacts and archives are available', async (t) => {
    const fixture = await setUpFixture(t);
    const seen: string[][] = [];
    const window = openWindow(t, fixture, {
      saveResult: async (run) => void seen.push(await readdir(window.store.folderOf(run.id))),
    });
    const run = await window.start();
    assert.ok(run.state === 'running');
    await fixture.service.finishRun(run.runId);
    await window.untilEnded(run.id);
    assert.equal(seen.length, 1);
    for (const name of ['archive-0.tar.gz', 'findings.json', 'report.md'])
      assert.ok(seen[0]?.includes(name), name);
  });

  test('is left to the window that has taken the lease over', async (t) => {
    const fixture = await setUpFixture(t);
    const id = await trackRunThatEndsUnseen(t, fixture);
    const begun = [Promise.withResolvers<undefined>(), Promise.withResolvers<undefined>()] as const;
    const clock = new VirtualClock();
    const slow = openWindow(t, fixture, {
      clock,
      saveResult: (_run, signal) =>
        new Promise((_resolve, reject) => {
          begun[0].resolve(undefined);
          signal.addEventListener('abort', () => reject(signal.reason as Error));
        }),
    });
    void slow.tracker.resume();
    await clock.passUntil(begun[0].promise, fixture.traffic);
    const done = Promise.withResolvers<undefined>();
    const next = openWindow(t, fixture, {
      saveResult: () => {
        begun[1].resolve(undefined);
        return done.promise;
      },
    });
    await killHolder(fixture, id);
    void next.tracker.resume();
    await fixture.passUntil(begun[1].promise);
    // The next renewal of its lease tells it.
    clock.advance(5_000);
    await pass(fixture, 15_000);
    assert.equal((await next.store.refresh(id))?.state, 'collecting');
    done.resolve(undefined);
    assert.equal((await next.untilEnded(id)).state, 'succeeded');
    assert.deepEqual([slow.ended.length, next.ended.length], [0, 1]);
  });

  for (const [what, saveResult] of [
    ['crashes', () => Promise.reject(new AssessmentError('workerCrashed'))],
    ['never ends', () => new Promise<never>(() => undefined)],
    ['finds no space', () => Promise.reject(Object.assign(new Error('invented'), { code: 'ENOSPC' }))],
  ] as const)
    test(`F203 that ${what} delays no end; it is done once more in each window until the archives can go`, async (t) => {
      const fixture = await setUpFixture(t);
      let asked = 0;
      const failing = (): Promise<never> => {
        asked += 1;
        return saveResult();
      };
      const window = openWindow(t, fixture, { saveResult: failing });
      const run = await window.start();
      assert.ok(run.state === 'running');
      await fixture.service.finishRun(run.runId);
      const ended = await window.until(run.id, (each) => each.targets[0]?.upload?.state === 'deleted');
      assert.deepEqual([ended.state, window.ended.length, asked], ['succeeded', 1, 1]);
      assert.ok(window.warnings.some((line) => line.includes(`Run ${run.id}: its findings could not be`)));
      for (let focus = 0; focus < 3; focus += 1) await fixture.passUntil(window.tracker.focused());
      assert.equal(asked, 2);
      const folder = window.store.folderOf(run.id);
      let here: string[] = [];
      const next = openWindow(t, fixture, { saveResult: async () => void (here = await readdir(folder)) });
      await fixture.passUntil(next.tracker.resume());
      assert.ok(here.includes('archive-0.tar.gz'));
      await next.until(run.id, (each) => each.archivesRemovedAt !== undefined);
      assert.ok(!(await readdir(folder)).includes('archive-0.tar.gz'));
    });
});

import assert from 'node:assert/strict';
import { rm } from 'node:fs/promises';
import { describe, test, type TestContext } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { type Run, type RunIn, shared } from '../../../../src/core/run/state/run.ts';
import { RunNotes } from '../../../../src/core/run/disk/runNotes.ts';
import { RunStore } from '../../../../src/core/run/disk/runStore.ts';
import { storeWithoutSpaceFor } from '../hookedStore.ts';
import { openWindow, setUpFixture, type WindowOptions } from '../runWindow.ts';
import { runOf } from '../sampleRuns.ts';
import { seedUnknownRun, trackRemoteRun } from '../seededRuns.ts';
import { memory, startUnkept, states } from '../uploads.ts';
import { silent } from '../../../silentLog.ts';

const dayMs = 24 * 3600_000;

async function setUpNotes(t: TestContext, options: WindowOptions = {}) {
  const fixture = await setUpFixture(t);
  const values = memory();
  const notes = new RunNotes(values, { log: silent });
  const window = openWindow(t, fixture, { ...options, notes });
  const following = notes.follow(window.store);
  t.after(() => following.dispose());
  return { fixture, values, notes, window };
}

describe('the notes of runs under way', () => {
  test('F93 offer a run whose folder is gone, without a token, until it is over', async (t) => {
    const { fixture, notes, window } = await setUpNotes(t);
    const { id, runId } = await trackRemoteRun(fixture, window);
    assert.deepEqual(notes.lost(window.store), []);
    await window.close();
    await rm(fixture.root, { recursive: true });
    const rebuilt = openWindow(t, fixture);
    await rebuilt.tracker.resume();
    const [lost, ...more] = notes.lost(rebuilt.store);
    assert.deepEqual([lost?.runId, lost?.targets[0]?.folder, more], [runId, fixture.folder, []]);
    assert.ok(!JSON.stringify(lost).includes(fixture.service.token));
    const again = notes.follow(rebuilt.store);
    t.after(() => again.dispose());
    const run = await rebuilt.tracker.track(lost!);
    assert.equal(run.id, id, 'every window gives it the same');
    assert.deepEqual(notes.lost(rebuilt.store), [], 'what is tracked again is not lost');
    await notes.forget(lost!.runId);
    await fixture.service.finishRun(runId);
    await rebuilt.untilEnded(run.id);
    await rebuilt.tracker.remove(run.id);
    assert.deepEqual(notes.lost(rebuilt.store), []);
  });

  test('F93 contain the start time of a run, its folders, and what is deleted from the service at its end', async (t) => {
    const { fixture, notes, window } = await setUpNotes(t);
    const [target] = (await window.assessment()).targets;
    const first = await window.start({ targets: [target!, { ...target!, folder: '/docs', name: 'docs' }] });
    assert.ok(first.state === 'running');
    await window.close();
    await rm(fixture.root, { recursive: true });
    fixture.clock.advance(2 * dayMs);
    const rebuilt = openWindow(t, fixture);
    await rebuilt.tracker.resume();
    const run = await rebuilt.tracker.track(notes.lost(rebuilt.store)[0]!);
    const known = (of: Run) => of.targets.map(({ folder, name, upload }) => [folder, name, upload?.fileId]);
    assert.deepEqual(known(run), known(first));
    assert.ok(run.state === 'running' && run.dispatchedAt === first.dispatchedAt);
    assert.equal(run.createdAt, first.dispatchedAt, 'what was started since is newer');
    await fixture.service.finishRun(run.runId);
    await rebuilt.untilEnded(run.id);
    await rebuilt.until(run.id, ({ targets }) => targets.every(({ upload }) => upload?.state === 'deleted'));
    assert.deepEqual(states(fixture), ['deleted', 'deleted']);
  });

  const noted = {
    workflow: 'whitebox-assessment',
    baseUrl: 'https://a.test',
    organizationId: 'o',
    language: 'english',
    runId: 'run-1',
  } as const;

  test('F93 ignore runs that exist or wait for this run ID, and other values in the memory', async (t) => {
    const { fixture, values, notes, window } = await setUpNotes(t);
    const { id, intendedAt } = await seedUnknownRun(fixture, window);
    const note = { ...noted, targets: [{ folder: '/shop', name: 'shop' }] };
    await values.update('run:run-1', { ...note, id, intendedAt });
    for (const key of ['choice', 'former:run:1']) await values.update(key, { ...note, runId: 'run-2' });
    assert.deepEqual(notes.lost(window.store), []);
  });

  test('F93 are written once, and only for a live run', async (t) => {
    const { values, fixture, window } = await setUpNotes(t);
    const { update } = values;
    const written: string[] = [];
    values.update = (key, value) => {
      written.push(`${key} ${value === undefined ? 'forgotten' : 'noted'}`);
      return update(key, value);
    };
    const run = await window.start();
    await window.store.apply(run.id, { type: 'renamed', label: 'Monday', at: 6 });
    assert.ok(run.state === 'running');
    assert.deepEqual(written, [`run:${run.runId} noted`]);
    await fixture.service.finishRun(run.runId);
    await window.untilEnded(run.id);
    await window.store.apply(run.id, { type: 'renamed', label: 'Tuesday', at: 7 });
    assert.deepEqual(written, [`run:${run.runId} noted`, `run:${run.runId} forgotten`]);
  });

  test('F93 are not written again for a removed run, and a failed write is logged', async (t) => {
    const { fixture, values, notes, window } = await setUpNotes(t);
    const { id, runId } = await trackRemoteRun(fixture, window);
    await notes.forget(runId);
    await window.store.remove(id);
    assert.deepEqual([notes.lost(window.store), values.keys()], [[], []]);
    const lines: string[] = [];
    const log = { ...silent, warn: (line: string) => void lines.push(line) };
    const full = { ...values, update: () => Promise.reject(new Error('no space left')) };
    new RunNotes(full, { log }).keep(runOf.running as RunIn<'running'>);
    await setImmediate();
    assert.match(lines.join('\n'), /^A run was not noted: Error: no space left$/);
  });

  /** The next window has the notes of the previous one. */
  async function openNext(t: TestContext, { fixture, notes }: Awaited<ReturnType<typeof setUpNotes>>) {
    const next = openWindow(t, fixture, { notes });
    await next.store.reload();
    const again = notes.follow(next.store);
    t.after(() => again.dispose());
    await fixture.passUntil(next.tracker.resume());
    return next;
  }

  for (const state of ['dispatching', 'unknown'] as const) {
    test(`F66 provide the run ID for a run still ${state} in its journal, which is not reported as unknown`, async (t) => {
      const set = await setUpNotes(t);
      const { fixture, notes, window } = set;
      const run = await window.start();
      assert.ok(run.state === 'running');
      await window.close();
      const { runId, dispatchedAt: intendedAt } = run;
      const former = { ...shared(run), intendedAt };
      const reason = { kind: 'timeout' } as const;
      const behind = state === 'unknown' ? { ...former, state, reason } : { ...former, state };
      await new RunStore(fixture.root, { clock: fixture.clock, log: silent }).create(behind);
      const next = await openNext(t, set);
      assert.equal((await next.untilState(run.id, 'running')).runId, runId);
      assert.deepEqual([next.ended, notes.lost(next.store)], [[], []]);
      await fixture.service.finishRun(runId);
      await next.untilEnded(run.id);
      assert.deepEqual([set.values.keys(), fixture.sent('/dispatch')], [[], 1]);
    });
  }

  test('F66 are written if a full disk refuses an accepted run, and recover it', async (t) => {
    const set = await setUpNotes(t, { store: storeWithoutSpaceFor('dispatched') });
    const { fixture, window } = set;
    await startUnkept(window);
    const next = await openNext(t, set);
    const [run] = next.store.all();
    assert.ok(run?.state === 'running', run?.state);
    assert.deepEqual([run.runId, fixture.sent('/dispatch')], [fixture.service.runs()[0]?.id, 1]);
  });
});

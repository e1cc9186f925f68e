import assert from 'node:assert/strict';
import { mkdir, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { cleanUp } from '../../../../src/core/run/steps/cleanUp.ts';
import type { RunDeps } from '../../../../src/core/run/steps/step.ts';
import { RunStore } from '../../../../src/core/run/disk/runStore.ts';
import type { Run } from '../../../../src/core/run/state/run.ts';
import { silent } from '../../../silentLog.ts';
import { killHolder } from '../deadProcess.ts';
import { dayMs, stayAwake } from '../passTime.ts';
import { openWindow, setUpFixture } from '../runWindow.ts';
import { runOf } from '../sampleRuns.ts';
import { tempFolder } from '../tempFolder.ts';
import { VirtualClock } from '../virtualClock.ts';

/** Each pass over the folders of runs is a day after the one before. */
async function setUpFolders(t: TestContext, retainLocalDays = 90) {
  const root = join(await tempFolder(t), 'runs');
  const clock = new VirtualClock();
  const store = new RunStore(root, { clock, log: silent });
  /** Makes a file that is so many days old. */
  const make = async (name: string, days: number): Promise<void> => {
    await mkdir(dirname(join(root, name)), { recursive: true });
    await writeFile(join(root, name), '');
    const at = clock.now() / 1000 - days * 24 * 3600;
    await utimes(join(root, name), at, at);
  };
  const end = async (id: string, days: number, change: object = {}): Promise<void> => {
    const endedAt = clock.now() - days * dayMs;
    const targets = [{ folder: '/shop', name: 'shop' }];
    await store.create({ ...runOf.succeeded, id, endedAt, noticeDue: false, targets, ...change } as Run);
  };
  const pass = () =>
    cleanUp({ store, clock, log: silent, retainLocalDays: () => retainLocalDays } as unknown as RunDeps);
  const nextDay = async (): Promise<string[]> => {
    clock.advance(dayMs);
    assert.equal(await pass(), true);
    return (await readdir(root, { recursive: true })).filter((name) => !/lease|lock/.test(name)).toSorted();
  };
  return { root, clock, store, make, end, pass, nextDay };
}

describe('the daily clean-up', () => {
  test('removes an ended run that was past its time at the pass before, too', async (t) => {
    const { store, end, pass, nextDay, clock } = await setUpFolders(t);
    await end('fresh', 89);
    await end('old', 91);
    await end('unshown', 91, { noticeDue: true });
    const upload = { fileId: 'file', state: 'confirmed', at: 0 };
    await end('uploaded', 91, { targets: [{ folder: '/shop', name: 'shop', upload }] });
    await store.create({ ...runOf.unknown, id: 'unknown' });
    const ids = () => store.all().map(({ id }) => id).toSorted(); // prettier-ignore
    assert.equal(await pass(), true);
    clock.advance(dayMs / 2);
    assert.deepEqual([await pass(), ids().length], [false, 5], 'not twice a day');
    clock.advance(dayMs / 2);
    await pass();
    assert.deepEqual(ids(), ['fresh', 'unknown', 'unshown']);
    await nextDay();
    assert.deepEqual(ids(), ['fresh', 'unknown', 'unshown']);
    await nextDay();
    assert.deepEqual(ids(), ['unknown', 'unshown']);
  });

  test('F97 F98 removes nothing because the wall clock was wrong at one pass', async (t) => {
    const { store, end, pass, nextDay, clock } = await setUpFolders(t);
    await end('a', 1);
    await pass();
    clock.moveWall(91 * dayMs);
    assert.equal(await pass(), true);
    clock.moveWall(-91 * dayMs);
    await nextDay();
    await nextDay();
    assert.deepEqual(store.all().map(({ id }) => id), ['a']); // prettier-ignore
  });

  test('F97 removes archives after a week, of runs without all results and beside damaged journals', async (t) => {
    const { clock, store, make, end, pass, nextDay } = await setUpFolders(t);
    const [{ archive }] = runOf.succeeded.targets as [Run['targets'][number]];
    const createdAt = clock.now() - 6.5 * dayMs;
    await end('lacking', 0, { createdAt, targets: [{ folder: '/shop', name: 'shop', archive }] });
    await store.create({ ...runOf.running, id: 'running', createdAt });
    for (const name of [`lacking/${archive!.file}`, `running/${archive!.file}`]) await make(name, 6.5);
    for (const name of ['run.json.damaged-1', 'archive-0.zip', 'notes.txt'])
      await make(`damaged/${name}`, 6.5);
    await pass();
    const archives = (names: string[]): string[] => names.filter((name) => /archive-|a\.tar/.test(name));
    assert.equal(archives(await nextDay()).length, 3, 'it was not due at the first pass');
    assert.deepEqual(archives(await nextDay()), []);
    assert.ok(store.get('running')?.archivesRemovedAt !== undefined);
    assert.ok((await nextDay()).includes(join('damaged', 'notes.txt')));
  });

  test('F25 F205 removes files that are in no journal and folders without one, a damaged one in time', async (t) => {
    const { make, end, pass, nextDay } = await setUpFolders(t, 3);
    const file = 'findings-0badcafe.json';
    await end('whole', 1, { artifacts: [{ name: 'findings', file }] });
    for (const each of [file, 'report-0badcafe.md']) await make(`whole/${each}`, 2);
    await make('whole/findings.json.part', 2);
    await make('whole/report.md.0badcafe.tmp', 2);
    await make('bare/run.json.0badcafe.tmp', 2);
    await make('damaged/run.json.damaged-1', 2);
    await make('damaged/findings.json', 2);
    await pass();
    await nextDay();
    const left = await nextDay();
    assert.deepEqual(left.filter((name) => /part|tmp/.test(name)), []); // prettier-ignore
    const whole = ['whole', join('whole', file), join('whole', 'run.json')];
    assert.deepEqual(left, ['damaged', join('damaged', 'findings.json'), join('damaged', 'run.json.damaged-1'), ...whole]); // prettier-ignore
    assert.deepEqual(await nextDay(), whole);
  });

  test('F116 goes on when a folder vanishes under it, and leaves journals of later versions alone', async (t) => {
    const { root, store, make, end, pass, nextDay } = await setUpFolders(t);
    await end('vanishing', 1);
    await make('newer/archive-0.zip', 100);
    await writeFile(
      join(root, 'newer', 'run.json'),
      JSON.stringify({ version: 2, id: 'newer', workflow: 'x' }),
    );
    await store.reload();
    await make('zz/lock', 2);
    await pass();
    await nextDay();
    await rm(join(root, 'vanishing'), { recursive: true });
    const left = await nextDay();
    assert.deepEqual(left.filter((name) => !name.startsWith('vanishing')), ['newer', join('newer', 'archive-0.zip'), join('newer', 'run.json')]); // prettier-ignore
  });

  test('is made by a window at its start, and once a day by its own clock, however the wall clock jumps', async (t) => {
    const fixture = await setUpFixture(t);
    const window = openWindow(t, fixture, { retainLocalDays: 3 });
    const noted: Run = { ...runOf.failed, id: 'a', noticeDue: false, targets: [] };
    await window.store.create({ ...noted, endedAt: fixture.clock.now() } as Run);
    await window.tracker.resume();
    for (const days of [5, 5, -10]) {
      fixture.clock.moveWall(days * dayMs);
      await window.tracker.focused();
    }
    assert.equal(window.store.all().length, 1);
    for (const left of [1, 1, 1, 0]) {
      await stayAwake(fixture, 25, 60);
      await window.tracker.focused();
      assert.equal(window.store.all().length, left);
    }
  });
});

test('F25 what a process was killed in while it packed is removed by the next start; that of a living one stays', async (t) => {
  const fixture = await setUpFixture(t);
  const window = openWindow(t, fixture, { clock: new VirtualClock() });
  const packed = await fixture.passUntil(window.tracker.pack(await window.assessment(), {}));
  const { id } = packed!.run;
  const next = openWindow(t, fixture);
  await next.tracker.resume();
  assert.ok((await readdir(join(fixture.root, id))).includes('archive-0.tar.gz'), 'its window lives');
  await killHolder(fixture, id);
  // These are a damaged journal, and starts that have no lease yet.
  for (const path of ['damaged/lease', 'begun/lease', 'new'])
    await mkdir(join(fixture.root, path), { recursive: true });
  await writeFile(join(fixture.root, 'damaged', 'run.json.damaged-1'), '');
  await fixture.passUntil(next.tracker.resume());
  assert.deepEqual(
    [await readdir(fixture.root), fixture.service.requests],
    [['begun', 'damaged', 'new'], []],
  );
});

import assert from 'node:assert/strict';
import { mkdir, readdir, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, test } from 'node:test';
import { removeStrays } from '../../../../src/core/run/disk/journal.ts';
import { RunStore } from '../../../../src/core/run/disk/runStore.ts';
import { silent } from '../../../silentLog.ts';
import { killHolder } from '../deadProcess.ts';
import { openWindow, setUpWindow } from '../runWindow.ts';
import { uploadingRun } from '../sampleRuns.ts';
import { tempFolder } from '../tempFolder.ts';
import { VirtualClock } from '../virtualClock.ts';

describe('the folder of a run', () => {
  test('F25 without a journal after a crash is swept; fresh ones and damaged runs are kept', async (t) => {
    const clock = new VirtualClock();
    const root = join(await tempFolder(t), 'runs');
    const make = async (id: string, ...files: string[]): Promise<void> => {
      await mkdir(join(root, id, 'lease'), { recursive: true });
      for (const file of files) await writeFile(join(root, id, file), '');
    };
    const store = new RunStore(root, { clock, log: silent });
    await store.create({ ...uploadingRun, id: 'whole' });
    await make('dead', 'run.json.0badcafe.tmp');
    await make('bare');
    await make('damaged', 'run.json.damaged-1');
    for (const name of ['leased', 'my-lock', 'notes.tmp.txt']) await make(`with-${name.slice(0, 2)}`, name);
    const kept = ['damaged', 'whole', 'with-le', 'with-my', 'with-no'];
    await removeStrays(await store.foldersWithoutJournal(), clock);
    const before = (await readdir(root)).sort();
    assert.deepEqual(before, ['bare', 'dead', ...kept].sort());
    clock.advance(61_000);
    await removeStrays(await store.foldersWithoutJournal(), clock);
    assert.deepEqual((await readdir(root)).sort(), kept);
  });

  test('F25 that a process was killed in while it packed is removed by the next start; that of a living one stays', async (t) => {
    const { fixture, window } = await setUpWindow(t);
    const packed = await fixture.passUntil(window.tracker.pack(await window.assessment(), {}));
    const { id } = packed!.run;
    const next = openWindow(t, fixture);
    await next.tracker.resume();
    assert.ok((await readdir(join(fixture.root, id))).includes('archive-0.tar.gz'), 'its window lives');
    await killHolder(fixture, id);
    await next.tracker.resume();
    assert.deepEqual([await readdir(fixture.root), fixture.service.requests], [[], []]);
  });

  test('F25 F97 with a damaged journal loses archives that were old a day ago, too; readable runs keep theirs', async (t) => {
    const root = join(await tempFolder(t), 'runs');
    const clock = new VirtualClock();
    const store = new RunStore(root, { clock, log: silent });
    await store.create({ ...uploadingRun, id: 'whole' });
    const weekAgo = Date.now() / 1000 - 8 * 24 * 3600;
    const others = ['damaged/my-archive-0.zip', 'damaged/notes.txt'];
    const old = ['whole/archive-0.zip', 'damaged/archive-0.zip', 'damaged/archive-10.zip', ...others];
    for (const file of [...old, 'fresh/archive-0.zip']) {
      await mkdir(dirname(join(root, file)), { recursive: true });
      await writeFile(join(root, file), '');
      if (old.includes(file)) await utimes(join(root, file), weekAgo, weekAgo);
    }
    const zips = async (folder: string): Promise<string[]> =>
      (await readdir(join(root, folder))).filter((name) => /^archive-.*zip$/.test(name)).toSorted();
    for (let hour = 0; hour < 24; hour += 1) {
      await removeStrays(await store.foldersWithoutJournal(), clock);
      assert.deepEqual(await zips('damaged'), ['archive-0.zip', 'archive-10.zip'], `after ${String(hour)} h`);
      clock.advance(3600_000);
    }
    await removeStrays(await store.foldersWithoutJournal(), clock);
    assert.deepEqual([await zips('damaged'), await zips('fresh'), await zips('whole')], [[], ['archive-0.zip'], ['archive-0.zip']]); // prettier-ignore
    const left = (await readdir(join(root, 'damaged'))).toSorted();
    assert.deepEqual(left, ['my-archive-0.zip', 'notes.txt']);
  });
});

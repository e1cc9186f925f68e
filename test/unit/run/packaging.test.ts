import assert from 'node:assert/strict';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { selectFiles } from '../../../src/core/upload/selection.ts';
import { openWindow, setUpDesk } from './runWindow.ts';
import { seedUnknownRun } from './seededRuns.ts';

const localArchives = async (folder: string): Promise<string[]> =>
  (await readdir(folder)).filter((name) => name.startsWith('archive'));

describe('the archives of a run', () => {
  test('are each of the type that is set for their folder', async (t) => {
    const desk = await setUpDesk(t);
    const window = openWindow(t, desk);
    const { targets } = await window.assessment();
    const [shop] = targets;
    const run = await window.start({ targets: [shop!, { ...shop!, name: 'tool', archiveType: 'zip' }] });
    assert.deepEqual(
      run.targets.map(({ archive }) => [archive?.type, archive?.file]),
      [
        ['tar_gz', 'archive-0.tar.gz'],
        ['zip', 'archive-1.zip'],
      ],
    );
    const dispatch = desk.service.requests.find(({ path }) => path.endsWith('/dispatch'));
    assert.deepEqual(JSON.stringify(dispatch?.body).match(/tar_gz|zip/g), ['tar_gz', 'zip']);
  });

  test('F22 say which selected files are not in them: a hundred in the journal, all in the manifest', async (t) => {
    const desk = await setUpDesk(t);
    const window = openWindow(t, desk);
    const gone = join(desk.folder, 'gone');
    await mkdir(gone);
    for (let file = 100; file < 220; file += 1) await writeFile(join(gone, String(file)), '');
    const surroundings = { home: desk.root, env: {} };
    const options = { exclude: [], includeNestedRepositories: false, surroundings };
    const selection = await selectFiles(desk.folder, options);
    await rm(gone, { recursive: true });
    const [shop] = (await window.assessment()).targets;
    const run = await window.start({ targets: [{ ...shop!, selection }] });
    const { omitted, files } = run.targets[0]!.archive!;
    assert.equal(files, 1);
    assert.deepEqual([omitted?.length, omitted?.[0], omitted?.[99]], [100, 'gone/100', 'gone/199']);
    const manifest = await readFile(join(window.store.folderOf(run.id), 'manifest-0.json'), 'utf8');
    assert.equal((JSON.parse(manifest) as { omitted: unknown[] }).omitted.length, 120);
  });

  test('leave this machine once the run is running', async (t) => {
    const desk = await setUpDesk(t);
    const window = openWindow(t, desk);
    const run = await window.start();
    assert.equal(run.state, 'running');
    assert.deepEqual(await localArchives(window.store.folderOf(run.id)), []);
  });

  test('leave this machine when the answer to the dispatch is lost, and sending it again needs none', async (t) => {
    const desk = await setUpDesk(t);
    const window = openWindow(t, desk);
    const heal = desk.service.addFault({ match: { path: '/dispatch' }, before: { kind: 'reset' } });
    const run = await window.start();
    assert.equal(run.state, 'unknown');
    assert.deepEqual(await localArchives(window.store.folderOf(run.id)), []);
    heal();
    const sent = await desk.clock.passUntil(window.tracker.resend(run.id), desk.traffic);
    assert.equal(sent.state, 'running');
  });

  test('that a killed window left beside a running run go with the next start', async (t) => {
    const desk = await setUpDesk(t);
    const window = openWindow(t, desk);
    const { id } = await seedUnknownRun(desk, window);
    await window.store.apply(id, { type: 'dispatched', runId: 'run-invented', at: 1 });
    await writeFile(join(window.store.folderOf(id), 'archive-0.tar.gz'), 'left over');
    await window.tracker.resume();
    assert.deepEqual(await localArchives(window.store.folderOf(id)), []);
  });
});

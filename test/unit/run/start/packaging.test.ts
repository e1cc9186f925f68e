import assert from 'node:assert/strict';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { Run } from '../../../../src/core/run/state/run.ts';
import { selectFiles } from '../../../../src/core/upload/select/selectFiles.ts';
import { setUpWindow } from '../runWindow.ts';

describe('the archives of a run', () => {
  test('have the type configured for their folder', async (t) => {
    const { fixture, window } = await setUpWindow(t);
    const { targets } = await window.assessment();
    const [shop] = targets;
    const run = await window.start({
      targets: [shop!, { ...shop!, name: 'tool', files: { ...shop!.files!, archiveType: 'zip' } }],
    });
    assert.deepEqual(
      run.targets.map(({ archive }) => [archive?.type, archive?.file]),
      [
        ['tar_gz', 'archive-0.tar.gz'],
        ['zip', 'archive-1.zip'],
      ],
    );
    const dispatch = fixture.service.requests.find(({ path }) => path.endsWith('/dispatch'));
    assert.deepEqual(JSON.stringify(dispatch?.body).match(/tar_gz|zip/g), ['tar_gz', 'zip']);
  });

  test('report progress over all folders, and all omissions exactly', async (t) => {
    const { window } = await setUpWindow(t);
    const assessment = await window.assessment();
    const [shop] = assessment.targets;
    const progress: (readonly [number, number])[] = [];
    const uploaded: (readonly [number, number])[] = [];
    const run = await window.tracker.start(
      { ...assessment, targets: [shop!, { ...shop!, name: 'tool' }] },
      {
        onPackaging: (done, total) => progress.push([done, total]),
        onUploading: (...bytes) => uploaded.push(bytes),
      },
    );
    const total = 2 * shop!.files!.selection.bytes;
    assert.deepEqual(progress.at(-1), [total, total]);
    assert.ok(progress.every(([done, of]) => done <= of && of === total));
    const bytes = run!.targets.reduce((sum, { archive }) => sum + archive!.bytes, 0);
    assert.deepEqual(uploaded.at(-1), [bytes, bytes]);
    for (const { archive } of run?.targets ?? [])
      assert.ok(archive !== undefined && archive.omitted === undefined);
  });

  test('F22 F155 list missing files: a hundred in the journal, all in the manifest, and count exclusions', async (t) => {
    const { fixture, window } = await setUpWindow(t);
    const gone = join(fixture.folder, 'gone');
    await mkdir(gone);
    for (let file = 100; file < 220; file += 1) await writeFile(join(gone, String(file)), '');
    await writeFile(join(fixture.folder, 'stays.js'), '');
    const surroundings = { home: fixture.root, env: {} };
    const options = { exclude: [], includeNestedRepositories: false, surroundings };
    const selected = await selectFiles(fixture.folder, options);
    const excluded = ['lib/', 'own.js'].map((path) => ({ path, reason: { kind: 'choice' as const } }));
    const locked = { path: 'locked', reason: { kind: 'unreadable' as const, code: 'EACCES' } };
    const selection = { ...selected, excluded: [...excluded, locked] };
    await rm(gone, { recursive: true });
    const [shop] = (await window.assessment()).targets;
    const run = await window.start({ targets: [{ ...shop!, files: { ...shop!.files!, selection } }] });
    const { omitted } = run.targets[0]!.archive!;
    const journal = await readFile(join(window.store.folderOf(run.id), 'run.json'), 'utf8');
    assert.deepEqual((JSON.parse(journal) as Run).targets[0]?.coverage, {
      uploaded: 2,
      excluded: { choice: 2 },
      excludedFolders: 1,
      notPackaged: 121,
    });
    assert.deepEqual([omitted?.length, omitted?.[0], omitted?.[99]], [100, 'gone/100', 'gone/199']);
    const manifest = await readFile(join(window.store.folderOf(run.id), 'manifest-0.json'), 'utf8');
    const { entries, omitted: all } = JSON.parse(manifest) as Record<
      'entries' | 'omitted',
      { path: string }[]
    >;
    assert.deepEqual([entries.map(({ path }) => path), all.length], [['app.js', 'stays.js'], 120]);
  });
});

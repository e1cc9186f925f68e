import assert from 'node:assert/strict';
import { chmodSync, existsSync } from 'node:fs';
import promises, { mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, test } from 'node:test';
import { foldersIn, TemporaryStore, writeProblem } from '../../../../src/core/run/disk/temporaryStore.ts';
import { asNobody, testPlace } from '../../upload/trees.ts';
import { deadPid } from '../buriedWindow.ts';
import { tempFolder } from '../tempFolder.ts';

const posix = { skip: process.platform === 'win32' && 'rights of files are POSIX' };

describe('a folder of runs', () => {
  test('F66 that can be made and written has no problem, and names what keeps it from that', async (t) => {
    const folder = await tempFolder(t);
    await writeFile(join(folder, 'file'), '');
    assert.equal(await writeProblem(join(folder, 'new/runs')), undefined);
    assert.equal(await writeProblem(join(folder, 'file')), 'EEXIST');
    assert.equal(await writeProblem(join(folder, 'file/runs')), 'ENOTDIR');
  });

  test(
    'F66 of somebody else cannot be written, and lists nothing where it cannot be read',
    posix,
    async (t) => {
      const place = testPlace(t);
      const folder = join(place.root, 'theirs');
      await mkdir(join(folder, 'run'), { recursive: true });
      chmodSync(folder, 0o700);
      const seen = await asNobody(place, async () => [
        await writeProblem(join(place.root, 'new')),
        await foldersIn(folder),
      ]);
      // Who runs the tests as nobody special owns the folder.
      assert.deepEqual(seen, process.getuid?.() === 0 ? ['EACCES', []] : [undefined, ['run']]);
    },
  );

  test('lists folders alone, none where there is no folder, and hides no other trouble', posix, async (t) => {
    const folder = await tempFolder(t);
    await mkdir(join(folder, 'run'));
    await writeFile(join(folder, 'file'), '');
    await symlink('loop', join(folder, 'loop'));
    assert.deepEqual(await foldersIn(folder), ['run']);
    assert.deepEqual(await foldersIn(join(folder, 'none')), []);
    assert.deepEqual(await foldersIn(join(folder, 'file')), []);
    await assert.rejects(foldersIn(join(folder, 'loop')), { code: 'ELOOP' });
    await assert.rejects(writeProblem(join(folder, 'loop/runs')), { code: 'ELOOP' });
  });

  test('F66 whose place another takes is copied there run by run, without what says who drives it', async (t) => {
    const root = await tempFolder(t);
    for (const name of ['lease', 'lock', 'source']) await mkdir(join(root, 'run', name), { recursive: true });
    await writeFile(join(root, 'run/run.json'), '{}');
    const temporary = await TemporaryStore.make(root, 'EROFS');
    assert.deepEqual([temporary.problem, temporary.folderOf('run')], ['EROFS', undefined]);
    await temporary.copyHere('run');
    const there = temporary.folderOf('run')!;
    t.after(() => rm(dirname(there), { recursive: true, force: true }));
    assert.deepEqual((await foldersIn(there)).toSorted(), ['source']);
    assert.equal(await readFile(join(there, 'run.json'), 'utf8'), '{}');
    await writeFile(join(there, 'run.json'), '{"changed":true}');
    await temporary.copyHere('run');
    assert.equal(await readFile(join(there, 'run.json'), 'utf8'), '{"changed":true}', 'it is there already');
    temporary.add('new');
    assert.notEqual(temporary.folderOf('new'), undefined);
  });

  test('F66 removes what windows left that are no more, and nothing else', async (t) => {
    const dead = String(await deadPid());
    const names = [
      `whitebox-runs-${String(process.pid)}-living`,
      `x-whitebox-runs-${dead}-invented`,
      'whitebox-runs-x-invented',
      `whitebox-runs-${dead}-left`,
    ];
    const folders = names.map((name) => join(tmpdir(), name));
    for (const folder of folders) await mkdir(folder);
    const temporary = await TemporaryStore.make(await tempFolder(t), 'EROFS');
    temporary.add('run');
    t.after(async () => {
      for (const folder of [...folders, dirname(temporary.folderOf('run')!)])
        await rm(folder, { recursive: true, force: true });
    });
    assert.deepEqual(folders.map(existsSync), [true, true, true, false]);
  });

  test('F66 leaves what others left in a shared temporary folder to them', posix, async (t) => {
    const place = testPlace(t);
    // Whoever acts as somebody else is told of no other by TMPDIR.
    const shared = await asNobody(place, () => Promise.resolve(tmpdir()));
    const theirs = join(shared, `whitebox-runs-${String(await deadPid())}-theirs`);
    await mkdir(join(theirs, 'run'), { recursive: true });
    chmodSync(theirs, 0o700);
    t.after(() => rm(theirs, { recursive: true, force: true }));
    const temporary = await asNobody(place, () => TemporaryStore.make(place.root, 'EROFS'));
    temporary.add('run');
    t.after(() => rm(dirname(temporary.folderOf('run')!), { recursive: true, force: true }));
    assert.equal(existsSync(theirs), process.getuid?.() === 0);
  });

  test(
    'F124 removes nothing of somebody else from a shared temporary folder, follows no link, and needs no sweep',
    posix,
    async (t) => {
      const place = testPlace(t);
      const name = `whitebox-runs-${String(await deadPid())}`;
      const [theirs, link, stuck] = ['theirs', 'link', 'stuck'].map((end) =>
        join(tmpdir(), `${name}-${end}`),
      );
      await mkdir(join(theirs!, 'run'), { recursive: true });
      await mkdir(stuck!);
      await writeFile(join(place.home, 'kept'), '');
      await symlink(place.home, link!);
      const { lstat, rm: remove } = promises;
      t.mock.method(promises, 'lstat', async (path: string) => {
        const stat = await lstat(path);
        return path === theirs ? Object.assign(stat, { uid: stat.uid + 1 }) : stat;
      });
      t.mock.method(promises, 'rm', async (path: string, options: object) => {
        if (path === stuck) throw Object.assign(new Error('busy'), { code: 'EBUSY' });
        await remove(path, options);
      });
      syncBuiltinESMExports();
      t.after(async () => {
        t.mock.restoreAll();
        syncBuiltinESMExports();
        for (const path of [theirs!, link!, stuck!]) await remove(path, { recursive: true, force: true });
      });
      const temporary = await TemporaryStore.make(place.root, 'EROFS');
      temporary.add('run');
      t.after(() => remove(dirname(temporary.folderOf('run')!), { recursive: true, force: true }));
      assert.deepEqual([theirs!, link!, stuck!, join(place.home, 'kept')].map(existsSync), [
        true,
        true,
        true,
        true,
      ]);
    },
  );
});

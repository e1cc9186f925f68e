import assert from 'node:assert/strict';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join, posix, win32 } from 'node:path';
import { describe, test } from 'node:test';
import {
  atOrBelow,
  isSamePath,
  pathInside,
  pathKey,
  realPath,
  realPathSync,
} from '../../../src/core/paths.ts';
import { tempFolder } from '../run/tempFolder.ts';
import { caselessFolder } from './caselessFolder.ts';
import { respelled } from './respelled.ts';
import { withLinks } from './systemSkips.ts';

describe('F176 one path has one key', () => {
  for (const [one, other] of [
    ['c:\\Projects\\Shop', 'C:\\projects\\shop'],
    ['\\\\Server\\Share\\shop', '\\\\server\\share\\Shop'],
    ['C:/Projects/shop', 'c:\\projects\\shop'],
  ] as const)
    test(`on Windows, ${one} is ${other}`, () => {
      assert.equal(pathKey(one, 'win32'), pathKey(other, 'win32'));
    });

  test('on Linux, letter case makes another path', () => {
    assert.notEqual(pathKey('/home/me/Shop', 'linux'), pathKey('/home/me/shop', 'linux'));
  });

  test('on macOS, the disk says whether letter case counts', async (t) => {
    const folder = await tempFolder(t);
    await mkdir(join(folder, 'Shop'));
    const isSame = pathKey(join(folder, 'Shop'), 'darwin') === pathKey(join(folder, 'SHOP'), 'darwin');
    assert.equal(isSame, process.platform !== 'linux');
  });

  test('on macOS, a disk that ignores letter case makes both spellings one', async (t) => {
    const folder = await caselessFolder(t);
    if (folder === undefined) return;
    await mkdir(join(folder, 'Shop'));
    assert.equal(pathKey(join(folder, 'Shop'), 'darwin'), pathKey(join(folder, 'sHOP'), 'darwin'));
    // A removed file is named like one that is there.
    assert.equal(
      pathKey(join(folder, 'Shop', 'a.ts'), 'darwin'),
      pathKey(join(folder, 'Shop', 'A.ts'), 'darwin'),
    );
  });

  test('on macOS, letters may be composed or not', () => {
    assert.equal(pathKey('/nowhere/が', 'darwin'), pathKey('/nowhere/が'.normalize('NFD'), 'darwin'));
  });

  test('a folder is found among others, and what lies below them', async (t) => {
    const folder = await tempFolder(t);
    const isAmong = atOrBelow([join(folder, 'Shop'), join(folder, 'b.ts')]);
    assert.equal(isAmong(respelled(join(folder, 'Shop', 'src', 'a.ts'))), true);
    assert.equal(isAmong(respelled(join(folder, 'Shop'))), true);
    assert.equal(isAmong(join(folder, 'Shopping')), false);
    assert.equal(atOrBelow([])(folder), false);
  });
});

describe('F176 a real path', () => {
  test('is without links and in the spelling of the disk', async (t) => {
    const folder = await tempFolder(t);
    await mkdir(join(folder, 'Shop'));
    await writeFile(join(folder, 'Shop', 'App.ts'), '');
    const real = join(folder, 'Shop', 'App.ts');
    assert.equal(realPathSync(respelled(real)), real);
    assert.equal(await realPath(respelled(real)), real);
  });

  test('has a capital drive letter', () => {
    const asTyped = Object.assign((path: string) => path, { native: (path: string) => path });
    assert.equal(realPathSync('c:\\projects\\shop', asTyped), 'C:\\projects\\shop');
  });

  test('of a mapped drive keeps the drive', () => {
    const mapped = Object.assign((path: string) => path, {
      native: (path: string) => path.replace(/^x:/i, '\\\\server\\share'),
    });
    assert.equal(realPathSync('x:\\shop', mapped), 'X:\\shop');
    assert.equal(realPathSync('\\\\server\\share\\shop', mapped), '\\\\server\\share\\shop');
  });

  test('follows links', withLinks, async (t) => {
    const folder = await tempFolder(t);
    await mkdir(join(folder, 'real'));
    await symlink(join(folder, 'real'), join(folder, 'link'));
    assert.equal(await realPath(join(folder, 'link')), join(folder, 'real'));
    assert.equal(isSamePath(realPathSync(join(folder, 'link')), join(folder, 'real')), true);
  });

  test('of a missing folder is the system’s error', async (t) => {
    const missing = join(await tempFolder(t), 'gone');
    await assert.rejects(realPath(missing), { code: 'ENOENT' });
    assert.throws(() => realPathSync(missing), { code: 'ENOENT' });
  });
});

describe('F176 the path inside a folder', () => {
  for (const [folder, file, way] of [
    ['C:\\projects\\shop', 'c:\\Projects\\shop\\src\\App.ts', 'src/App.ts'],
    ['c:\\projects\\shop', 'C:\\projects\\shop', ''],
    ['c:\\', 'C:\\app.ts', 'app.ts'],
    ['\\\\server\\share\\shop', '\\\\SERVER\\share\\shop\\a.ts', 'a.ts'],
    ['c:\\projects\\shop', 'c:\\projects\\shopping\\a.ts', undefined],
    ['c:\\projects\\shop', 'd:\\projects\\shop\\a.ts', undefined],
    ['c:\\projects\\shop', 'c:\\projects', undefined],
    ['c:\\projects', 'c:\\projects\\..odd\\a.ts', '..odd/a.ts'],
  ] as const)
    test(`from ${folder} to ${file} the relative path is ${way ?? 'undefined'}`, () => {
      assert.equal(pathInside(folder, file, win32), way);
    });

  test('on Linux, letter case makes another folder', { skip: process.platform === 'darwin' }, () => {
    assert.equal(pathInside('/home/me/shop', '/home/me/Shop/a.ts', posix), undefined);
    assert.equal(pathInside('/home/me/shop', '/home/me/shop/a\\b.ts', posix), 'a\\b.ts');
  });
});

import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { planMapping, visitMapped } from '../../../../src/core/findings/location/mappings.ts';
import { scratchFolder } from '../scratchFolder.ts';
import { files, findIn, locatorIn } from './locating.ts';

test('a mapping moves paths into the chosen folder, longest prefix first, and never out of the root', async (t) => {
  const root = await scratchFolder(t, [...files, 'apps/shop/main.py', 'libs/main.py', 'libs/a.py']);
  const build = { from: '/build', to: 'libs' };
  const shop = { from: '/build/shop/', to: 'apps/shop' };
  for (const [mapping, text, expected] of [
    [[build, shop], '/build/shop/main.py', 'apps/shop/main.py'],
    [[build, shop], '/build/main.py', 'libs/main.py'],
    [[{ from: '/build/shop', to: '' }], '/build/shop/app.py', 'app.py'],
    [[{ from: 'build', to: '../..' }], 'build/app.py', '(none)'],
    [[{ from: '', to: 'libs' }], 'a.py', 'libs/a.py'],
    [[{ from: './build', to: 'libs' }], 'build/main.py', 'libs/main.py'],
    [[{ from: 'gen/m.py', to: 'libs/main.py' }], 'gen/m.py', 'libs/main.py'],
    [[{ from: 'gen', to: 'libs' }], 'general/main.py', '(none)'],
  ] as const)
    assert.equal(await locatorIn(root, { files: [], mapping })(text), expected, text);
});

test('the prefix that stands for a folder is detected, with the number of files it locations', async (t) => {
  const files = ['packages/shop/lib/a.js', 'packages/shop/lib/b.js', 'packages/shop/index.js'];
  const root = await scratchFolder(t, files);
  const starts = ['/build/src/lib/a.js', 'build/src/lib/b.js', 'build\\src\\index.js'];
  const reported = [...starts, 'build/src/lib/gone.js'];
  const to = 'packages/shop';
  assert.deepEqual(await planMapping(reported, { root, to }), { prefix: 'build/src', located: 3 });
  assert.deepEqual(await planMapping(['lib/a.js'], { root, to }), { prefix: '', located: 1 });
  assert.equal(await planMapping(['lib/c.js'], { root, to }), undefined);
});

test('F71 prefixes of other machines are detected and mapped, and none of them reaches the disk', async (t) => {
  const root = await scratchFolder(t, ['app/lib/a.js', 'app/b.js']);
  await writeFile(join(dirname(root), 'secret.js'), 'outside');
  for (const [start, prefix] of [
    ['file:///home/runner/work/shop/', 'home/runner/work/shop'],
    ['file://localhost/ci/', 'ci'],
    ['file:///D:/a/shop/', 'D:/a/shop'],
    ['C:\\agent\\_work\\1\\s\\', 'C:/agent/_work/1/s'],
    ['\\\\server\\share\\shop\\', 'server/share/shop'],
    ['//server/share/', 'server/share'],
    ['file://server/share/', 'server/share'],
    ['../', '..'],
    ['../../build/x/../src/', '../../build/x/../src'],
    ['aux/a:b/', 'aux/a:b'],
  ] as const) {
    const below = ['lib/a.js', 'b.js', '../secret.js', '../../secret.js', 'none.js'];
    const reported = below.map((path) => start + path);
    const plan = await planMapping(reported, { root, to: 'app' });
    assert.deepEqual(plan, { prefix, located: 2 }, start);
    const visited: string[] = [];
    const folder = {
      spellings: () => Promise.resolve([root]),
      visit: (path: string) => (visited.push(path), Promise.resolve(undefined)),
    };
    for (const path of reported) await visitMapped(path, [{ from: prefix, to: 'app' }], folder);
    assert.deepEqual(visited, ['app/lib/a.js', 'app/b.js', 'app/none.js']);
    const locate = locatorIn(root, { mapping: [{ from: prefix, to: 'app' }] });
    const found = (await Promise.all(reported.map(locate))).join(' ');
    assert.equal(found, 'app/lib/a.js app/b.js (none) (none) (none)');
  }
});

test('F71 no mapping leads out of the folder', async (t) => {
  const root = await scratchFolder(t, ['inside/a.js', 'secret.js']);
  const above = ['build/../../secret.js', '../secret.js', 'x/secret.js'];
  const reported = [...above, `${dirname(root)}/shop/secret.js`];
  assert.equal(await planMapping(reported, { root: `${root}/inside`, to: '..' }), undefined);
});

test('F73 a mapping places a file that several folders have', async (t) => {
  const folders = await Promise.all(['app', 'web'].map(() => scratchFolder(t, ['src/index.ts'])));
  const targets = folders.map((folder, at) => ({ folder, name: String(at) }));
  for (const uploaded of [folders.map(() => ['src/index.ts']), undefined])
    for (const [mapped, expected] of [
      [folders.slice(2), uploaded ? '(ambiguous)' : '(none)'],
      [folders.slice(1), '1 src/index.ts'],
      [folders, uploaded ? '(ambiguous)' : '(none)'],
    ] as const) {
      const mappingsOf = (folder: string) => (mapped.includes(folder) ? [{ from: 'build', to: '' }] : []);
      assert.equal(await findIn(targets, uploaded, { mappingsOf })('build/src/index.ts'), expected);
    }
});

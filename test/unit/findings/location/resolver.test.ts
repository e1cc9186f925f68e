import assert from 'node:assert/strict';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { findUploaded } from '../../../../src/core/findings/location/resolver.ts';
import { cpuMs } from '../../core/cpuTime.ts';
import { scratchFolder } from '../scratchFolder.ts';
import { asUploaded, files, findIn, locatorIn } from './locating.ts';

test('F110 F173 paths are found the same way where it is known what was uploaded, and where it is not', async (t) => {
  const here = [...files, 'package.json', 'Dockerfile', 'main.go', 'services/web/main.go', 'lib/a.ts'];
  const root = await scratchFolder(t, here);
  const cases: Record<string, string> = {
    'src/orders.py': 'src/orders.py',
    './src/orders.py': 'src/orders.py',
    '/src/orders.py': 'src/orders.py',
    'src\\orders.py': 'src/orders.py',
    '.\\src\\.\\orders.py': 'src/orders.py',
    'src//orders.py': 'src/orders.py',
    ' src/orders.py\n': 'src/orders.py',
    'src/../src/orders.py': 'src/orders.py',
    'shop/src/orders.py': 'src/orders.py',
    'upload/src/orders.py': 'src/orders.py',
    '0/src/orders.py': 'src/orders.py',
    'targets/0/shop/src/orders.py': 'src/orders.py',
    '/workspace/run-12/shop/src/orders.py': 'src/orders.py',
    '/workspace/app.py': '(none)',
    [`${root}/src/orders.py`]: 'src/orders.py',
    [decodeURI(pathToFileURL(join(root, 'src/注文.py')).href)]: 'src/注文.py',
    'file:///sandbox/src/orders.py': 'src/orders.py',
    'file:src/orders.py': 'src/orders.py',
    'web/my page.ts': 'web/my page.ts',
    'web/my%20page.ts': '(none)',
    'web/100%25.ts': 'web/100%25.ts',
    'src/注文.py': 'src/注文.py',
    '': '(none)',
    '/': '(none)',
    '../place': '(none)',
    src: '(none)',
    'src/missing.py': '(none)',
    '/etc/missing.py': '(none)',
    // This path is of another machine.
    'file:///home/runner/work/x/x/services/web/main.go': 'services/web/main.go',
    '/home/runner/work/x/x/services/web/main.go': 'services/web/main.go',
    'C:\\agent\\work\\1\\services\\web\\main.go': 'services/web/main.go',
    'file:///D:/a/x/lib/a.ts': 'lib/a.ts',
    // This path is below the base of a SARIF log.
    'file:///builds/group/x/./main.go': 'main.go',
    'file:///D:/a/x/./lib/a.ts': 'lib/a.ts',
    'file:///builds/services/./web/main.go': 'services/web/main.go',
    '/builds/x/./missing.go': '(none)',
    'lib/./main.go': '(none)',
    // A file at the top has no end of two segments.
    '/builds/group/x/main.go': '(none)',
    '/builds/group/shop/main.go': '(none)',
    'lib/shop/main.go': '(none)',
    'node_modules/lodash/package.json': '(none)',
    'services/api/Dockerfile': '(none)',
    '/usr/lib/flask/app.py': '(none)',
  };
  for (const uploaded of [here, undefined])
    for (const reported of [Object.keys(cases), undefined]) {
      const locate = locatorIn(root, { files: uploaded, reported });
      for (const [text, expected] of Object.entries(cases))
        assert.equal(await locate(text), expected, `${text} ${String(uploaded === undefined)}`);
    }
});

test('F110 a path suffix resolves if it matches exactly one uploaded file, and a bare name never does', async (t) => {
  const root = await scratchFolder(t, [...files, 'src/index.ts', 'web/src/index.ts']);
  const uploaded = [...files, 'web/src/index.ts'];
  for (const [text, expected] of [
    ['deep/only.py', 'pkg/src/deep/only.py'],
    ['elsewhere/deep/only.py', 'pkg/src/deep/only.py'],
    ['pkg/lib/deep/only.py', '(none)'],
    ['/w/r/pkg/lib/deep/only.py', '(none)'],
    ['src/index.ts', 'web/src/index.ts'],
  ] as const)
    assert.equal(await locatorIn(root, { files: uploaded })(text), expected, text);
  const mixed = locatorIn(root, { files: [...uploaded, 'app/src/index.ts'], reported: ['src/index.ts'] });
  assert.equal(await mixed('src/index.ts'), '(ambiguous)');
  assert.equal(await mixed('pkg/x/pkg/src/deep/only.py'), 'pkg/src/deep/only.py');
});

test('F110 two names that differ only in Unicode normalisation are distinct', async (t) => {
  const composed = ['src/\u304c.ts', 'src/\u304b\u3099.ts'];
  const locate = locatorIn(await scratchFolder(t, composed), { files: composed });
  for (const path of composed) assert.equal(await locate(path), path);
});

test('F110 the segments that all paths of a run share are removed, if each then is a uploaded file', async (t) => {
  const uploaded = ['app.py', 'src/a.ts', 'src/b.ts', 'pkg/src/a.ts', 'v/src/a.ts', 'v/src/b.ts'];
  const root = await scratchFolder(t, uploaded);
  for (const [reported, expected] of Object.entries({
    '/w/r-1/app.py /w/r-1/src/a.ts': 'app.py src/a.ts',
    '/w/src/a.ts /w/src/b.ts /w/pkg/src/a.ts': 'src/a.ts src/b.ts pkg/src/a.ts',
    '/w/v/src/a.ts /w/v/src/b.ts': 'v/src/a.ts v/src/b.ts',
    // One path of a mount is also that of another file.
    '/v/src/a.ts /v/app.py /v/pkg/src/a.ts': 'src/a.ts app.py pkg/src/a.ts',
    'v/src/a.ts v/src/b.ts': 'v/src/a.ts v/src/b.ts',
    '/w/app.py /w/src/a.ts /w/none.py': '(none) (ambiguous) (none)',
    '/w/app.py': '(none)',
  })) {
    const paths = reported.split(' ');
    const locate = locatorIn(root, { files: uploaded, reported: paths });
    assert.equal((await Promise.all(paths.map(locate))).join(' '), expected);
  }
});

test('F110 a file that was not uploaded has no findings, and a missing one is not replaced by a namesake', async (t) => {
  const root = await scratchFolder(t, [...files, 'new.py', 'lib/new.py']);
  const locate = locatorIn(root, { files });
  for (const text of ['new.py', 'lib/new.py', 'shop/new.py', '/w/lib/new.py'])
    assert.equal(await locate(text), '(none)', text);
  await rm(join(root, 'src/orders.py'));
  assert.equal(await locate('src/orders.py'), '(none)');
});

test(
  'F110 uploaded names that are invalid on other systems are found in every spelling',
  { skip: process.platform === 'win32' && 'it has no such names' },
  async (t) => {
    const odd = ['src/aux.c', 'a:b.ts', 'src/a\nb.ts', 'src/back\\slash.ts', 'con/nul', 'src/... /x.ts'];
    const root = await scratchFolder(t, odd);
    for (const name of odd) {
      const reported = [name, `./${name}`, ...(name.includes('/') ? [`/w/${name}`] : [])];
      for (const text of reported)
        assert.equal(await locatorIn(root, { files: odd })(text), name, JSON.stringify(text));
    }
    for (const name of ['src/aux.c', 'a:b.ts', 'con/nul'])
      assert.equal(await locatorIn(root)(name), '(none)', 'nobody knows that it was sent');
  },
);

test('F110 entries in the list of uploaded files that leave the folder are ignored', async (t) => {
  const root = await scratchFolder(t, ['main.py']);
  const uploaded = ['../secret.txt', '/etc/passwd', 'a/../../secret.txt', './main.py', ''];
  await writeFile(join(root, '..', 'secret.txt'), 'outside');
  const { uploadedFile } = findUploaded([{ folder: root, name: 'shop' }], [asUploaded(uploaded)], []);
  for (const path of [...uploaded, 'etc/passwd', 'secret.txt', 'a/../secret.txt'])
    assert.equal(uploadedFile({ path }), undefined, path);
});

test('a folder named like the root takes precedence over the root, also when its file is gone', async (t) => {
  const uploaded = ['main.py', 'shop/main.py'];
  for (const [here, expected] of [
    [uploaded, 'shop/main.py'],
    [['main.py'], '(none)'],
  ] as const) {
    const locate = locatorIn(await scratchFolder(t, here), { files: uploaded });
    for (const text of ['shop/main.py', 'shop/shop/main.py'])
      assert.equal(await locate(text), expected, text);
  }
});

test('F122 10,000 paths of 20,000 files, and paths of thousands of segments, take no more than linear time', () => {
  const pathOf = (at: number): string => `packages/パッケージ${String(at)}/src/index.ts`;
  const deepOf = (at: number): string => `${'a/'.repeat(2_000)}${String(at)}/x.ts`;
  const [many, deep] = [
    Array.from({ length: 20_000 }, (_, at) => pathOf(at).normalize('NFD')),
    Array.from({ length: 500 }, (_, at) => deepOf(at)),
  ];
  const found = many.slice(0, 10_000);
  for (const [uploaded, reported, expected] of [
    [many, found.map((_, at) => `/sandbox/${pathOf(at)}`), found],
    [many, found.map((_, at) => `/sandbox/run-${String(at)}/${pathOf(at)}`), found],
    [deep, deep.map((path) => `b/${path}`), deep.map(() => undefined)],
  ] as const) {
    const locations = reported.map((path) => ({ path }));
    const targets = [{ folder: '/no/such/folder', name: 'shop' }];
    const { uploadedFile } = findUploaded(targets, [asUploaded(uploaded)], locations);
    const before = cpuMs();
    const files = locations.map(uploadedFile);
    const ms = cpuMs() - before;
    const found = files.map((each) => (typeof each === 'object' ? each.path : undefined));
    assert.deepEqual(found, expected);
    // This is processor time, independent of other load.
    assert.ok(ms < 5_000, `${String(ms)} ms`);
  }
});

test('F73 a path that one folder has as it is, and another at the end of a longer one, belongs to the first', async (t) => {
  const folders = await Promise.all([['src/a.ts'], ['lib/src/a.ts']].map((paths) => scratchFolder(t, paths)));
  const targets = folders.map((folder, at) => ({ folder, name: String(at) }));
  assert.equal(await findIn(targets, [['src/a.ts'], ['lib/src/a.ts']])('src/a.ts'), '0 src/a.ts');
});

test('a path with the number of its archive is resolved alike with and without the list of uploaded files', () => {
  const targets = [{ folder: '/shop', name: 'shop' }];
  const pathOf = (path: string, uploaded: readonly string[] | undefined): string => {
    const location = { path, targetIndex: 0 };
    return findUploaded(targets, [uploaded && asUploaded(uploaded)], [location]).uploadPathOf(location).path;
  };
  for (const [reported, known, unknown] of [
    ['./0/src/a.ts', 'src/a.ts', 'src/a.ts'],
    ['0/src/b.ts', '0/src/b.ts', 'src/b.ts'],
    ['1/src/b.ts', '1/src/b.ts', '1/src/b.ts'],
    ['0', '0', '0'],
  ] as const)
    assert.deepEqual([pathOf(reported, ['src/a.ts']), pathOf(reported, undefined)], [known, unknown]);
});

test('F122 a path of more than 64 segments is only found as it is', () => {
  const deep = (segments: number): string => `${'a/'.repeat(segments - 1)}x.ts`;
  for (const [uploaded, path, isFound] of [
    [deep(63), `w/${deep(63)}`, true],
    [deep(63), `v/w/${deep(63)}`, false],
    [deep(64), deep(63), true],
    [deep(65), deep(64), false],
    [deep(65), deep(65), true],
  ] as const) {
    const { uploadedFile } = findUploaded(
      [{ folder: '/shop', name: 'shop' }],
      [asUploaded([uploaded])],
      [{ path }],
    );
    assert.equal(typeof uploadedFile({ path }) === 'object', isFound, path);
  }
});

test('F122 a path of more than 64 segments is not searched for by its end on the disk', async (t) => {
  const locate = locatorIn(await scratchFolder(t, ['src/x.ts']));
  assert.equal(await locate(`${'a/'.repeat(62)}src/x.ts`), 'src/x.ts');
  assert.equal(await locate(`${'a/'.repeat(63)}src/x.ts`), '(none)');
});

test('F73 a path in two roots belongs to the root of its archive, or else to the one of its first segment', async (t) => {
  const [shop, admin] = await Promise.all([
    scratchFolder(t, ['src/main.py', 'shop.py']),
    scratchFolder(t, ['src/main.py']),
  ]);
  const targets = Object.entries({ shop, admin }).map(([name, folder]) => ({ name, folder }));
  for (const uploaded of [[['src/main.py', 'shop.py'], ['src/main.py']], undefined]) {
    const find = findIn(targets, uploaded);
    assert.equal(await find('src/main.py', 1), '1 src/main.py');
    assert.equal(await find('shop.py', 1), '(none)');
    assert.equal(await find('src/main.py'), uploaded ? '(ambiguous)' : '(none)');
    assert.equal(await find('shop.py'), '0 shop.py');
    for (const start of ['admin', '1', './admin', '/1', 'admin/x'])
      assert.equal(await find(`${start}/src/main.py`), '1 src/main.py', start);
    // There may be more archives than are known.
    const one = findIn(targets.slice(0, 1), uploaded);
    assert.equal(await one('shop.py', 3), uploaded ? '0 shop.py' : '(none)');
  }
});

import assert from 'node:assert/strict';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { createResolver } from '../../../../src/core/findings/place/resolver.ts';
import { cpuMs } from '../../core/cpuTime.ts';
import { scratchFolder } from '../scratchFolder.ts';
import { asSent, files, locatorIn } from './locating.ts';

test('F110 F173 paths are found the same way where it is known what was sent, and where it is not', async (t) => {
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
    '/workspace/app.py': '(notFound)',
    [`${root}/src/orders.py`]: 'src/orders.py',
    [decodeURI(pathToFileURL(join(root, 'src/注文.py')).href)]: 'src/注文.py',
    'file:///sandbox/src/orders.py': 'src/orders.py',
    'file:src/orders.py': 'src/orders.py',
    'web/my page.ts': 'web/my page.ts',
    'web/my%20page.ts': '(notFound)',
    'web/100%25.ts': 'web/100%25.ts',
    'src/注文.py': 'src/注文.py',
    '': '(refused)',
    '/': '(refused)',
    './.': '(refused)',
    src: '(notFound)',
    'src/missing.py': '(notFound)',
    '/etc/missing.py': '(notFound)',
    // Of another machine.
    'file:///home/runner/work/x/x/services/web/main.go': 'services/web/main.go',
    '/home/runner/work/x/x/services/web/main.go': 'services/web/main.go',
    'C:\\agent\\work\\1\\services\\web\\main.go': 'services/web/main.go',
    'file:///D:/a/x/lib/a.ts': 'lib/a.ts',
    // A file at the top has no end of two segments.
    '/builds/group/x/main.go': '(notFound)',
    '/builds/group/shop/main.go': '(notFound)',
    'lib/shop/main.go': '(notFound)',
    'node_modules/lodash/package.json': '(notFound)',
    'services/api/Dockerfile': '(notFound)',
    '/usr/lib/flask/app.py': '(notFound)',
  };
  for (const sent of [here, undefined])
    for (const reported of [Object.keys(cases), undefined]) {
      const locate = locatorIn(root, { files: sent, reported });
      for (const [text, expected] of Object.entries(cases))
        assert.equal(await locate(text), expected, `${text} ${String(sent === undefined)}`);
    }
});

test('F110 a path suffix resolves if it matches exactly one sent file, and a bare name never does', async (t) => {
  const root = await scratchFolder(t, [...files, 'src/index.ts', 'web/src/index.ts']);
  const sent = [...files, 'web/src/index.ts'];
  for (const [text, expected] of [
    ['deep/only.py', 'pkg/src/deep/only.py'],
    ['elsewhere/deep/only.py', 'pkg/src/deep/only.py'],
    ['pkg/lib/deep/only.py', '(notFound)'],
    ['/w/r/pkg/lib/deep/only.py', '(notFound)'],
    ['src/index.ts', 'web/src/index.ts'],
    ['orders.py', '(notFound)'],
    ['node_modules/lib/orders.py', '(notFound)'],
    ['node_modules/lodash/app.py', '(notFound)'],
    ['/usr/lib/python3/flask/app.py', '(notFound)'],
  ] as const)
    assert.equal(await locatorIn(root, { files: sent })(text), expected, text);
  const mixed = locatorIn(root, { files: [...sent, 'app/src/index.ts'], reported: ['src/index.ts'] });
  assert.equal(await mixed('src/index.ts'), '(ambiguous)');
  assert.equal(await mixed('pkg/x/pkg/src/deep/only.py'), 'pkg/src/deep/only.py');
});

test('F110 two names that differ only in Unicode normalisation are distinct', async (t) => {
  const composed = ['src/\u304c.ts', 'src/\u304b\u3099.ts'];
  const locate = locatorIn(await scratchFolder(t, composed), { files: composed });
  for (const path of composed) assert.equal(await locate(path), path);
});

test('F110 the segments that all paths of a run share are removed, if each then is a sent file', async (t) => {
  const sent = ['app.py', 'src/a.ts', 'src/b.ts', 'pkg/src/a.ts', 'v/src/a.ts', 'v/src/b.ts'];
  const root = await scratchFolder(t, sent);
  for (const [reported, expected] of [
    [
      ['/w/r-1/app.py', '/w/r-1/src/a.ts'],
      ['app.py', 'src/a.ts'],
    ],
    [
      ['/w/src/a.ts', '/w/src/b.ts', '/w/pkg/src/a.ts'],
      ['src/a.ts', 'src/b.ts', 'pkg/src/a.ts'],
    ],
    [
      ['/w/v/src/a.ts', '/w/v/src/b.ts'],
      ['v/src/a.ts', 'v/src/b.ts'],
    ],
    [
      ['/w/app.py', '/w/src/a.ts', '/w/none.py'],
      ['(notFound)', '(ambiguous)', '(notFound)'],
    ],
    [['/w/app.py'], ['(notFound)']],
  ] as const) {
    const locate = locatorIn(root, { files: sent, reported });
    assert.deepEqual(await Promise.all(reported.map(locate)), expected);
  }
});

test('F110 a file that was not sent has no findings, and a missing one is not replaced by a namesake', async (t) => {
  const root = await scratchFolder(t, [...files, 'new.py', 'lib/new.py']);
  const locate = locatorIn(root, { files });
  for (const text of ['new.py', 'lib/new.py', 'shop/new.py', '/w/lib/new.py'])
    assert.equal(await locate(text), '(notFound)', text);
  await rm(join(root, 'src/orders.py'));
  assert.equal(await locate('src/orders.py'), '(notFound)');
});

test(
  'F110 sent names that are invalid on other systems are found in every spelling',
  { skip: process.platform === 'win32' && 'it has no such names' },
  async (t) => {
    const odd = [
      'src/aux.c',
      'a:b.ts',
      'src/two\nlines.ts',
      'src/back\\slash.ts',
      'con/nul',
      'src/... /x.ts',
    ];
    const root = await scratchFolder(t, odd);
    for (const name of odd) {
      const reported = [name, `./${name}`, ...(name.includes('/') ? [`/w/${name}`] : [])];
      for (const text of reported)
        assert.equal(await locatorIn(root, { files: odd })(text), name, JSON.stringify(text));
    }
    for (const name of ['src/aux.c', 'a:b.ts', 'con/nul'])
      assert.equal(await locatorIn(root)(name), '(refused)', 'nobody knows that it was sent');
  },
);

test('F110 entries in the list of sent files that leave the folder are ignored', async (t) => {
  const root = await scratchFolder(t, ['main.py']);
  const sent = ['../secret.txt', '/etc/passwd', 'a/../../secret.txt', './main.py', ''];
  await writeFile(join(root, '..', 'secret.txt'), 'outside');
  const targets = [{ folder: root, name: 'shop' }];
  const resolver = createResolver({ targets, sent: [asSent(sent)], places: [] });
  for (const text of [...sent, 'etc/passwd', 'secret.txt', 'a/../secret.txt']) {
    assert.match(await locatorIn(root, { files: sent })(text), /^\(/, text);
    assert.equal(typeof (await resolver.sentFile({ path: text })), 'string', text);
  }
});

test('a folder named like the root takes precedence over the root, also when its file is gone', async (t) => {
  const sent = ['main.py', 'shop/main.py'];
  for (const [here, expected] of [
    [sent, 'shop/main.py'],
    [['main.py'], '(notFound)'],
  ] as const) {
    const locate = locatorIn(await scratchFolder(t, here), { files: sent });
    for (const text of ['shop/main.py', 'shop/shop/main.py'])
      assert.equal(await locate(text), expected, text);
  }
});

test('F122 10,000 paths of 20,000 files, and paths of thousands of segments, take no more than linear time', async () => {
  const pathOf = (at: number): string => `packages/パッケージ${String(at)}/src/index.ts`;
  const deepOf = (at: number): string => `${'a/'.repeat(2_000)}${String(at)}/x.ts`;
  const [many, deep] = [
    Array.from({ length: 20_000 }, (_, at) => pathOf(at).normalize('NFD')),
    Array.from({ length: 500 }, (_, at) => deepOf(at)),
  ];
  const found = many.slice(0, 10_000);
  for (const [sent, reported, expected] of [
    [many, found.map((_, at) => `/sandbox/${pathOf(at)}`), found],
    [many, found.map((_, at) => `/sandbox/run-${String(at)}/${pathOf(at)}`), found],
    [deep, deep.map((path) => `b/${path}`), deep.map(() => undefined)],
  ] as const) {
    const places = reported.map((path) => ({ path }));
    const targets = [{ folder: '/no/such/folder', name: 'shop' }];
    const resolver = createResolver({ targets, sent: [asSent(sent)], places });
    const before = cpuMs();
    const files = await Promise.all(places.map((place) => resolver.sentFile(place)));
    const ms = cpuMs() - before;
    assert.deepEqual(
      files.map((each) => (typeof each === 'object' ? each.path : undefined)),
      expected,
    );
    // Processor time, independent of other load.
    assert.ok(ms < 5_000, `${String(ms)} ms`);
  }
});

test('a path of more than 64 segments is only found as it is', async (t) => {
  const deep = (segments: number): string => `${'a/'.repeat(segments - 1)}x.ts`;
  for (const [sent, text, expected] of [
    [deep(63), `w/${deep(63)}`, deep(63)],
    [deep(63), `v/w/${deep(63)}`, '(notFound)'],
    [deep(64), deep(63), deep(64)],
    [deep(65), deep(64), '(notFound)'],
    [deep(65), deep(65), deep(65)],
  ] as const) {
    const root = await scratchFolder(t, [sent]);
    assert.equal(await locatorIn(root, { files: [sent] })(text), expected, text);
  }
});

test('F73 a path in two roots belongs to the root of its archive, or else to the one of its first segment', async (t) => {
  const [shop, admin] = await Promise.all([
    scratchFolder(t, ['src/main.py', 'shop.py']),
    scratchFolder(t, ['src/main.py']),
  ]);
  const targets = [
    { folder: shop, name: 'shop' },
    { folder: admin, name: 'admin' },
  ];
  const lists = [['src/main.py', 'shop.py'], ['src/main.py']];
  for (const sent of [lists.map(asSent), [undefined, undefined]]) {
    const resolver = createResolver({ targets, sent, places: [] });
    const locate = async (path: string, targetIndex?: number): Promise<string> => {
      const found = await resolver.locate({ path, targetIndex });
      return typeof found === 'string' ? found : `${String(found.target)} ${found.file}`;
    };
    const inAdmin = `1 ${join(admin, 'src/main.py')}`;
    assert.equal(await locate('src/main.py', 1), inAdmin);
    assert.equal(await locate('shop.py', 1), 'notFound');
    assert.equal(await locate('src/main.py'), 'ambiguous');
    assert.equal(await locate('shop.py'), `0 ${join(shop, 'shop.py')}`);
    for (const start of ['admin', '1', './admin', '/1'])
      assert.equal(await locate(`${start}/src/main.py`), inAdmin, start);
  }
});

import assert from 'node:assert/strict';
import { rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { createResolver } from '../../../../src/core/findings/place/resolver.ts';
import { cpuMs } from '../../core/cpuTime.ts';
import { scratchFolder } from '../scratchFolder.ts';
import { answer, asSent, files, locatorIn } from './locating.ts';
import { withLinks } from '../../core/systemSkips.ts';

test('paths are found directly, or with any prefix or separator', async (t) => {
  const root = await scratchFolder(t, files);
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
    '': '(empty)',
    '/': '(empty)',
    './.': '(empty)',
    src: '(notFound)',
    'src/missing.py': '(notFound)',
    '/etc/missing.py': '(notFound)',
  };
  for (const sent of [files, undefined]) {
    const locatePath = locatorIn(root, { files: sent });
    for (const [text, expected] of Object.entries(cases))
      assert.equal(await answer(locatePath, text), expected, `${text} ${String(sent === undefined)}`);
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
    assert.equal(await answer(locatorIn(root, { files: sent }), text), expected, text);
  const mixed = locatorIn(root, { files: [...sent, 'app/src/index.ts'], reported: ['src/index.ts'] });
  assert.equal(await answer(mixed, 'src/index.ts'), '(ambiguous)');
  assert.equal(await answer(mixed, 'pkg/x/pkg/src/deep/only.py'), 'pkg/src/deep/only.py');
});

test('F173 an absolute path of another machine is found by its end, also where it is not known what was sent', async (t) => {
  const here = ['main.go', 'services/web/main.go', 'src/a.ts'];
  const root = await scratchFolder(t, here);
  for (const sent of [here, undefined])
    for (const [text, expected] of [
      ['file:///home/runner/work/x/x/services/web/main.go', 'services/web/main.go'],
      ['/home/runner/work/x/x/services/web/main.go', 'services/web/main.go'],
      ['C:\\agent\\work\\1\\services\\web\\main.go', 'services/web/main.go'],
      ['file:///D:/a/x/src/a.ts', 'src/a.ts'],
      ['/builds/group/x/main.go', '(notFound)'],
      ['/builds/group/shop/main.go', '(notFound)'],
      ['lib/shop/main.go', '(notFound)'],
    ] as const)
      assert.equal(await answer(locatorIn(root, { files: sent }), text), expected, `${text} ${String(sent)}`);
});

test('F110 two names that differ only in Unicode normalisation are distinct', async (t) => {
  const composed = ['src/\u304c.ts', 'src/\u304b\u3099.ts'];
  const locate = locatorIn(await scratchFolder(t, composed), { files: composed });
  for (const path of composed) assert.equal(await answer(locate, path), path);
});

test('F110 a top-level file does not match the end of a longer path, with or without a file list', async (t) => {
  const here = ['package.json', 'Dockerfile', 'app.py', 'src/index.ts'];
  const root = await scratchFolder(t, here);
  const reported = [
    'src/index.ts',
    'node_modules/lodash/package.json',
    'services/api/Dockerfile',
    '/usr/lib/flask/app.py',
  ];
  for (const sent of [here, undefined]) {
    const locate = locatorIn(root, { files: sent, reported });
    const found = await Promise.all(reported.map((text) => answer(locate, text)));
    assert.deepEqual(found, ['src/index.ts', '(notFound)', '(notFound)', '(notFound)']);
  }
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
    assert.deepEqual(await Promise.all(reported.map((text) => answer(locate, text))), expected);
  }
});

test('F110 a file that was not sent has no findings, and a missing one is not replaced by a namesake', async (t) => {
  const root = await scratchFolder(t, [...files, 'new.py', 'lib/new.py']);
  const locate = locatorIn(root, { files });
  for (const text of ['new.py', 'lib/new.py', 'shop/new.py', '/w/lib/new.py'])
    assert.equal(await answer(locate, text), '(notFound)', text);
  await rm(join(root, 'src/orders.py'));
  assert.equal(await answer(locate, 'src/orders.py'), '(notFound)');
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
      for (const text of reported) {
        const located = await locatorIn(root, { files: odd })(text);
        assert.deepEqual(
          located,
          { kind: 'file', path: name, absolute: join(root, name) },
          JSON.stringify(text),
        );
      }
    }
    for (const name of ['src/aux.c', 'a:b.ts', 'con/nul'])
      assert.equal(await answer(locatorIn(root), name), '(refused)', 'nobody knows that it was sent');
  },
);

test('F110 entries in the list of sent files that leave the folder are ignored', async (t) => {
  const root = await scratchFolder(t, ['main.py']);
  const sent = ['../secret.txt', '/etc/passwd', 'a/../../secret.txt', './main.py', ''];
  await writeFile(join(root, '..', 'secret.txt'), 'outside');
  for (const text of [...sent, 'secret.txt', 'a/../secret.txt'])
    assert.equal((await locatorIn(root, { files: sent })(text)).kind, 'none', text);
});

test('an inner folder named like the root takes precedence over the root', async (t) => {
  const sent = ['main.py', 'shop/main.py'];
  const root = await scratchFolder(t, sent);
  const locate = locatorIn(root, { files: sent });
  assert.equal(await answer(locate, 'shop/main.py'), 'shop/main.py');
  assert.equal(await answer(locate, 'shop/shop/main.py'), 'shop/main.py');
});

test('a sent file that is gone is not replaced by the one its path means without the folder name', async (t) => {
  const root = await scratchFolder(t, ['main.py']);
  const locate = locatorIn(root, { files: ['main.py', 'shop/main.py'] });
  assert.equal(await answer(locate, 'shop/main.py'), '(notFound)');
});

test('F72 a link to the parent folder is refused', withLinks, async (t) => {
  const root = await scratchFolder(t, ['main.py']);
  await symlink('..', join(root, 'up'));
  assert.equal(await answer(locatorIn(root), 'up'), '(link)');
});

test('10,000 paths of 20,000 files are resolved by prefix or suffix in less than quadratic time', async (t) => {
  const root = await scratchFolder(t, []);
  const pathOf = (at: number): string => `packages/パッケージ${String(at)}/src/index.ts`;
  const sent = Array.from({ length: 20_000 }, (_, at) => pathOf(at).normalize('NFD'));
  const links = {
    realpath: (path: string) => Promise.resolve(path),
    stat: () => Promise.resolve({ isFile: () => true }),
  };
  for (const start of [() => '/sandbox/', (at: number) => `/sandbox/run-${String(at)}/`]) {
    const reported = sent.slice(0, 10_000).map((_, at) => `${start(at)}${pathOf(at)}`);
    const locate = locatorIn(root, { files: sent, reported, links });
    const before = cpuMs();
    const located = await Promise.all(reported.map(locate));
    const ms = cpuMs() - before;
    assert.deepEqual(
      located.map((each) => each.kind === 'file' && each.path),
      sent.slice(0, 10_000),
    );
    // Processor time, independent of other load.
    assert.ok(ms < 5_000, `${String(ms)} ms`);
  }
});

test('F122 paths of thousands of segments, reported or sent, cost no more than others', async (t) => {
  const root = await scratchFolder(t, []);
  const deep = (at: number): string => `${'a/'.repeat(2_000)}${String(at)}/x.ts`;
  const sent = Array.from({ length: 500 }, (_, at) => deep(at));
  const reported = sent.map((path) => `b/${path}`);
  const locate = locatorIn(root, { files: sent, reported });
  const before = cpuMs();
  for (const text of reported) assert.equal((await locate(text)).kind, 'none');
  const ms = cpuMs() - before;
  assert.ok(ms < 5_000, `${String(ms)} ms`);
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
    assert.equal(await answer(locatorIn(root, { files: [sent] }), text), expected, text);
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
    const main = (target: number) => ({
      ...{ kind: 'file', target, path: 'src/main.py' },
      absolute: join(targets[target]?.folder ?? '', 'src/main.py'),
    });
    assert.deepEqual(await resolver.locate({ path: 'src/main.py', targetIndex: 1 }), main(1));
    assert.equal((await resolver.locate({ path: 'shop.py', targetIndex: 1 })).kind, 'none');
    assert.deepEqual(await resolver.locate({ path: 'src/main.py' }), { kind: 'none', reason: 'ambiguous' });
    const only = await resolver.locate({ path: 'shop.py' });
    assert.equal(only.kind === 'file' && only.target, 0);
    for (const start of ['admin', '1', './admin', '/1'])
      assert.deepEqual(await resolver.locate({ path: `${start}/src/main.py` }), main(1), start);
  }
});

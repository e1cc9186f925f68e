import assert from 'node:assert/strict';
import { mkdir, rm, symlink } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { createLocator } from '../../../../src/core/findings/place/locate.ts';
import { locateAmong } from '../../../../src/core/findings/place/locateAmong.ts';
import { scratchFolder } from '../scratchFolder.ts';
import { answer, files } from './locating.ts';

test('paths are found as they are, with any start, prefix or separator', async (t) => {
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
    '/workspace/app.py': 'app.py',
    [`${root}/src/orders.py`]: 'src/orders.py',
    [pathToFileURL(join(root, 'src/注文.py')).href]: 'src/注文.py',
    'file:///sandbox/src/orders.py': 'src/orders.py',
    'file:src/orders.py': 'src/orders.py',
    'web/my page.ts': 'web/my page.ts',
    'web/my%20page.ts': 'web/my page.ts',
    'web/100%25.ts': 'web/100%25.ts',
    'src/注文.py': 'src/注文.py',
    '': '(empty)',
    '  ': '(empty)',
    '/': '(empty)',
    './.': '(empty)',
    src: '(notFound)',
    'src/missing.py': '(notFound)',
    '/etc/missing.py': '(outside)',
    'web/broken%ZZ%20page.ts': '(notFound)',
  };
  for (const sent of [files, undefined]) {
    const locatePath = createLocator({ root, files: sent });
    for (const [text, expected] of Object.entries(cases))
      assert.equal(await answer(locatePath, text), expected, `${text} ${String(sent === undefined)}`);
  }
});

test('a file is answered with its place on this machine', async (t) => {
  const root = await scratchFolder(t, files);
  assert.deepEqual(await createLocator({ root, files })('/sandbox/src/orders.py'), {
    kind: 'file',
    path: 'src/orders.py',
    absolute: join(root, 'src', 'orders.py'),
  });
});

test('the end of a path is enough when only one of the files that were sent ends so', async (t) => {
  const root = await scratchFolder(t, files);
  const locatePath = createLocator({ root, files });
  assert.equal(await answer(locatePath, 'orders.py'), 'src/orders.py');
  assert.equal(await answer(locatePath, 'deep/only.py'), 'pkg/src/deep/only.py');
  assert.equal(await answer(locatePath, '/sandbox/deep/only.py'), 'pkg/src/deep/only.py');
  assert.deepEqual(await locatePath('views.py'), {
    kind: 'none',
    reason: 'ambiguous',
  });
});

test('a bare name left over from a longer path is no evidence', async (t) => {
  const root = await scratchFolder(t, files);
  assert.equal(await answer(createLocator({ root, files }), 'node_modules/lib/orders.py'), '(notFound)');
});

test('more matching segments win over fewer', async (t) => {
  const sent = ['index.ts', 'one/b/index.ts', 'two/c/index.ts', 'three/c/index.ts'];
  const root = await scratchFolder(t, sent);
  const locatePath = createLocator({ root, files: sent });
  assert.equal(await answer(locatePath, 'x/b/index.ts'), 'one/b/index.ts');
  assert.equal(await answer(locatePath, 'x/c/index.ts'), '(ambiguous)');
  assert.equal(await answer(locatePath, 'x/y/index.ts'), 'index.ts');
});

test('a folder inside that has the name of the root comes before the root', async (t) => {
  const sent = ['main.py', 'shop/main.py'];
  const root = await scratchFolder(t, sent);
  const locatePath = createLocator({ root, files: sent });
  assert.equal(await answer(locatePath, 'shop/main.py'), 'shop/main.py');
  assert.equal(await answer(locatePath, 'shop/shop/main.py'), 'shop/main.py');
});

test('a file that was not sent is found by its exact path, and one that is gone is not replaced by a namesake', async (t) => {
  const root = await scratchFolder(t, [...files, 'new.py']);
  const locatePath = createLocator({ root, files });
  assert.equal(await answer(locatePath, 'new.py'), 'new.py');
  await rm(join(root, 'src/orders.py'));
  assert.equal(await answer(locatePath, 'src/orders.py'), '(notFound)');
});

test('composed and decomposed Japanese names are the same name', async (t) => {
  const decomposed = 'src/カ\u3099.py';
  const root = await scratchFolder(t, [decomposed]);
  assert.equal(await answer(createLocator({ root, files: [decomposed] }), 'src/ガ.py'), decomposed);
});

test('a file that was not sent is found behind the name of the folder', async (t) => {
  const root = await scratchFolder(t, ['new.py']);
  const locatePath = createLocator({ root, files: ['other.py'] });
  assert.equal(await answer(locatePath, 'shop/new.py'), 'new.py');
});

test('a file that was sent and is gone is not replaced by the one that its path means without the folder name', async (t) => {
  const root = await scratchFolder(t, ['main.py']);
  const locatePath = createLocator({ root, files: ['main.py', 'shop/main.py'] });
  assert.equal(await answer(locatePath, 'shop/main.py'), '(notFound)');
});

test('percent escapes are read only when the text as it stands fits no file', async (t) => {
  const sent = ['a/x%20y.ts', 'b/x%20y.ts', 'c/x y.ts', 'c/only here.ts'];
  const root = await scratchFolder(t, sent);
  const locatePath = createLocator({ root, files: sent });
  assert.equal(await answer(locatePath, 'x%20y.ts'), '(ambiguous)');
  assert.equal(await answer(locatePath, 'a/x%20y.ts'), 'a/x%20y.ts');
  assert.equal(await answer(locatePath, '/sandbox/c/only%20here.ts'), 'c/only here.ts');
});

test('F72 a link to the folder above is refused', async (t) => {
  const root = await scratchFolder(t, ['main.py']);
  await symlink('..', join(root, 'up'));
  assert.equal(await answer(createLocator({ root }), 'up'), '(link)');
});

test('in a folder that many paths lead to, what is no file of it is told apart as anywhere', async (t) => {
  const sources = Array.from({ length: 20 }, (_, at) => `src/file${String(at)}.py`);
  const root = await scratchFolder(t, [...sources, 'src/folder/x.py', 'main.py']);
  await symlink(join(root, '..'), join(root, 'src', 'up'));
  await symlink(join(root, 'main.py'), join(root, 'src', 'inner.py'));
  const locatePath = createLocator({ root });
  for (const path of [...sources, 'src/inner.py']) assert.equal(await answer(locatePath, path), path);
  assert.equal(await answer(locatePath, 'src/up'), '(link)');
  for (const path of ['src/folder', 'src/FILE1.py/x', 'src/none.py'])
    assert.equal(await answer(locatePath, path), '(notFound)');
});

test('F72 of a folder that a link leads out to, no file is found, however many paths lead there', async (t) => {
  const names = Array.from({ length: 20 }, (_, at) => `file${String(at)}.py`);
  const root = await scratchFolder(t, []);
  const outside = await scratchFolder(t, names);
  await symlink(outside, join(root, 'out'));
  const locatePath = createLocator({ root });
  for (const name of names) assert.equal(await answer(locatePath, `out/${name}`), '(link)');
});

test('a folder that many paths lead to is listed once, and its files are asked about no more', async (t) => {
  const sources = Array.from({ length: 20 }, (_, at) => `src/file${String(at)}.py`);
  const root = await scratchFolder(t, sources);
  const asked: string[] = [];
  const links = {
    realpath: (path: string) => Promise.resolve(path),
    stat: (path: string) => {
      asked.push(path);
      return Promise.resolve({ isFile: () => true });
    },
    filesIn: (folder: string) => {
      asked.push(folder);
      return Promise.resolve(new Set(sources.map((path) => basename(path))));
    },
  };
  const locatePath = createLocator({ root, links });
  for (const path of sources) assert.equal(await answer(locatePath, path), path);
  assert.deepEqual(asked, [...sources.slice(0, 4).map((path) => join(root, path)), join(root, 'src')]);
});

test('a file that the system does not let us look at says so', async (t) => {
  const root = await scratchFolder(t, []);
  for (const [code, reason] of [
    ['EACCES', 'unreadable'],
    ['EPERM', 'unreadable'],
    ['ELOOP', 'link'],
    ['EIO', 'notFound'],
  ] as const) {
    const refuse = () => Promise.reject(Object.assign(new Error(code), { code }));
    const locatePath = createLocator({ root, links: { realpath: refuse, stat: refuse } });
    assert.equal(await answer(locatePath, 'main.py'), `(${reason})`);
  }
});

test('each path text is looked up on disk once', async (t) => {
  const root = await scratchFolder(t, files);
  let visits = 0;
  const links = {
    realpath: (path: string) => {
      visits += 1;
      return Promise.resolve(path);
    },
    stat: () => Promise.resolve({ isFile: () => true }),
  };
  const locatePath = createLocator({ root, files, links });
  await Promise.all(Array.from({ length: 100 }, () => locatePath('src/orders.py')));
  assert.equal(visits, 2, 'the root and the file');
});

test('a folder that is gone gives answers, not errors', async (t) => {
  const root = await scratchFolder(t, files);
  const locatePath = createLocator({ root: join(root, 'gone'), files });
  assert.equal(await answer(locatePath, 'src/orders.py'), '(notFound)');
});

test('10,000 paths in a workspace of 20,000 files are found within seconds', async (t) => {
  const root = await scratchFolder(t, []);
  const sent = Array.from(
    { length: 20_000 },
    (_, at) => `packages/p${String(at % 200)}/src/index${String(at % 100)}_${String(at)}.ts`,
  );
  await mkdir(join(root, 'packages'));
  const links = {
    realpath: (path: string) => Promise.resolve(path),
    stat: () => Promise.resolve({ isFile: () => true }),
  };
  const locatePath = createLocator({
    root,
    files: [...sent, ...sent.map((path) => path.replace(/index\d+_\d+/, 'index'))],
    links,
  });
  const begun = process.cpuUsage();
  const located = await Promise.all(sent.slice(0, 10_000).map((path) => locatePath(`/sandbox/${path}`)));
  assert.ok(located.every(({ kind }) => kind === 'file'));
  // Time that this process had: a busy machine makes it wait, not work.
  const { user, system } = process.cpuUsage(begun);
  assert.ok(user + system < 3_000_000);
});

test('F73 the same path in two roots: the root that the archive came from decides, else the first segment of the path', async (t) => {
  const [shop, admin] = await Promise.all([
    scratchFolder(t, ['src/main.py', 'shop.py']),
    scratchFolder(t, ['src/main.py']),
  ]);
  const folders = [
    { folder: 'shop', names: ['shop'], locate: createLocator({ root: shop }) },
    { folder: 'admin', names: ['admin', '1'], locate: createLocator({ root: admin }) },
  ];
  const main = (root: string) => ({ kind: 'file', path: 'src/main.py', absolute: join(root, 'src/main.py') });
  assert.deepEqual(await locateAmong('src/main.py', folders, 'admin'), {
    folder: 'admin',
    located: main(admin),
  });
  assert.deepEqual(await locateAmong('shop.py', folders, 'admin'), {
    folder: 'admin',
    located: { kind: 'none', reason: 'notFound' },
  });
  assert.equal(await locateAmong('src/main.py', folders), undefined);
  assert.equal((await locateAmong('shop.py', folders))?.folder, 'shop');
  for (const start of ['admin', '1', './admin', '/1'])
    assert.deepEqual((await locateAmong(`${start}/src/main.py`, folders))?.located, main(admin), start);
});

import assert from 'node:assert/strict';
import { mkdir, realpath, symlink, writeFile } from 'node:fs/promises';
import { dirname, join, sep } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { scratchFolder } from '../scratchFolder.ts';
import { locatorIn } from './locating.ts';
import { withLinks } from '../../core/systemSkips.ts';

/** Spellings of `..`, separators, and outside targets are combined. */
const climbs = [
  ...'.. ..; ... %2e%2e %2E. .%2e %252e%252e ..%00 ．． %c0%ae%c0%ae ../. src/../..'.split(' '),
  ...['.. ', '..\u0000', '..\u200b'],
];
const separators = '/ \\ // \\\\ /./ %2f %5c %252f ／'.split(' ');
const outside = ['secret.txt', 'secret.txt:12', 'secret.txt#L1'];
const prefixes = ' / ./ src/ shop/ file:/// file://localhost/ //host/share/ \\\\?\\C:\\ C:\\ c:/ ~/'.split(
  ' ',
);
const generated = climbs.flatMap((climb) =>
  separators.flatMap((separator) =>
    prefixes.flatMap((prefix) =>
      outside.map((target) => `${prefix}${climb}${separator}${climb}${separator}${target}`),
    ),
  ),
);

test('F71 what toSegments refuses is not opened, though such files exist, and an absolute path is one in the folder', async (t) => {
  const here = ['src/main.py', 'NUL.txt', 'con/x.py', 'etc/hosts', 'C:', 'a:stream'];
  const root = await scratchFolder(t, here);
  await writeFile(join(dirname(root), 'secret.txt'), 'outside');
  const locate = locatorIn(root);
  const refused = ['NUL.txt', 'con/x.py', 'C:', 'a:stream', 'src/main.py\0', `${root}/../secret.txt`];
  const missing = ['D:\\build\\..\\src\\main.py', '/etc/passwd', 'C:\\Windows\\win.ini', '%2e%2e/secret.txt'];
  for (const text of [...refused, ...missing])
    assert.equal(await locate(text), '(none)', JSON.stringify(text));
  assert.equal(await locate('/etc/hosts'), 'etc/hosts');
});

test('F71 none of more than 500 attacks leaves the root, with or without a file list', async (t) => {
  const root = await scratchFolder(t, ['src/main.py', 'secret.txt.py']);
  await writeFile(join(dirname(root), 'secret.txt'), 'outside');
  assert.ok(generated.length >= 500);
  for (const files of [undefined, ['src/main.py', '../secret.txt', '/etc/passwd']]) {
    const locate = locatorIn(root, { files });
    const names = '/etc/passwd etc/passwd passwd secret.txt /proc/self/environ ~/.ssh/id_rsa'.split(' ');
    for (const text of [...generated, ...names]) {
      assert.match(await locate(text), /^\(/, text);
    }
  }
});

test(
  'F72 a link inside the root to the outside is refused, one to the inside is followed',
  withLinks,
  async (t) => {
    const root = await scratchFolder(t, ['src/main.py']);
    const beside = join(dirname(root), 'shop-beside');
    await mkdir(beside);
    await writeFile(join(beside, 'secret.txt'), 'outside');
    await mkdir(join(beside, 'src'));
    await writeFile(join(beside, 'src', 'main.py'), 'outside, and its end is inside');
    await symlink(join(beside, 'secret.txt'), join(root, 'file-link.txt'));
    await symlink(beside, join(root, 'folder-link'));
    await symlink('loop', join(root, 'loop'));
    await symlink('..', join(root, 'up'));
    await symlink('../src/main.py', join(root, 'src', 'inner.py'));
    await symlink('main.py', join(root, 'src', 'good.py'));
    const files = ['file-link.txt', 'folder-link/secret.txt', 'loop', 'up', 'src/good.py'];
    for (const locate of [locatorIn(root), locatorIn(root, { files })]) {
      for (const text of [
        ...files.slice(0, -1),
        '/sandbox/folder-link/secret.txt',
        'folder-link',
        'folder-link/src/main.py',
      ])
        assert.match(await locate(text), /^\(/, text);
      assert.equal(await locate('src/good.py'), 'src/good.py');
    }
  },
);

test('F71 any text resolves to a file inside the root or to none', async (t) => {
  const root = await scratchFolder(t, ['src/main.py', 'main.py', 'a b/c.py']);
  await writeFile(join(dirname(root), 'main.py'), 'outside');
  if (withLinks.skip === false) await symlink(dirname(root), join(root, 'up'));
  const names = ['src', 'main.py', 'up', 'shop', 'a b', 'c.py', root, dirname(root), 'file:'];
  const piece = fc.oneof(
    fc.constantFrom(...climbs, ...separators, ...prefixes, ...names),
    fc.string({ maxLength: 4 }),
  );
  const locators = [locatorIn(root), locatorIn(root, { files: ['src/main.py', 'main.py', 'up/main.py'] })];
  let located = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(piece, { minLength: 1, maxLength: 7 }),
      fc.constantFrom('', '/'),
      async (pieces, joint) => {
        for (const locate of locators) {
          const found = await locate(pieces.join(joint));
          if (found.startsWith('(')) continue;
          located += 1;
          assert.ok((await realpath(join(root, found))).startsWith(root + sep), found);
          assert.doesNotMatch(found, /(^|\/)\.\.?(\/|$)|\\|^\/|\0/);
        }
      },
    ),
    { numRuns: 1_000, examples: [[['src', 'main.py'], '/']] },
  );
  assert.ok(located > 0, 'some texts must be found, or this proves nothing');
});

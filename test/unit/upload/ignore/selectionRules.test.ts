import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { selectFiles } from '../../../../src/core/upload/select/selectFiles.ts';
import { excluded, paths, sameAsGit } from '../selecting.ts';
import { gitSelects, options, plant, plantRepository, testTree, testRepository } from '../trees.ts';
import { withLinks } from '../../core/systemSkips.ts';

test('F1 the deepest rule wins', async (t) => {
  const at = testRepository(t, {
    '.gitignore': '*.log\n',
    'a.log': '',
    'sub/.gitignore': '!keep.log\n',
    'sub/keep.log': '',
    'sub/other.log': '',
    'sub/deeper/.gitignore': 'keep.log\n',
    'sub/deeper/keep.log': '',
  });
  assert.deepEqual(await sameAsGit(at), [
    '.gitignore',
    'sub/.gitignore',
    'sub/deeper/.gitignore',
    'sub/keep.log',
  ]);
  assert.deepEqual(await excluded(at), [
    'a.log: gitignore .gitignore:1 *.log',
    'sub/deeper/keep.log: gitignore sub/deeper/.gitignore:1 keep.log',
    'sub/other.log: gitignore .gitignore:1 *.log',
  ]);
});

test('F2 a file below an excluded folder stays excluded', async (t) => {
  const at = testRepository(t, {
    '.gitignore': 'build/\n!build/keep.txt\n',
    'build/keep.txt': '',
    'build/.gitignore': '!keep.txt\n',
  });
  assert.deepEqual(await sameAsGit(at), ['.gitignore']);
  assert.deepEqual(await excluded(at), ['build/: gitignore .gitignore:1 build/']);
});

test('F5 .whiteboxignore and settings exclude more, each with its own negations', async (t) => {
  const at = testRepository(t, {
    '.whiteboxignore': '*.md\n!README.md\n',
    'README.md': '',
    'a.md': '',
    'docs/.whiteboxignore': '!b.md\n',
    'docs/b.md': '',
    'data/x.csv': '',
    'data/y.csv': '',
  });
  assert.deepEqual(
    await paths(at, { exclude: [['data/*', '!y.csv', '!*.md']] }),
    '.whiteboxignore README.md data/y.csv docs/.whiteboxignore docs/b.md'.split(' '),
  );
  assert.deepEqual(await excluded(at, { exclude: [['', 'data/*']] }), [
    'a.md: whiteboxignore .whiteboxignore:1 *.md',
    'data/x.csv: setting :2 data/*',
    'data/y.csv: setting :2 data/*',
  ]);
});

test('F5 the workspace’s pattern list includes nothing that the user’s list excludes; both apply', async (t) => {
  const at = testRepository(t, { 'customers/a.csv': '', 'key.pem': '', 'notes.md': '', 'a.js': '' });
  const exclude = [
    ['*.pem', 'customers/'],
    ['!key.pem', '!customers/', '*.md'],
  ];
  assert.deepEqual(await paths(at, { exclude }), ['a.js']);
  assert.deepEqual(await excluded(at, { exclude }), [
    'customers/: setting :2 customers/',
    'key.pem: setting :1 *.pem',
    'notes.md: setting :3 *.md',
  ]);
});

test('F6 a damaged or missing .git and a deleted tracked file change nothing', async (t) => {
  const at = testRepository(t, {
    '.git/info/exclude': 'b\n',
    '.git/index': 'tracked: gone.txt',
    '.gitignore': 'a\n',
    a: '',
    b: '',
    c: '',
  });
  const whole = await paths(at);
  assert.deepEqual(whole, ['.gitignore', 'c']);
  rmSync(join(at.root, '.git/HEAD'));
  writeFileSync(join(at.root, '.git/config'), '[core\n\u0000garbage');
  assert.deepEqual(await paths(at), whole);
  rmSync(join(at.root, '.git/objects'), { recursive: true });
  assert.deepEqual(await paths(at), whole);
});

test('F19 in a subfolder of a repository the rules of parent folders apply', async (t) => {
  const at = testRepository(t, {
    '.gitignore': '/packages/one/gen\n*.o\n',
    '.whiteboxignore': '*.pdf\n',
    'packages/.gitignore': 'tmp/\n',
    'packages/one/gen': '',
    'packages/one/a.o': '',
    'packages/one/a.pdf': '',
    'packages/one/tmp/x': '',
    'packages/one/src/gen': '',
    '.git/info/exclude': '/packages/one/local\n',
    'packages/one/local': '',
  });
  const folder = join(at.root, 'packages/one');
  const { files, excluded } = await selectFiles(folder, options(at));
  assert.deepEqual(
    files.map(({ path }) => path),
    ['src/gen'],
  );
  assert.deepEqual(
    excluded.map(({ path, reason }) => [path, reason.kind === 'ignored' ? reason.rule.file : '']),
    [
      ['a.o', join(at.root, '.gitignore')],
      ['a.pdf', join(at.root, '.whiteboxignore')],
      ['gen', join(at.root, '.gitignore')],
      ['local', join(at.root, '.git/info/exclude')],
      ['tmp/', join(at.root, 'packages/.gitignore')],
    ],
  );
});

test('F19 a folder that its repository ignores is excluded entirely', async (t) => {
  const at = testRepository(t, {
    '.gitignore': 'out/\n',
    'out/one/a': '',
    'out/one/.gitignore': '!*\n',
    'out/one/b': '',
  });
  const folder = join(at.root, 'out/one');
  assert.deepEqual(gitSelects(at, folder), []);
  const { files, excluded } = await selectFiles(folder, options(at));
  assert.deepEqual(files, []);
  assert.deepEqual(
    excluded.map(({ path }) => path),
    ['./'],
  );
  const chosen = await selectFiles(folder, options(at, { include: ['a'] }));
  assert.deepEqual(
    chosen.files.map(({ path }) => path),
    ['a'],
  );
});

test('F20 without a repository the same ignore files apply', async (t) => {
  const at = testTree(t);
  plant(at.root, {
    '.gitignore': '*.log\n',
    'a.log': '',
    'x/.gitignore': '!a.log\n',
    'x/a.log': '',
    'x/b.log': '',
  });
  const without = await paths(at);
  assert.deepEqual(without, ['.gitignore', 'x/.gitignore', 'x/a.log']);
  plantRepository(at.root);
  assert.deepEqual(await sameAsGit(at), without);
});

test('a .gitignore that is a link or a folder has no rules, as in git', withLinks, async (t) => {
  const at = testRepository(t, {
    rules: 'a\n',
    '.gitignore': { link: 'rules' },
    a: '',
    'x/.gitignore/y': '',
    'x/a': '',
  });
  assert.deepEqual(await sameAsGit(at), ['a', 'rules', 'x/.gitignore/y', 'x/a']);
});

const otherCase = { skip: process.platform !== 'linux' && 'elsewhere a disk takes both names for one' };

test(
  'F12 a file named like an ignore file in other letter case does not hide the real one',
  otherCase,
  async (t) => {
    for (const [name, odd] of [
      ['.gitignore', '.GITIGNORE'],
      ['.whiteboxignore', '.WHITEBOXIGNORE'],
    ] as const)
      for (const other of [{ [`${odd}/keep`]: '' }, { [odd]: { link: 'open' } }, { [odd]: '' }]) {
        const at = testRepository(t, { [name]: 'secret\n', open: '', secret: '', ...other });
        writeFileSync(join(at.root, '.git/config'), '[core]\n\tignorecase = true\n');
        const sent = await paths(at);
        assert.ok(sent.includes('open') && !sent.includes('secret'), `${odd}: ${String(sent)}`);
      }
  },
);

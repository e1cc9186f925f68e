import assert from 'node:assert/strict';
import { test } from 'node:test';
import { leftOut, paths, sameAsGit, select } from './selecting.ts';
import { gitVersion, plant, plantRepository, testPlace, testRepository } from './trees.ts';
import { cpuMs } from '../cpuTime.ts';

test('F12 letter case counts as core.ignorecase says', async (t) => {
  const at = testPlace(t);
  const files = {
    '.gitignore': 'Build/\n*.LOG\n[Oo]bj\n[B]in\n\\Case\n',
    'build/x': '',
    'a.log': '',
    OBJ: '',
    bin: '',
    case: '',
    É: '',
  };
  plantRepository(at.root, '\tignorecase = true\n');
  plant(at.root, { ...files, '.git/info/exclude': 'é\n' });
  assert.deepEqual(await sameAsGit(at), ['.gitignore', 'bin', 'case', 'É']);
  plantRepository(at.root, '\tignorecase = false\n');
  assert.deepEqual(await sameAsGit(at), ['.gitignore', 'OBJ', 'a.log', 'bin', 'build/x', 'case', 'É']);
});

test('F15 stars, question marks and ranges mean what they mean to git', async (t) => {
  const at = testRepository(t, {
    '.gitignore': '?\n???x\n[à-é]y\n[!a-z]z\nq/**/r\ns/***/t\nu*v*w\n[[:digit:]]*\n',
    a: '', 'é': '', 'éx': '', 'aéx': '', 'éy': '', ay: '', az: '', Az: '', 'q/r': '', 'q/1a/r': '', 's/b/c/t': '', uvvw: '', '1x': '',
  }); // prettier-ignore
  await sameAsGit(at);
});

test('F15 stars beside a name, which git versions read differently, leave out what either does', async (t) => {
  const at = testPlace(t);
  plantRepository(at.root);
  const files = ['foobar', 'foox/bar', 'foox/y/bar', 'foo/bar', 'xfoo/bar', 'foo.txt'];
  plant(at.root, { '.gitignore': '/foo**/bar\n', ...Object.fromEntries(files.map((file) => [file, ''])) });
  assert.deepEqual(await paths(at), ['.gitignore', 'foo.txt', 'xfoo/bar']);
  if (gitVersion() < 252) await sameAsGit(at);
  plant(at.root, { '.gitignore': '*\n!*/\n!/foo**/bar\n' });
  assert.deepEqual(await paths(at), ['foo/bar', 'foox/bar']);
});

test('F15 stars beside a name and a doubled final slash mean the folder of that name', async (t) => {
  const at = testRepository(t, {
    '.gitignore': 'ab**//\n',
    'ab/x': '',
    'abc/x': '',
    'c/ab/x': '',
    'd/ab': '',
  });
  assert.deepEqual(await paths(at), ['.gitignore', 'abc/x', 'c/ab/x', 'd/ab']);
  if (gitVersion() < 252) await sameAsGit(at);
});

test('F15 a rule that cannot be answered as git does leaves out more, and says so', async (t) => {
  const at = testRepository(t, {
    '.gitignore': 'src/a/**/b/**/c/**/d\n!src/a/**/b/**/c/**/e\n',
    'src/a/x': '',
    'src/b': '',
    'src/a/b/c/e': '',
  });
  const { files, leftOut } = await select(at);
  assert.deepEqual(
    files.map(({ path }) => path),
    ['.gitignore', 'src/b'],
  );
  const pattern = 'src/a/**/b/**/c/**/d';
  const reason = {
    kind: 'ignored',
    rule: { source: 'gitignore', file: '.gitignore', line: 1, pattern, widened: true },
  };
  assert.deepEqual(leftOut, [
    { path: 'src/a/b/', reason },
    { path: 'src/a/x', reason },
  ]);
});

test('F16 byte order mark, line ends, NUL and blanks are read as git reads them', async (t) => {
  const at = testRepository(t, {
    '.gitignore': '\ufeffa\r\nb\\ \r\nc  \r\nd\0e\r\n\r\n#f\r\n\\#f\r\ng\r\r\nh\r',
    a: '', 'b ': '', b: '', c: '', d: '', de: '', '#f': '', f: '', g: '', 'g\r': '', h: '', 'h\r': '',
  }); // prettier-ignore
  assert.deepEqual(await sameAsGit(at), ['.gitignore', 'b', 'de', 'f', 'g', 'h\r']);
});

test('F16 an ignore file of many or hostile rules is answered in bounded time', async (t) => {
  const at = testPlace(t);
  plantRepository(at.root);
  const many = Array.from({ length: 15_000 }, (_, index) => `name-${index}`).join('\n');
  const hostile = [
    `${'a*'.repeat(40)}b`,
    `${'*a'.repeat(40)}*b*`,
    `${'**/'.repeat(200)}zz`,
    `${'a/**/'.repeat(2)}b/c`,
    `${'?*'.repeat(30)}q`,
    `[${'a-z'.repeat(300)}]q`,
    `${' '.repeat(3000)}x${'\\'.repeat(999)}`,
  ].join('\n');
  const deep = Array.from({ length: 80 }, () => 'a').join('/');
  plant(at.root, {
    '.gitignore': many,
    'name-7': '',
    'x/.gitignore': hostile,
    [`x/${'a'.repeat(200)}`]: '',
    [`x/${deep}/a`]: '',
  });
  const start = cpuMs();
  assert.deepEqual(await paths(at), ['.gitignore', 'x/.gitignore', `x/${deep}/a`, `x/${'a'.repeat(200)}`]);
  assert.ok(cpuMs() - start < 5000);
});

test('F16 a folder whose ignore file is too large to answer for stays out whole', async (t) => {
  const at = testPlace(t);
  plant(at.root, {
    a: '',
    'b/.gitignore': Array.from({ length: 20_001 }, (_, index) => `n${index}`).join('\n'),
    'b/x': '',
  });
  plant(at.root, { 'c/.whiteboxignore': 'x\n'.repeat(1 << 20).concat('y'), 'c/x': '' });
  assert.deepEqual(await paths(at), ['a']);
  assert.deepEqual(await leftOut(at), [
    'b/: unreadable EFBIG b/.gitignore',
    'c/: unreadable EFBIG c/.whiteboxignore',
  ]);
});

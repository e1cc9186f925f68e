import assert from 'node:assert/strict';
import { test } from 'node:test';
import { leftOut, paths, sameAsGit, select } from '../selecting.ts';
import { gitSelects, plant, plantRepository, testPlace, testRepository } from '../trees.ts';

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
    '.gitignore': '?\n???x\n[!a-z]z\nq/**/r\ns/***/t\nu*v*w\n[0-9]*\n',
    a: '', 'é': '', 'éx': '', 'aéx': '', 'éy': '', ay: '', az: '', Az: '', 'q/r': '', 'q/1a/r': '', 's/b/c/t': '', uvvw: '', '1x': '',
  }); // prettier-ignore
  await sameAsGit(at);
});

/** What a rule leaves out of these files, beside what git leaves out by it, and how it is said. */
const notPlain: readonly [rule: string, leavesOut: readonly string[]][] = [
  // Stars beside a name: what they mean to git depends on its version.
  ['/foo**/bar', ['foo/bar', 'foo/x', 'foobar', 'foox/bar']],
  ['ab**//', ['ab1', 'abc/x']],
  ['/fo**', ['foo/bar', 'foo/x', 'foobar', 'foox/bar']],
  // A bracket expression that is more than single characters and plain ranges.
  ['[[:lower:]]b1', ['ab1']],
  ['[]a]b1', ['ab1']],
  ['[\\a]b1', ['ab1']],
  ['[é]/bar', ['a[z]/bar', 'foo/bar', 'foox/bar', 'xfoo/bar', 'é/bar']],
  ['a[/]b1', ['a[z]/bar', 'ab1', 'abc/x']],
  ['foo\\/x', ['foo/bar', 'foo/x', 'foobar', 'foox/bar']],
];

test('F15 a rule that is not written plainly leaves out more, and says so', async (t) => {
  const names = ['foo/bar', 'foo/x', 'foox/bar', 'foobar', 'xfoo/bar', 'ab1', 'abc/x', 'é/bar', 'a[z]/bar'];
  for (const [rule, expected] of notPlain) {
    const at = testRepository(t, { ...Object.fromEntries(names.map((name) => [name, ''])) });
    plant(at.root, { '.git/info/exclude': `${rule}\n!${rule}\n` });
    const { files, leftOut, widened } = await select(at);
    const sent = files.map(({ path }) => path);
    assert.deepEqual(names.filter((name) => !sent.includes(name)).sort(), expected, rule);
    const from = { source: 'infoExclude', file: '.git/info/exclude', widened: true } as const;
    const first = { ...from, line: 1, pattern: rule };
    assert.ok(leftOut.length > 0);
    for (const { reason } of leftOut) assert.deepEqual(reason, { kind: 'ignored', rule: first });
    assert.deepEqual(widened, [first, { ...from, line: 2, pattern: `!${rule}` }], rule);
    plant(at.root, { '.git/info/exclude': `${rule}\n` });
    const gits = gitSelects(at);
    assert.deepEqual(sent.filter((path) => !gits.includes(path)), [], rule); // prettier-ignore
  }
});

test('F15 a bracket expression without an end matches nothing, as in git', async (t) => {
  const at = testRepository(t, { '.gitignore': '[a\na[\n\\\n', a: '', '[a': '', 'a[': '' });
  assert.deepEqual(await sameAsGit(at), ['.gitignore', '[a', 'a', 'a[']);
});

test('F16 byte order mark, line ends, NUL and blanks are read as git reads them', async (t) => {
  const at = testRepository(t, {
    '.gitignore': '\ufeffa\r\nb\\ \r\nc  \r\nd\0e\r\n\r\n#f\r\n\\#f\r\ng\r\r\nh\r',
    a: '', 'b ': '', b: '', c: '', d: '', de: '', '#f': '', f: '', g: '', 'g\r': '', h: '', 'h\r': '',
  }); // prettier-ignore
  assert.deepEqual(await sameAsGit(at), ['.gitignore', 'b', 'de', 'f', 'g', 'h\r']);
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

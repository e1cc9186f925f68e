import assert from 'node:assert/strict';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { paths, select } from '../selecting.ts';
import { plant, plantRepository, testTree, testRepository } from '../trees.ts';

test('F4 a conditional include always counts: it excludes more, with a note, and includes nothing', async (t) => {
  const at = testRepository(t, { open: '', secret: '', never: '', here: '', '.git/info/exclude': 'here\n' });
  plant(at.home, {
    'work-config': '[include]\n\tpath = more-config\n[core]\n\tignorecase = true\n',
    'more-config': '[core]\n\texcludesFile = ~/work-rules\n',
    'work-rules': 'secret\nOPEN\n!never\n',
    'own-rules': 'never\n',
  });
  const conditions = [
    `gitdir:${dirname(at.root)}/`, 'gitdir:/no/where/', 'gitdir/i:~/work/', 'onbranch:main',
    'hasconfig:remote.*.url:https://git.example.test/**', 'later:unknown',
  ]; // prettier-ignore
  for (const condition of conditions) {
    const include = `[includeIf "${condition}"]\n\tpath = work-config\n`;
    plant(at.home, { '.gitconfig': `[core]\n\texcludesFile = ~/own-rules\n${include}` });
    const { files, excluded } = await select(at);
    assert.deepEqual(files.map(({ path }) => path), ['open'], condition); // prettier-ignore
    const from = { source: 'coreExcludesFile', line: 1 } as const;
    const own = { ...from, file: join(at.home, 'own-rules'), pattern: 'never', isConditional: false };
    const work = { ...from, file: join(at.home, 'work-rules'), pattern: 'secret', isConditional: true };
    const here = {
      source: 'infoExclude',
      file: '.git/info/exclude',
      line: 1,
      pattern: 'here',
    };
    assert.deepEqual(excluded, [
      { path: 'here', reason: { kind: 'ignored', rule: here } },
      { path: 'never', reason: { kind: 'ignored', rule: own } },
      { path: 'secret', reason: { kind: 'ignored', rule: work } },
    ]);
  }
});

test('F4 every possible excludes file counts, in addition to the unconditional one', async (t) => {
  const at = testTree(t);
  plantRepository(at.root);
  plantRepository(join(at.root, 'nested'));
  plant(at.root, { a: '', b: '', c: '', d: '', e: '', 'nested/b': '', 'nested/e': '' });
  const ruled = (name: string): string => `[core]\n\texcludesFile = ~/${name}-rules\n`;
  plant(at.home, {
    '.gitconfig': `${ruled('a')}[includeIf "onbranch:x"]\n\tpath = b\n[includeIf "gitdir:x"]\n\tpath = c\n${ruled('d')}`,
    b: ruled('b'),
    c: ruled('c'),
    ...Object.fromEntries(Array.from('abcd', (name) => [`${name}-rules`, `${name}\n`])),
  });
  assert.deepEqual(await paths(at, { includeNestedRepositories: true }), ['a', 'e', 'nested/e']);
});

test("F129 nothing in a repository includes what the user's own excludes file excludes", async (t) => {
  const at = testRepository(t, {
    '.gitignore': '!*.secret\n*.log\n!keep.log\n',
    '.git/info/exclude': '!*.secret\n',
    '.whiteboxignore': '!*.secret\n',
    'a/.gitignore': '!b.secret\n!/c/\n',
    'a.secret': '',
    'a/b.secret': '',
    'a/c/d': '',
    'keep.log': '',
    'kept.secret': '',
  });
  const rules = '*.secret\n!kept.secret\nc/\n';
  const expected = ['.gitignore', '.whiteboxignore', 'a/.gitignore', 'keep.log', 'kept.secret'];
  plant(at.home, { '.config/git/ignore': rules });
  assert.deepEqual(await paths(at, { exclude: [['!*.secret']] }), expected);
  plant(at.home, { '.gitconfig': '[core]\n\texcludesFile = ~/mine\n', mine: rules });
  assert.deepEqual(await paths(at), expected);
  assert.deepEqual(await paths(at, { include: ['a.secret'] }), [...expected.slice(0, 2), 'a.secret', ...expected.slice(2)].sort()); // prettier-ignore
  plantRepository(join(at.root, 'a'));
  assert.deepEqual(await paths(at, { includeNestedRepositories: true }), expected);
});

test("F129 the repository configuration cannot replace the user's excludes file", async (t) => {
  const at = testRepository(t, { 'a.secret': '', b: '', c: '' });
  plant(at.home, { '.config/git/ignore': '*.secret\n', '.gitconfig': '', mine: '*.secret\n', theirs: '!*.secret\nc\n' }); // prettier-ignore
  for (const own of ['', '[core]\n\texcludesFile = ~/mine\n']) {
    plant(at.home, { '.gitconfig': own });
    for (const [theirs, expected] of [
      ['', ['b', 'c']],
      ['~/theirs', ['b']],
    ] as const) {
      // prettier-ignore
      plant(at.root, { '.git/config': `[core]\n\texcludesFile = ${theirs}\n` });
      assert.deepEqual(await paths(at), expected);
    }
  }
});

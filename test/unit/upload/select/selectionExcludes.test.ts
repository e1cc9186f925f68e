import assert from 'node:assert/strict';
import { rm } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { excluded, paths, sameAsGit } from '../selecting.ts';
import { gitSelects, plant, plantRepository, testTree, testRepository } from '../trees.ts';

test('F3 .git/info/exclude applies, and is weaker than .gitignore', async (t) => {
  const at = testRepository(t, {
    '.git/info/exclude': '# local\nnotes/\n*.tmp\n',
    '.gitignore': '!b.tmp\n',
    'notes/a': '',
    'a.tmp': '',
    'b.tmp': '',
  });
  assert.deepEqual(await sameAsGit(at), ['.gitignore', 'b.tmp']);
  assert.deepEqual(await excluded(at), [
    'a.tmp: infoExclude .git/info/exclude:3 *.tmp',
    'notes/: infoExclude .git/info/exclude:2 notes/',
  ]);
});

test('F3 a linked worktree uses the main repository’s info/exclude', async (t) => {
  const at = testTree(t);
  const main = join(dirname(at.root), 'main');
  plantRepository(main);
  plant(main, {
    '.git/info/exclude': 'secret\n',
    '.git/worktrees/w/HEAD': 'ref: refs/heads/w\n',
    '.git/worktrees/w/commondir': '../..\n',
  });
  plant(main, { '.git/worktrees/w/gitdir': `${at.root}/.git\n` });
  plant(at.root, { '.git': `gitdir: ${main}/.git/worktrees/w\n`, secret: '', open: '' });
  assert.deepEqual(await sameAsGit(at), ['open']);
});

test('F4 the excludes file of the user’s configuration applies, with ~, includes, and only if it exists', async (t) => {
  const set = '[core]\n\texcludesFile = ';
  const cases: readonly (readonly [home: Record<string, string>, sent: string])[] = [
    [{ '.gitconfig': `${set}~/mine # not "here"\n`, mine: '.idea/\n*.swp\n' }, 'a b'],
    [{ '.gitconfig': `${set}~/a-rules\n[include]\n\tpath = more\n`, more: `${set}~/b-rules\n`, 'a-rules': 'a\n', 'b-rules': 'b\n' }, '.idea/x a a.swp'],
    [{ '.gitconfig': `${set}":(optional)~/rules"\n` }, '.idea/x a a.swp b'],
  ];
  for (const [home, sent] of cases) {
    const at = testRepository(t, { '.idea/x': '', 'a.swp': '', a: '', b: '' });
    plant(at.home, home);
    assert.equal((await sameAsGit(at)).join(' '), sent, JSON.stringify(home));
    if (sent === 'a b')
      assert.deepEqual(await excluded(at), [
        `.idea/: coreExcludesFile ${at.home}/mine:1 .idea/`,
        `a.swp: coreExcludesFile ${at.home}/mine:2 *.swp`,
      ]);
    plant(at.home, { rules: 'a\n' });
    if (!('mine' in home || 'more' in home)) assert.ok(!(await paths(at)).includes('a'));
  }
}); // prettier-ignore

test('F4 without a setting, the XDG default applies, also outside a repository', async (t) => {
  const at = testTree(t);
  plant(at.home, { '.config/git/ignore': '*.swp\n', 'elsewhere/git/ignore': 'a\n' });
  plant(at.root, { 'a.swp': '', a: '' });
  assert.deepEqual(await paths(at), ['a']);
  const env = { XDG_CONFIG_HOME: join(at.home, 'elsewhere'), GIT_CONFIG_NOSYSTEM: '1' };
  assert.deepEqual(await paths(at, { surroundings: { home: at.home, env } }), ['a.swp']);
});

test("F4 rules in another user's home are not treated as missing", async (t) => {
  const at = testRepository(t, { a: '' });
  const name = (user: string): void =>
    plant(at.home, { '.gitconfig': `[core]\n\texcludesfile = ~${user}/no-such-rules\n` });
  name(userInfo().username);
  assert.deepEqual(await sameAsGit(at), ['a']);
  name('nobody-here');
  assert.throws(() => gitSelects(at), /expand user dir/);
  await assert.rejects(paths(at), {
    kind: 'sourceUnreadable',
    data: { subject: '~nobody-here/no-such-rules', detail: 'ENOENT' },
  });
});

test('F4 rules below git’s installation are not treated as missing', async (t) => {
  const at = testRepository(t, { a: '' });
  for (const config of ['[core]\n\texcludesFile', '[include]\n\tpath']) {
    plant(at.home, { '.gitconfig': `${config} = %(prefix)/rules\n` });
    await assert.rejects(paths(at), {
      kind: 'sourceUnreadable',
      data: { subject: '%(prefix)/rules', detail: 'ENOENT' },
    });
  }
});

test('F4 F176 Git for Windows is found for one user or everyone, and / means the folder of its programs', async (t) => {
  const { surroundings, ...tree } = testRepository(t, { a: '', b: '', c: '' });
  const env = {
    ...surroundings.env,
    LOCALAPPDATA: join(tree.home, 'local'),
    PROGRAMFILES: join(tree.home, 'programs'),
    GIT_CONFIG_NOSYSTEM: undefined,
  };
  const at = { ...tree, surroundings: { ...surroundings, env, platform: 'win32' as const } };
  for (const [folder, names] of [
    ['programs/Git', { 'etc/gitconfig': '[core]\n\texcludesFile = /rules\n', 'mingw64/rules': 'a\n' }],
    [
      'local/Programs/Git',
      { 'etc/gitconfig': '[core]\n\texcludesFile = /other\n', 'clangarm64/other': 'b\n' },
    ],
  ] as const) {
    await rm(join(tree.home, 'programs'), { recursive: true, force: true });
    const files = Object.entries(names).map(([name, text]) => [`${folder}/${name}`, text]);
    plant(at.home, Object.fromEntries(files) as Record<string, string>);
    assert.deepEqual(await paths(at), folder.startsWith('local') ? ['a', 'c'] : ['b', 'c']);
  }
  plant(at.home, { '.gitconfig': '[core]\n\texcludesFile = %(prefix)/third\n' });
  plant(at.home, { 'programs/Git/ucrt64/third': 'c\n' });
  assert.deepEqual(await paths(at), ['a', 'b']);
});

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs, {
  chmodSync,
  existsSync,
  mkdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { createServer } from 'node:net';
import { delimiter, dirname, join } from 'node:path';
import { test } from 'node:test';
import { AssessmentError } from '../../../../src/core/errors.ts';
import { toCoverage } from '../../../../src/core/upload/choose/coverage.ts';
import { selectFiles } from '../../../../src/core/upload/select/selectFiles.ts';
import { excluded, paths, sameAsGit, select } from '../selecting.ts';
import { asNobody, options, plant, plantRepository, testTree } from '../trees.ts';
import { withLinks, withOddNames, withPipes, withRights } from '../../core/systemSkips.ts';

test('files have size and mode, in byte order of their paths', async (t) => {
  const at = testTree(t);
  plant(at.root, { 'b/c': 'four', 'b-a': '', é: '', '😀': '', '\uffee': '', Z: '', a: '' });
  chmodSync(join(at.root, 'b/c'), 0o750);
  const { files, bytes, root } = await select(at);
  assert.deepEqual(
    files.map(({ path }) => path),
    ['Z', 'a', 'b-a', 'b/c', 'é', '\uffee', '😀'],
  );
  assert.deepEqual(files[3], { path: 'b/c', bytes: 4, mode: process.platform === 'win32' ? 0o644 : 0o755 });
  assert.deepEqual(files[1], { path: 'a', bytes: 0, mode: 0o644 });
  assert.equal(bytes, 4);
  assert.equal(root, at.root);
});

test('F7 nested repositories and submodules are excluded and reported', async (t) => {
  const at = testTree(t);
  plantRepository(at.root);
  plantRepository(join(at.root, 'vendor/lib'));
  plantRepository(join(at.root, '.git/modules/sub'));
  rmSync(join(at.root, '.git/modules/sub/.git'), { recursive: true });
  plant(at.root, {
    'vendor/lib/x.c': '',
    'sub/.git': 'gitdir: ../.git/modules/sub\n',
    '.git/modules/sub/HEAD': 'ref: refs/heads/main\n',
    '.git/modules/sub/objects/x': '',
    '.git/modules/sub/refs/x': '',
    'sub/y.c': '',
    'not/.git': 'no git file',
    'not/z.c': '',
    'empty/.git/x': '',
    'empty/w.c': '',
  });
  assert.deepEqual(await sameAsGit(at), ['empty/w.c', 'not/z.c']);
  assert.deepEqual(await excluded(at), ['sub/: nestedRepository', 'vendor/lib/: nestedRepository']);
  assert.deepEqual(await paths(at, { includeNestedRepositories: true }), [
    'empty/w.c',
    'not/z.c',
    'sub/y.c',
    'vendor/lib/x.c',
  ]);
  assert.deepEqual(await paths(at, { include: ['sub/'] }), ['empty/w.c', 'not/z.c', 'sub/y.c']);
});

test('F7 in a nested repository both its own and the outer rules apply', async (t) => {
  const at = testTree(t);
  plantRepository(at.root);
  plantRepository(join(at.root, 'lib'));
  plant(at.root, {
    '.gitignore': '*.key\n',
    'lib/.gitignore': '!*.key\n/out\n',
    'lib/.git/info/exclude': 'local\n',
    'lib/a.key': '',
    'lib/out': '',
    'lib/local': '',
    'lib/src/out': '',
  });
  assert.deepEqual(await paths(at, { includeNestedRepositories: true }), [
    '.gitignore',
    'lib/.gitignore',
    'lib/src/out',
  ]);
});

test(
  'F7 a repository is recognised by any form of HEAD that git accepts',
  { skip: process.platform === 'win32' && 'Git makes no HEAD that is a link there' },
  async (t) => {
    const at = testTree(t);
    plantRepository(at.root);
    const heads = {
      link: { link: 'refs/heads/none' },
      upper: 'ABCDEF01'.repeat(5),
      lower: 'abcdef01'.repeat(5),
    };
    const none = { away: { link: 'heads/none' }, word: 'REF: refs/heads/main\n', short: 'abcdef01' };
    for (const [name, head] of Object.entries({ ...heads, ...none })) {
      plantRepository(join(at.root, name));
      rmSync(join(at.root, name, '.git/HEAD'));
      plant(at.root, { [`${name}/.git/HEAD`]: head, [`${name}/x`]: '' });
    }
    assert.deepEqual(await sameAsGit(at), ['away/x', 'short/x', 'word/x']);
  },
);

test('F113 internal data of version control systems is never sent, whatever is chosen, and all but .git is named', async (t) => {
  const at = testTree(t);
  plantRepository(at.root);
  plantRepository(join(at.root, 'lib'));
  const data = [
    '.git/config',
    '.hg/hgrc',
    '.svn/wc.db',
    'lib/.git/config',
    'lib/.hg/x',
    'a/.SVN/x',
    'b/.Git/x',
    'c/.hg',
    ...['.bzr/x', '.jj/repo/x', '.sl/x', '.pijul/x', '_darcs/x', '_FOSSIL_', '.fslckout', 'd/old.fossil'],
  ];
  plant(at.root, { ...Object.fromEntries(data.map((path) => [path, 'secret'])), 'a/.gitx': '', 'lib/y': '' });
  const include = [...data, ...data.map((path) => `${dirname(path)}/`), 'a/', 'b/', 'c/', 'd/', 'lib/'];
  for (const more of [{}, { include }, { include, includeNestedRepositories: true }])
    assert.deepEqual(await paths(at, { ...more, includeNestedRepositories: true }), ['a/.gitx', 'lib/y']);
  assert.deepEqual(
    await excluded(at, { includeNestedRepositories: true }),
    [
      ...['.bzr/', '.fslckout', '.hg/', '.jj/', '.pijul/', '.sl/', '.svn/', '_FOSSIL_', '_darcs/', 'a/.SVN/'],
      ...['b/.Git/', 'c/.hg', 'd/old.fossil', 'lib/.hg/'],
    ].map((path) => `${path}: repositoryData`),
  );
  for (const chosen of ['.git', '.git/refs', '.hg', 'lib/.git', 'a/.SVN']) {
    for (const more of [{}, { include: ['config', 'x', './'] }, { within: at.root }]) {
      const { files, excluded } = await selectFiles(join(at.root, chosen), options(at, more));
      assert.deepEqual([files, excluded], [[], [{ path: './', reason: { kind: 'repositoryData' } }]], chosen);
    }
  }
});

/** The Git folder has a name of its own, and what a linked working tree in `main` needs. */
function plantGitFolder(folder: string): void {
  plantRepository(dirname(folder));
  renameSync(join(dirname(folder), '.git'), folder);
  plant(folder, {
    'objects/ab/cd': 'code',
    'worktrees/main/HEAD': 'ref: refs/heads/main\n',
    'worktrees/main/commondir': '../..\n',
  });
}

test('F207 a Git folder stays here and is named, whatever its name, and working trees beside and in it go', async (t) => {
  for (const [name, inside] of [
    ['.bare', ''],
    ['code.git', ''],
    ['deep/in/git data', ''],
    ['.bare', '.bare/'],
  ] as const) {
    const at = testTree(t);
    plantGitFolder(join(at.root, name));
    plant(at.root, {
      '.git': `gitdir: ./${name}\n`,
      readme: '',
      [`${inside}main/.git`]: `gitdir: ${join(at.root, name)}/worktrees/main\n`,
      [`${inside}main/app.ts`]: '',
    });
    const nested = inside === '' ? ['main/app.ts'] : [];
    const named = [`${name}/: repositoryData`];
    assert.deepEqual(await paths(at), ['readme']);
    assert.deepEqual(await excluded(at), [...named, ...nested.map(() => 'main/: nestedRepository')]);
    const all = { includeNestedRepositories: true, include: [`${name}/`, `${name}/HEAD`, 'main/'] };
    assert.deepEqual(await paths(at, all), [...nested, 'readme']);
    assert.deepEqual(await excluded(at, all), named);
    assert.deepEqual(await paths({ ...at, root: join(at.root, inside, 'main') }), ['app.ts']);
    rmSync(join(at.root, '.git'));
    for (const below of ['', 'objects/ab', 'refs', 'worktrees/main'])
      assert.deepEqual(
        await excluded({ ...at, root: join(at.root, name, below) }),
        ['./: repositoryData'],
        below,
      );
  }
});

test('F207 of a checkout of the repo tool, .repo stays here and is named; projects go as nested repositories', async (t) => {
  const at = testTree(t);
  plant(at.root, { '.repo/manifest.xml': '', '.repo/project.list': '', Makefile: '', 'app/main.c': '' });
  plantRepository(join(at.root, '.repo/repo'));
  plantGitFolder(join(at.root, '.repo/projects/app.git'));
  plant(at.root, { 'app/.git': `gitdir: ../.repo/projects/app.git\n` });
  assert.deepEqual(await paths(at), ['Makefile']);
  assert.deepEqual(await excluded(at), ['.repo/: repositoryData', 'app/: nestedRepository']);
  const all = { includeNestedRepositories: true, include: ['.repo/', '.repo/manifest.xml'] };
  assert.deepEqual(await paths(at, all), ['Makefile', 'app/main.c']);
});

test('F207 a folder that only looks like a Git folder is uploaded as Git sends it', async (t) => {
  const at = testTree(t);
  plantRepository(at.root);
  const files = [
    'a/HEAD',
    'a/objects/x',
    'a/refs/x',
    'b/HEAD',
    'b/objects/x',
    'b/refs',
    'c/objects/x',
    'c/refs/x',
  ];
  plant(at.root, {
    ...Object.fromEntries(files.map((path) => [path, ''])),
    'b/HEAD': 'ref: refs/heads/main\n',
  });
  assert.deepEqual(await sameAsGit(at), files);
});

test('F7 pointers of Git LFS are counted, and nothing that looks alike', async (t) => {
  const at = testTree(t);
  const pointer = (digits: string): string =>
    `version https://git-lfs.github.com/spec/v1\noid sha256:${'7a'.repeat(32)}\nsize ${digits}\n`;
  plant(at.root, {
    'a.bin': pointer('1'),
    'b.bin': pointer('123456789012'),
    'c.bin': pointer('1').replace('git-lfs', 'git-xyz'),
    'd.bin': pointer('1').repeat(2),
    'e.bin': pointer('1').slice(0, 60),
    'f.bin': { link: 'a.bin' },
  });
  const { files } = await selectFiles(at.root, options(at));
  assert.deepEqual(
    files.filter(({ isLfsPointer }) => isLfsPointer).map(({ path }) => path),
    ['a.bin', 'b.bin'],
  );
  assert.equal(toCoverage({ files, excluded: [], unreadIndexes: [] }, 5, 0).lfsPointers, 2);
});

test('F8 F9 links are reported and not followed, in a loop or to the outside', withLinks, async (t) => {
  const at = testTree(t);
  plant(at.home, { 'private/key': 'secret' });
  plant(at.root, { 'a/b/up': { link: '../..' }, 'a/self': { link: 'self' }, 'a/file': '' });
  plant(at.root, {
    key: { link: join(at.home, 'private/key') },
    private: { link: join(at.home, 'private') },
  });
  assert.deepEqual(await paths(at, { include: ['key', 'private/', 'private/key'] }), ['a/file']);
  assert.deepEqual(await excluded(at), ['a/b/up: link', 'a/self: link', 'key: link', 'private: link']);
});

test('F10 a folder that becomes a link during the walk is rejected', withLinks, async (t) => {
  const at = testTree(t);
  plant(at.home, { 'private/key': 'secret' });
  plant(at.root, { 'a/inside': '', b: '' });
  const list = fs.readdirSync as (path: string, options?: unknown) => unknown;
  t.mock.method(fs, 'readdirSync', (path: string, options: unknown) => {
    if (path === join(at.root, 'a')) {
      renameSync(path, join(at.home, 'was-a'));
      symlinkSync(join(at.home, 'private'), path);
    }
    return list(path, options);
  });
  syncBuiltinESMExports();
  t.after(() => {
    t.mock.restoreAll();
    syncBuiltinESMExports();
  });
  const { files, excluded } = await select(at);
  assert.ok(existsSync(join(at.root, 'a/key')), 'the swap took place');
  assert.deepEqual(files, [{ path: 'b', bytes: 0, mode: 0o644 }]);
  assert.deepEqual(excluded, [{ path: 'a/', reason: { kind: 'outsideRoot' } }]);
});

test('F11 FIFOs and sockets are reported and never opened', withPipes, async (t) => {
  const at = testTree(t);
  plant(at.root, { a: '' });
  assert.equal(spawnSync('mkfifo', [join(at.root, 'pipe'), join(at.root, '.gitignore')]).status, 0);
  const server = createServer().listen(join(at.root, 'socket'));
  t.after(() => server.close());
  assert.deepEqual(await excluded(at, { include: ['pipe', 'socket'] }), [
    '.gitignore: special',
    'pipe: special',
    'socket: special',
  ]);
  assert.deepEqual(await paths(at), ['a']);
});

test(
  'F13 two names that differ in Unicode normalisation are both selected',
  { skip: process.platform === 'darwin' && 'macOS takes both names for one' },
  async (t) => {
    const at = testTree(t);
    plantRepository(at.root);
    plant(at.root, {
      'caf\u00e9': '1',
      'cafe\u0301': '2',
      'x/caf\u00e9': '',
      'x/cafe\u0301': '',
      'x/.gitignore': 'cafe\u0301\n',
    });
    assert.deepEqual(await sameAsGit(at), ['cafe\u0301', 'caf\u00e9', 'x/.gitignore', 'x/caf\u00e9']);
  },
);

test(
  'F14 a newline in a name is kept, a name that is not UTF-8 is reported',
  { skip: process.platform !== 'linux' && 'only Linux keeps names that are not UTF-8' },
  async (t) => {
    const at = testTree(t);
    plantRepository(at.root);
    plant(at.root, { 'two\nlines': '', '.gitignore': Buffer.from([0x7a, 0xff, 0x0a]) });
    const odd = (...bytes: number[]): Buffer =>
      Buffer.concat([Buffer.from(`${at.root}/`), Buffer.from(bytes)]);
    writeFileSync(odd(0x61, 0xff), '');
    writeFileSync(odd(0x7a, 0xff), '');
    mkdirSync(odd(0x64, 0xe9));
    assert.deepEqual(await paths(at), ['.gitignore', 'two\nlines']);
    assert.deepEqual(await excluded(at), [
      'a\\xff: unusableName',
      'd\\xe9/: unusableName',
      'z\\xff: gitignore .gitignore:1 z\ufffd',
    ]);
  },
);

test('F14 names that would leave the folder on another system are reported', withOddNames, async (t) => {
  const at = testTree(t);
  plant(at.root, { 'C:/x': '', '..\\x': '', '\\x': '', 'a/..\\..\\x': '', 'a:b': '', 'a\\b': '' });
  assert.deepEqual(await paths(at), ['a:b', 'a\\b']);
  assert.deepEqual(await excluded(at), [
    '..\\x: unusableName',
    'C:/: unusableName',
    '\\x: unusableName',
    'a/..\\..\\x: unusableName',
  ]);
});

test('F17 F18 no program of a repository runs: commands of its configuration, or one called git', async (t) => {
  const at = testTree(t);
  const marker = join(at.home, 'ran');
  const touch = `touch ${marker}`;
  plantRepository(at.root, `\tfsmonitor = "${touch}"\n\thooksPath = hooks\n\tpager = ${touch}\n`);
  const programs = ['git', 'git.cmd', 'git.exe', 'hooks/post-index-change'];
  for (const name of programs) {
    plant(at.root, { [name]: `#!/bin/sh\n${touch}\n` });
    chmodSync(join(at.root, name), 0o755);
  }
  const before = process.env['PATH'];
  process.env['PATH'] = `${at.root}${delimiter}${before ?? ''}`;
  t.after(() => (process.env['PATH'] = before));
  assert.deepEqual(await paths(at), programs);
  assert.ok(!existsSync(marker));
});

test(
  'an unreadable folder, or one with an unreadable ignore file, is excluded and reported',
  withRights,
  async (t) => {
    const at = testTree(t);
    plant(at.root, { a: '', 'locked/x': '', 'half/.gitignore': 'secret\n', 'half/secret': '' });
    chmodSync(join(at.root, 'locked'), 0o000);
    chmodSync(join(at.root, 'half/.gitignore'), 0o000);
    const found = await asNobody(at, async () => excluded(at));
    chmodSync(join(at.root, 'locked'), 0o755);
    assert.deepEqual(found, ['half/: unreadable EACCES half/.gitignore', 'locked/: unreadable EACCES']);
  },
);

test('a folder reached through a link is selected at its real path', withLinks, async (t) => {
  const at = testTree(t);
  plant(at.root, { a: '' });
  const link = join(at.home, 'link');
  symlinkSync(at.root, link);
  const { root, files } = await selectFiles(link, options(at));
  assert.equal(root, at.root);
  assert.equal(files.length, 1);
});

test('a path that is not a folder is refused', async (t) => {
  const at = testTree(t);
  plant(at.root, { a: '' });
  for (const path of [join(at.root, 'a'), join(at.root, 'none')]) {
    await assert.rejects(
      selectFiles(path, options(at)),
      (error) => error instanceof AssessmentError && error.kind === 'notAFolder',
    );
  }
});

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { AssessmentError } from '../../../src/core/errors.ts';
import { type Selection, type SelectOptions, selectFiles } from '../../../src/core/upload/selection.ts';
import {
  asNobody,
  gitSelects,
  gitVersion,
  makePlace,
  options,
  type Place,
  plant,
  plantRepository,
} from './trees.ts';
import { cpuMs } from '../cpuTime.ts';

function place(t: TestContext): Place {
  const made = makePlace();
  t.after(() => made.remove());
  return made;
}

async function select(at: Place, more: Partial<SelectOptions> = {}): Promise<Selection> {
  return selectFiles(at.root, options(at, more));
}

async function paths(at: Place, more: Partial<SelectOptions> = {}): Promise<string[]> {
  return (await select(at, more)).files.map(({ path }) => path);
}

/** What stays out, one line each, as a person would note it down. */
async function leftOut(at: Place, more: Partial<SelectOptions> = {}): Promise<string[]> {
  return (await select(at, more)).leftOut.map(({ path, reason }) => {
    switch (reason.kind) {
      case 'ignored':
        return `${path}: ${reason.rule.source} ${reason.rule.file ?? ''}:${reason.rule.line} ${reason.rule.pattern}`;
      case 'special':
        return `${path}: ${reason.type}`;
      case 'unreadable':
        return `${path}: unreadable ${reason.code} ${reason.file ?? ''}`.trimEnd();
      default:
        return `${path}: ${reason.kind}`;
    }
  });
}

async function sameAsGit(at: Place, folder = at.root): Promise<string[]> {
  const ours = (await selectFiles(folder, options(at))).files.map(({ path }) => path);
  assert.deepEqual(ours, gitSelects(at, folder));
  return ours;
}

test('files come with size and mode, in the byte order of their paths', async (t) => {
  const at = place(t);
  plant(at.root, { 'b/c': 'four', 'b-a': '', é: '', '😀': '', '\uffee': '', Z: '', a: '' });
  chmodSync(join(at.root, 'b/c'), 0o750);
  const { files, bytes, root } = await select(at);
  assert.deepEqual(
    files.map(({ path }) => path),
    ['Z', 'a', 'b-a', 'b/c', 'é', '\uffee', '😀'],
  );
  assert.deepEqual(files[3], { path: 'b/c', bytes: 4, mode: 0o755 });
  assert.deepEqual(files[1], { path: 'a', bytes: 0, mode: 0o644 });
  assert.equal(bytes, 4);
  assert.equal(root, at.root);
});

test('F1 the deepest rule wins', async (t) => {
  const at = place(t);
  plantRepository(at.root);
  plant(at.root, {
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
  assert.deepEqual(await leftOut(at), [
    'a.log: gitignore .gitignore:1 *.log',
    'sub/deeper/keep.log: gitignore sub/deeper/.gitignore:1 keep.log',
    'sub/other.log: gitignore .gitignore:1 *.log',
  ]);
});

test('F1 a folder that takes everything out and brings some back', async (t) => {
  const at = place(t);
  plantRepository(at.root);
  plant(at.root, {
    'cache/.gitignore': '*\n!.gitignore\n!/kept/\n!/kept/*\n',
    'cache/x': '',
    'cache/kept/y': '',
    'cache/z/kept/y': '',
  });
  assert.deepEqual(await sameAsGit(at), ['cache/.gitignore', 'cache/kept/y']);
});

test('F2 a file below an excluded folder stays excluded', async (t) => {
  const at = place(t);
  plantRepository(at.root);
  plant(at.root, {
    '.gitignore': 'build/\n!build/keep.txt\n',
    'build/keep.txt': '',
    'build/.gitignore': '!keep.txt\n',
  });
  assert.deepEqual(await sameAsGit(at), ['.gitignore']);
  assert.deepEqual(await leftOut(at), ['build/: gitignore .gitignore:1 build/']);
});

test('F3 .git/info/exclude is honoured, and weaker than .gitignore', async (t) => {
  const at = place(t);
  plantRepository(at.root);
  plant(at.root, {
    '.git/info/exclude': '# local\nnotes/\n*.tmp\n',
    '.gitignore': '!b.tmp\n',
    'notes/a': '',
    'a.tmp': '',
    'b.tmp': '',
  });
  assert.deepEqual(await sameAsGit(at), ['.gitignore', 'b.tmp']);
  assert.deepEqual(await leftOut(at), [
    'a.tmp: infoExclude .git/info/exclude:3 *.tmp',
    'notes/: infoExclude .git/info/exclude:2 notes/',
  ]);
});

test('F3 a linked working tree has the main repository’s info/exclude', async (t) => {
  const at = place(t);
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

test('F4 the excludes file of the user’s configuration is honoured, with ~', async (t) => {
  const at = place(t);
  plantRepository(at.root);
  plant(at.home, { '.gitconfig': '[core]\n\texcludesFile = ~/mine # not "here"\n', mine: '.idea/\n*.swp\n' });
  plant(at.root, { '.idea/x': '', 'a.swp': '', a: '' });
  assert.deepEqual(await sameAsGit(at), ['a']);
  assert.deepEqual(await leftOut(at), [
    `.idea/: coreExcludesFile ${at.home}/mine:1 .idea/`,
    `a.swp: coreExcludesFile ${at.home}/mine:2 *.swp`,
  ]);
});

test('F4 without a setting, the XDG default counts, also outside of a repository', async (t) => {
  const at = place(t);
  plant(at.home, { '.config/git/ignore': '*.swp\n', 'elsewhere/git/ignore': 'a\n' });
  plant(at.root, { 'a.swp': '', a: '' });
  assert.deepEqual(await paths(at), ['a']);
  const surroundings = {
    home: at.home,
    env: { XDG_CONFIG_HOME: join(at.home, 'elsewhere'), GIT_CONFIG_NOSYSTEM: '1' },
  };
  assert.deepEqual(await paths(at, { surroundings }), ['a.swp']);
});

test('F4 included configuration counts, under its condition', async (t) => {
  const at = place(t);
  plantRepository(at.root);
  plant(at.home, {
    '.gitconfig': `[include]\n\tpath = more\n[includeIf "gitdir:${dirname(at.root)}/"]\n\tpath = work\n[includeIf "gitdir:/no/where/"]\n\tpath = never\n`,
    more: '[core]\n\texcludesfile = ~/a-rules\n',
    work: '[core]\n\texcludesfile = ~/b-rules\n',
    never: '[core]\n\texcludesfile = ~/c-rules\n',
    'a-rules': 'a\n',
    'b-rules': 'b\n',
    'c-rules': 'c\n',
  });
  plant(at.root, { a: '', b: '', c: '' });
  assert.deepEqual(await sameAsGit(at), ['a', 'c']);
});

test('F5 what is ignored stays out with its rule, and only a person brings it back', async (t) => {
  const at = place(t);
  plantRepository(at.root);
  plant(at.root, {
    '.gitignore': 'config.local\ndist/\n',
    'config.local': '',
    'dist/a/one.js': '',
    'dist/a/two.js': '',
    'dist/b.js': '',
    '.whiteboxignore': '!config.local\n!dist/\n',
  });
  const exclude = ['!config.local', '!/dist/'];
  assert.deepEqual(await paths(at, { exclude }), ['.gitignore', '.whiteboxignore']);
  assert.deepEqual(await paths(at, { include: ['config.local', 'dist/a/one.js'] }), [
    '.gitignore',
    '.whiteboxignore',
    'config.local',
    'dist/a/one.js',
  ]);
  assert.deepEqual(await leftOut(at, { include: ['dist/a/one.js'] }), [
    'config.local: gitignore .gitignore:1 config.local',
    'dist/a/two.js: gitignore .gitignore:2 dist/',
    'dist/b.js: gitignore .gitignore:2 dist/',
  ]);
  assert.deepEqual((await paths(at, { include: ['dist/'] })).slice(2), [
    'dist/a/one.js',
    'dist/a/two.js',
    'dist/b.js',
  ]);
});

test('F5 .whiteboxignore and settings leave out more, with their own negations', async (t) => {
  const at = place(t);
  plantRepository(at.root);
  plant(at.root, {
    '.whiteboxignore': '*.md\n!README.md\n',
    'README.md': '',
    'a.md': '',
    'docs/.whiteboxignore': '!b.md\n',
    'docs/b.md': '',
    'data/x.csv': '',
    'data/y.csv': '',
  });
  assert.deepEqual(await paths(at, { exclude: ['data/*', '!y.csv', '!*.md'] }), [
    '.whiteboxignore',
    'README.md',
    'data/y.csv',
    'docs/.whiteboxignore',
    'docs/b.md',
  ]);
  assert.deepEqual(await leftOut(at, { exclude: ['', 'data/*'] }), [
    'a.md: whiteboxignore .whiteboxignore:1 *.md',
    'data/x.csv: setting :2 data/*',
    'data/y.csv: setting :2 data/*',
  ]);
});

test('F6 a damaged or missing .git and a deleted tracked file change nothing', async (t) => {
  const at = place(t);
  plantRepository(at.root);
  plant(at.root, {
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

test('F7 nested repositories and submodules stay out and are reported', async (t) => {
  const at = place(t);
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
  assert.deepEqual(await leftOut(at), ['sub/: nestedRepository', 'vendor/lib/: nestedRepository']);
  assert.deepEqual(await paths(at, { includeNestedRepositories: true }), [
    'empty/w.c',
    'not/z.c',
    'sub/y.c',
    'vendor/lib/x.c',
  ]);
  assert.deepEqual(await paths(at, { include: ['sub/'] }), ['empty/w.c', 'not/z.c', 'sub/y.c']);
});

test('F7 in a nested repository its own rules count, and the outer ones still', async (t) => {
  const at = place(t);
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

test('F8 a loop of links ends, and is reported', async (t) => {
  const at = place(t);
  plant(at.root, { 'a/b/up': { link: '../..' }, 'a/self': { link: 'self' }, 'a/file': '' });
  assert.deepEqual(await paths(at), ['a/file']);
  assert.deepEqual(await leftOut(at), ['a/b/up: link', 'a/self: link']);
});

test('F9 a link to the outside is reported and not followed', async (t) => {
  const at = place(t);
  plant(at.home, { 'private/key': 'secret' });
  plant(at.root, {
    key: { link: join(at.home, 'private/key') },
    private: { link: join(at.home, 'private') },
  });
  assert.deepEqual(await paths(at, { include: ['key', 'private/', 'private/key'] }), []);
  assert.deepEqual(await leftOut(at), ['key: link', 'private: link']);
});

test('F10 a folder that becomes a link while the walk goes on is rejected', async (t) => {
  const at = place(t);
  plant(at.home, { 'private/key': 'secret' });
  plant(at.root, { 'a/inside': '', b: '' });
  // The walk asks its signal before it lists a folder: the moment to swap it.
  const { signal } = new AbortController();
  let asked = 0;
  signal.throwIfAborted = () => {
    if (existsSync(join(at.root, 'a/inside')) && asked++ === 2) {
      renameSync(join(at.root, 'a'), join(at.home, 'was-a'));
      symlinkSync(join(at.home, 'private'), join(at.root, 'a'));
    }
  };
  const { files, leftOut } = await select(at, { signal });
  assert.ok(existsSync(join(at.root, 'a/key')), 'the swap took place');
  assert.deepEqual(files, [{ path: 'b', bytes: 0, mode: 0o644 }]);
  assert.deepEqual(leftOut, [{ path: 'a/', reason: { kind: 'outsideRoot' } }]);
});

test(
  'F11 FIFOs and sockets are reported and never opened',
  { skip: process.platform === 'win32' },
  async (t) => {
    const at = place(t);
    plant(at.root, { a: '' });
    assert.equal(spawnSync('mkfifo', [join(at.root, 'pipe'), join(at.root, '.gitignore')]).status, 0);
    const server = createServer().listen(join(at.root, 'socket'));
    t.after(() => server.close());
    assert.deepEqual(await leftOut(at, { include: ['pipe', 'socket'] }), [
      '.gitignore: fifo',
      'pipe: fifo',
      'socket: socket',
    ]);
    assert.deepEqual(await paths(at), ['a']);
  },
);

test('F12 letter case counts as core.ignorecase says', async (t) => {
  const at = place(t);
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

test(
  'F13 two names that differ in Unicode normalisation are both kept',
  { skip: process.platform === 'darwin' },
  async (t) => {
    const at = place(t);
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
  { skip: process.platform !== 'linux' },
  async (t) => {
    const at = place(t);
    plantRepository(at.root);
    plant(at.root, { 'two\nlines': '', '.gitignore': Buffer.from([0x7a, 0xff, 0x0a]) });
    const odd = (...bytes: number[]): Buffer =>
      Buffer.concat([Buffer.from(`${at.root}/`), Buffer.from(bytes)]);
    writeFileSync(odd(0x61, 0xff), '');
    writeFileSync(odd(0x7a, 0xff), '');
    mkdirSync(odd(0x64, 0xe9));
    assert.deepEqual(await paths(at), ['.gitignore', 'two\nlines']);
    assert.deepEqual(await leftOut(at), [
      'a\\xff: unusableName',
      'd\\xe9/: unusableName',
      'z\\xff: gitignore .gitignore:1 z\ufffd',
    ]);
  },
);

test(
  'F14 names that would leave the folder on another system are reported',
  { skip: process.platform === 'win32' },
  async (t) => {
    const at = place(t);
    plant(at.root, { 'C:/x': '', '..\\x': '', '\\x': '', 'a/..\\..\\x': '', 'a:b': '', 'a\\b': '' });
    assert.deepEqual(await paths(at), ['a:b', 'a\\b']);
    assert.deepEqual(await leftOut(at), [
      '..\\x: unusableName',
      'C:/: unusableName',
      '\\x: unusableName',
      'a/..\\..\\x: unusableName',
    ]);
  },
);

test('F15 stars, question marks and ranges mean what they mean to git', async (t) => {
  const at = place(t);
  plantRepository(at.root);
  plant(at.root, {
    '.gitignore': '?\n???x\n[à-é]y\n[!a-z]z\nq/**/r\ns/***/t\nu*v*w\n[[:digit:]]*\n',
    a: '', 'é': '', 'éx': '', 'aéx': '', 'éy': '', ay: '', az: '', Az: '', 'q/r': '', 'q/1a/r': '', 's/b/c/t': '', uvvw: '', '1x': '',
  }); // prettier-ignore
  await sameAsGit(at);
});

test('F15 stars beside a name, which git versions read differently, leave out what either does', async (t) => {
  const at = place(t);
  plantRepository(at.root);
  const files = ['foobar', 'foox/bar', 'foox/y/bar', 'foo/bar', 'xfoo/bar', 'foo.txt'];
  plant(at.root, { '.gitignore': '/foo**/bar\n', ...Object.fromEntries(files.map((file) => [file, ''])) });
  assert.deepEqual(await paths(at), ['.gitignore', 'foo.txt', 'xfoo/bar']);
  if (gitVersion() < 252) await sameAsGit(at);
  plant(at.root, { '.gitignore': '*\n!*/\n!/foo**/bar\n' });
  assert.deepEqual(await paths(at), ['foo/bar', 'foox/bar']);
});

test('F15 stars beside a name and a doubled final slash mean the folder of that name', async (t) => {
  const at = place(t);
  plantRepository(at.root);
  plant(at.root, { '.gitignore': 'ab**//\n', 'ab/x': '', 'abc/x': '', 'c/ab/x': '', 'd/ab': '' });
  assert.deepEqual(await paths(at), ['.gitignore', 'abc/x', 'c/ab/x', 'd/ab']);
  if (gitVersion() < 252) await sameAsGit(at);
});

test('F15 a rule that cannot be answered as git does leaves out more, and says so', async (t) => {
  const at = place(t);
  plantRepository(at.root);
  plant(at.root, {
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
  const at = place(t);
  plantRepository(at.root);
  plant(at.root, {
    '.gitignore': '\ufeffa\r\nb\\ \r\nc  \r\nd\0e\r\n\r\n#f\r\n\\#f\r\ng\r\r\nh\r',
    a: '', 'b ': '', b: '', c: '', d: '', de: '', '#f': '', f: '', g: '', 'g\r': '', h: '', 'h\r': '',
  }); // prettier-ignore
  assert.deepEqual(await sameAsGit(at), ['.gitignore', 'b', 'de', 'f', 'g', 'h\r']);
});

test('F16 an ignore file of many or hostile rules is answered in bounded time', async (t) => {
  const at = place(t);
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
  const at = place(t);
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

test('F17 what a repository’s configuration would run never runs', async (t) => {
  const at = place(t);
  const marker = join(at.home, 'ran');
  plantRepository(
    at.root,
    `\tfsmonitor = "touch ${marker}"\n\thooksPath = hooks\n\tpager = touch ${marker}\n`,
  );
  plant(at.root, { 'hooks/post-index-change': `#!/bin/sh\ntouch ${marker}\n`, a: '' });
  chmodSync(join(at.root, 'hooks/post-index-change'), 0o755);
  assert.deepEqual(await paths(at), ['a', 'hooks/post-index-change']);
  assert.ok(!existsSync(marker));
});

test('F18 a program called git, in the folder or first on the path, never runs', async (t) => {
  const at = place(t);
  const marker = join(at.home, 'ran');
  plantRepository(at.root);
  for (const name of ['git', 'git.exe', 'git.cmd']) {
    plant(at.root, { [name]: `#!/bin/sh\ntouch ${marker}\n` });
    chmodSync(join(at.root, name), 0o755);
  }
  const before = process.env['PATH'];
  process.env['PATH'] = `${at.root}:${before ?? ''}`;
  t.after(() => (process.env['PATH'] = before));
  assert.deepEqual(await paths(at), ['git', 'git.cmd', 'git.exe']);
  assert.ok(!existsSync(marker));
});

test('F19 below a repository’s root, the rules of the folders above apply', async (t) => {
  const at = place(t);
  plantRepository(at.root);
  plant(at.root, {
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
  const { files, leftOut } = await selectFiles(folder, options(at));
  assert.deepEqual(
    files.map(({ path }) => path),
    ['src/gen'],
  );
  assert.deepEqual(
    leftOut.map(({ path, reason }) => [path, reason.kind === 'ignored' ? reason.rule.file : '']),
    [
      ['a.o', join(at.root, '.gitignore')],
      ['a.pdf', join(at.root, '.whiteboxignore')],
      ['gen', join(at.root, '.gitignore')],
      ['local', join(at.root, '.git/info/exclude')],
      ['tmp/', join(at.root, 'packages/.gitignore')],
    ],
  );
});

test('F19 a folder that its repository ignores stays out as a whole', async (t) => {
  const at = place(t);
  plantRepository(at.root);
  plant(at.root, { '.gitignore': 'out/\n', 'out/one/a': '', 'out/one/.gitignore': '!*\n', 'out/one/b': '' });
  const folder = join(at.root, 'out/one');
  assert.deepEqual(gitSelects(at, folder), []);
  const { files, leftOut } = await selectFiles(folder, options(at));
  assert.deepEqual(files, []);
  assert.deepEqual(
    leftOut.map(({ path }) => path),
    ['./'],
  );
  const chosen = await selectFiles(folder, options(at, { include: ['a'] }));
  assert.deepEqual(
    chosen.files.map(({ path }) => path),
    ['a'],
  );
});

test('F20 without a repository the same ignore files count', async (t) => {
  const at = place(t);
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

test('a .gitignore that is a link or a folder holds no rules, as for git', async (t) => {
  const at = place(t);
  plantRepository(at.root);
  plant(at.root, { rules: 'a\n', '.gitignore': { link: 'rules' }, a: '', 'x/.gitignore/y': '', 'x/a': '' });
  assert.deepEqual(await sameAsGit(at), ['a', 'rules', 'x/.gitignore/y', 'x/a']);
});

test(
  'a folder that cannot be read, or whose ignore file cannot, stays out and is reported',
  { skip: process.platform === 'win32' },
  async (t) => {
    const at = place(t);
    plant(at.root, { a: '', 'locked/x': '', 'half/.gitignore': 'secret\n', 'half/secret': '' });
    chmodSync(join(at.root, 'locked'), 0o000);
    chmodSync(join(at.root, 'half/.gitignore'), 0o000);
    const found = await asNobody(at, async () => leftOut(at));
    chmodSync(join(at.root, 'locked'), 0o755);
    assert.deepEqual(found, ['half/: unreadable EACCES half/.gitignore', 'locked/: unreadable EACCES']);
  },
);

test('a folder reached through a link is selected where it really is', async (t) => {
  const at = place(t);
  plant(at.root, { a: '' });
  const link = join(at.home, 'link');
  symlinkSync(at.root, link);
  const { root, files } = await selectFiles(link, options(at));
  assert.equal(root, at.root);
  assert.equal(files.length, 1);
});

test('what is not a folder is refused', async (t) => {
  const at = place(t);
  plant(at.root, { a: '' });
  for (const path of [join(at.root, 'a'), join(at.root, 'none')]) {
    await assert.rejects(
      selectFiles(path, options(at)),
      (error) => error instanceof AssessmentError && error.kind === 'notAFolder',
    );
  }
});

test('a cancelled selection ends with the signal’s reason, and progress counts up', async (t) => {
  const at = place(t);
  plant(
    at.root,
    Object.fromEntries(Array.from({ length: 3000 }, (_, index) => [`d${index % 300}/f${index}`, ''])),
  );
  assert.equal(readdirSync(at.root).length, 300);
  const seen: number[] = [];
  await select(at, { onProgress: (files) => seen.push(files) });
  assert.equal(seen.at(-1), 3000);
  assert.deepEqual(
    seen,
    seen.toSorted((a, b) => a - b),
  );
  const controller = new AbortController();
  const started = select(at, { signal: controller.signal });
  controller.abort();
  await assert.rejects(started, { name: 'AbortError' });
});

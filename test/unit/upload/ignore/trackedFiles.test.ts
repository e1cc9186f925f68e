import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { excluded, paths } from '../selecting.ts';
import { git, gitTracksIgnored, named } from '../tracking.ts';
import { asNobody, options, type TestTree, plant, plantRepository, testTree } from '../trees.ts';
import { selectFiles } from '../../../../src/core/upload/select/selectFiles.ts';
import { withLinks, withPipes, withRights } from '../../core/systemSkips.ts';

const files = {
  '.gitignore': '*.log\ndist/\n',
  'app.js': '',
  'kept.log': '',
  'new.log': '',
  'dist/one.js': '',
  'dist/two.js': '',
  'dist/lib/three.js': '',
  'dist/new/four.js': '',
};
const tracked = ['app.js', 'kept.log', 'dist/one.js', 'dist/lib/three.js'];
const ignored = ['dist/lib/three.js', 'dist/one.js', 'kept.log'];

/** The repository tracks some ignored files. */
function repository(t: TestContext, ...init: string[]): TestTree {
  const at = testTree(t);
  git(at, ['init', '-q', ...init]);
  plant(at.root, files);
  git(at, ['add', '-f', '--', '.gitignore', ...tracked]);
  return at;
}

const indexOf = (at: TestTree): string => join(at.root, '.git/index');

test('F5 F167 ignored files that Git tracks are excluded and named with the rule; only the user includes them', async (t) => {
  const at = repository(t);
  assert.deepEqual(gitTracksIgnored(at), ignored);
  plant(at.root, { '.whiteboxignore': '!kept.log\n!dist/\n' });
  const own = ['.gitignore', '.whiteboxignore', 'app.js'];
  assert.deepEqual(await paths(at, { exclude: [['!kept.log', '!dist/']] }), own);
  assert.deepEqual(await excluded(at), [
    'dist/: gitignore .gitignore:2 dist/',
    'dist/lib/three.js: tracked, gitignore .gitignore:2 dist/',
    'dist/one.js: tracked, gitignore .gitignore:2 dist/',
    'kept.log: tracked, gitignore .gitignore:1 *.log',
    'new.log: gitignore .gitignore:1 *.log',
  ]);
  assert.deepEqual(await paths(at, { include: ignored }), [...own, ...ignored].sort());
  assert.deepEqual((await named(at, at.root, { include: ['dist/one.js'] })).tracked, [
    'dist/lib/three.js',
    'kept.log',
  ]);
});

test('F167 what .whiteboxignore, settings, or the user’s excludes file exclude, too, is not among them', async (t) => {
  const at = repository(t);
  const names = async (more = {}): Promise<string[]> => (await named(at, at.root, more)).tracked;
  assert.deepEqual(await names({ exclude: [['kept.log']] }), ['dist/lib/three.js', 'dist/one.js']);
  assert.deepEqual(await names({ exclude: [['dist']] }), ['kept.log']);
  plant(at.root, { 'dist/.whiteboxignore': 'lib/\n' });
  assert.deepEqual(await names(), ['dist/one.js', 'kept.log']);
  plant(at.home, { '.config/git/ignore': 'one.js\n' });
  assert.deepEqual(await names(), ['kept.log']);
  plant(at.home, { '.config/git/ignore': '*.log\n' });
  assert.deepEqual(await excluded(at), [
    'dist/: gitignore .gitignore:2 dist/',
    'dist/one.js: tracked, gitignore .gitignore:2 dist/',
    `kept.log: coreExcludesFile ${at.home}/.config/git/ignore:1 *.log`,
    `new.log: coreExcludesFile ${at.home}/.config/git/ignore:1 *.log`,
  ]);
});

test(
  'F167 tracked files are named only where a regular file of that name could be uploaded',
  withLinks,
  async (t) => {
    const at = repository(t);
    plant(at.root, { 'link.log': { link: 'app.js' }, 'sub.log/file': '' });
    git(at, ['add', '-f', 'link.log', 'sub.log/file']);
    rmSync(join(at.root, 'kept.log'));
    rmSync(join(at.root, 'dist/one.js'));
    mkdirSync(join(at.root, 'dist/one.js'));
    assert.deepEqual((await named(at)).tracked, ['dist/lib/three.js', 'sub.log/file']);
  },
);

test('F167 a subfolder, and one that is ignored as a whole, name the files that Git tracks in them', async (t) => {
  const at = repository(t);
  assert.deepEqual(await named(at, join(at.root, 'dist')), {
    tracked: ['lib/three.js', 'one.js'],
    problems: [],
  });
  assert.deepEqual((await named(at, join(at.root, 'dist/new'))).tracked, []);
  const excluded = { within: at.root, exclude: [['dist/']] };
  assert.deepEqual((await named(at, join(at.root, 'dist'), excluded)).tracked, []);
});

test('F167 an included nested repository names its own tracked files', async (t) => {
  const at = testTree(t);
  const nested = join(at.root, 'vendor/lib');
  git(at, ['init', '-q']);
  mkdirSync(nested, { recursive: true });
  git(at, ['init', '-q'], nested);
  plant(nested, { '.gitignore': '*.gen\n', 'a.gen': '', 'b.gen': '' });
  git(at, ['add', '-f', 'a.gen'], nested);
  const included = { includeNestedRepositories: true };
  assert.deepEqual((await named(at, at.root, included)).tracked, ['vendor/lib/a.gen']);
  writeFileSync(join(nested, '.git/index'), 'DIRC');
  assert.deepEqual((await named(at, at.root, included)).problems, ['vendor/lib/.git/index: damaged']);
});

test('F7 a submodule that is not checked out is named, and no other', async (t) => {
  const at = repository(t);
  const commit = 'a'.repeat(40);
  const submodules = 'dist/lib/own libs/empty libs/missing libs/présent libs/with-files out/own'.split(' ');
  for (const path of submodules)
    git(at, ['update-index', '--add', '--cacheinfo', `160000,${commit},${path}`]);
  plantRepository(join(at.root, 'libs/présent'));
  plant(at.root, { 'libs/with-files/a.c': '' });
  mkdirSync(join(at.root, 'libs/empty'));
  const names = async (folder = at.root, more = {}): Promise<string[]> =>
    (await selectFiles(folder, options(at, more))).excluded.flatMap(({ path, reason }) =>
      ['submodule', 'nestedRepository'].includes(reason.kind) ? [`${path} ${reason.kind}`] : [],
    );
  const missing = ['dist/lib/own/', 'libs/empty/', 'libs/missing/', 'out/own/'].map(
    (path) => `${path} submodule`,
  );
  assert.deepEqual(await names(), ['libs/présent/ nestedRepository', ...missing]);
  assert.deepEqual(await names(join(at.root, 'libs')), [
    'présent/ nestedRepository',
    'empty/ submodule',
    'missing/ submodule',
  ]);
  plantRepository(join(at.root, 'libs/missing'));
  rmSync(indexOf(at));
  assert.deepEqual(await names(), ['libs/missing/ nestedRepository', 'libs/présent/ nestedRepository']);
});

test('F7 F167 an ignored folder that is another repository is listed once, without the files of either', async (t) => {
  const at = repository(t);
  git(at, ['init', '-q'], join(at.root, 'dist'));
  assert.deepEqual(await excluded(at), [
    'dist/: gitignore .gitignore:2 dist/',
    'kept.log: tracked, gitignore .gitignore:1 *.log',
    'new.log: gitignore .gitignore:1 *.log',
  ]);
});

test('F167 where Git ignores case, so do the names of tracked files', async (t) => {
  const at = repository(t);
  git(at, ['config', 'core.ignorecase', 'true']);
  renameSync(join(at.root, 'kept.log'), join(at.root, 'KEPT.Log'));
  renameSync(join(at.root, 'dist'), join(at.root, 'Dist'));
  assert.deepEqual((await named(at)).tracked, ['Dist/lib/three.js', 'Dist/one.js', 'KEPT.Log']);
  git(at, ['config', 'core.ignorecase', 'false']);
  assert.deepEqual((await named(at)).tracked, []);
});

for (const [what, prepare] of [
  ['version 3, with an intent to add', (at: TestTree) => git(at, ['add', '-f', '-N', 'new.log'])],
  [
    'unmerged files',
    (at: TestTree) => {
      const blob = git(at, ['hash-object', '-w', 'app.js']).trim();
      const stages = [1, 2, 3].map((stage) => `100644 ${blob} ${String(stage)}\tkept.log\n`);
      git(at, ['update-index', '--index-info'], at.root, `0 ${blob}\tkept.log\n${stages.join('')}`);
    },
  ],
  ['files that a sparse checkout leaves out', (at: TestTree) => makeSparse(at, 'dist')],
  [
    'folders that stand for their files',
    (at: TestTree) => {
      makeSparse(at, '--sparse-index', 'dist/lib');
      assert.ok(readFileSync(indexOf(at)).includes('sdir'));
    },
  ],
  [
    'no checksum',
    (at: TestTree) => {
      const content = readFileSync(indexOf(at));
      writeFileSync(indexOf(at), content.fill(0, content.length - 20));
    },
  ],
] as const) {
  test(`F167 an index with ${what} names what git names`, async (t) => {
    const at = repository(t);
    prepare(at);
    const gits = gitTracksIgnored(at);
    assert.ok(gits.length > 0);
    assert.deepEqual(await named(at), { tracked: gits, problems: [] });
  });
}

test('F168 ignore files that a sparse checkout excludes, of which Git reads the rules, are named', async (t) => {
  const at = repository(t);
  plant(at.root, {
    'lib/.gitignore': 'x\n',
    'lib/a.js': '',
    'lib/x': '',
    'far/.gitignore': 'y\n',
    'b/.gitignore': '',
  });
  git(at, ['add', '-f', 'lib/.gitignore', 'lib/a.js', 'far', 'b']);
  git(at, ['commit', '-q', '-m', 'invented']);
  git(at, ['sparse-checkout', 'set', '--no-cone', '/*', '!.gitignore', '/b/.gitignore', '!/far/']);
  const unread = async (folder = at.root): Promise<string[]> =>
    (await selectFiles(folder, options(at))).unreadRules.map(({ file, problem }) => `${file}: ${problem}`);
  assert.equal(git(at, ['ls-files', '--others', '--exclude-standard']), '', 'Git knows the rules');
  assert.ok((await paths(at)).includes('new.log'));
  assert.deepEqual(await unread(), ['.gitignore: notOnDisk', 'lib/.gitignore: notOnDisk']);
  const above = `${at.root}/.gitignore: notOnDisk`;
  assert.deepEqual(await unread(join(at.root, 'lib')), ['.gitignore: notOnDisk', above]);
  assert.deepEqual(await unread(join(at.root, 'b')), [above]);
  plant(at.root, { '.gitignore': '' });
  assert.deepEqual(await unread(), ['lib/.gitignore: notOnDisk']);
});

/** Makes the checksum fit a changed index. */
function signed(content: Buffer): Buffer {
  const body = content.subarray(0, -20);
  return Buffer.concat([body, createHash('sha1').update(body).digest()]);
}

/** Writes a changed index, with a checksum that fits. */
function change(at: TestTree, content: Buffer, act: (content: Buffer) => unknown): void {
  act(content);
  writeFileSync(indexOf(at), signed(content));
}

/** Puts a named pipe, or a folder, where the index was. */
function replaceIndex(at: TestTree, program: 'mkfifo' | 'mkdir'): void {
  rmSync(indexOf(at));
  spawnSync(program, [indexOf(at)]);
}

/** The checkout has one folder; `far` is out of it. */
function makeSparse(at: TestTree, ...set: readonly string[]): void {
  plant(at.root, { 'far/x.log': '' });
  git(at, ['add', '-f', 'far']);
  git(at, ['commit', '-q', '-m', 'invented']);
  git(at, ['sparse-checkout', 'set', '--cone', ...set]);
}

/** Each change of a good index has the words that are then said of it. */
const problems: readonly (readonly [string, string, (at: TestTree, content: Buffer) => void])[] = [
  ['is split', 'split', (at) => git(at, ['update-index', '--split-index'])],
  [
    'is split, with replaced entries',
    'split',
    (at) => {
      git(at, ['update-index', '--split-index']);
      plant(at.root, { 'app.js': 'changed' });
      git(at, ['add', 'app.js']);
    },
  ],
  ['has a changed byte', 'damaged', (at, content) => writeFileSync(indexOf(at), content.fill('x', 80, 81))],
  ['is cut', 'damaged', (at, content) => truncateSync(indexOf(at), content.length - 30)],
  ['is empty', 'damaged', (at) => truncateSync(indexOf(at), 0)],
  ['has more entries than it says', 'unsupported', (at, content) => change(at, content, (index) => index.writeUInt32BE(1, 8))],
  ['has fewer entries than it says', 'damaged', (at, content) => change(at, content, (index) => index.writeUInt32BE(4e9, 8))],
  ['is of a later version', 'unsupported', (at, content) => change(at, content, (index) => index.writeUInt32BE(5, 4))],
  [
    'has an unknown extension that must be understood',
    'unsupported',
    (at, content) => {
      const extension = Buffer.from('newx\0\0\0\0');
      change(at, Buffer.concat([content.subarray(0, -20), extension, Buffer.alloc(20)]), () => undefined);
    },
  ],
  ['is huge', 'tooLarge', (at) => truncateSync(indexOf(at), 129 << 20)],
  ['has names that grow', 'tooLarge', (at) => writeFileSync(indexOf(at), growingNames())],
  ['is of an unknown object format', 'unsupported', (at) => git(at, ['config', 'extensions.objectFormat', 'sha3'])],
  ['is of another object format', 'damaged', (at) => git(at, ['config', 'extensions.objectFormat', 'sha256'])],
  ['is a folder', 'unreadable', (at) => replaceIndex(at, 'mkdir')],
  ['is a named pipe', 'unreadable', (at) => replaceIndex(at, 'mkfifo')],
  [
    'has a folder for files that are on disk',
    'sparse',
    (at) => {
      makeSparse(at, '--sparse-index', 'dist/lib');
      plant(at.root, { 'far/y.log': '' });
    },
  ],
]; // prettier-ignore

/** The index of version 4 has names of which each is the one before and one more character. */
function growingNames(): Buffer {
  const count = 300_000;
  const entry = Buffer.alloc(65);
  entry.write('a', 63);
  const content = Buffer.alloc(12 + count * entry.length + 20);
  content.write('DIRC');
  content.writeUInt32BE(4, 4);
  content.writeUInt32BE(count, 8);
  for (let index = 0; index < count; index++) {
    entry.writeUInt16BE(Math.min(index + 1, 0xfff), 60);
    entry.copy(content, 12 + index * entry.length);
  }
  return content;
}

for (const [what, problem, prepare] of problems) {
  test(
    `F167 an index that ${what} names none, and says so`,
    what === 'is a named pipe' ? withPipes : {},
    async (t) => {
      const at = repository(t);
      prepare(at, readFileSync(indexOf(at)));
      assert.deepEqual(await named(at), { tracked: [], problems: [`.git/index: ${problem}`] });
      assert.deepEqual(
        (await paths(at)).filter((path) => !path.startsWith('far')),
        ['.gitignore', 'app.js'],
      );
    },
  );
}

test('F167 an index that may not be read names none, and says so', withRights, async (t) => {
  const at = repository(t);
  chmodSync(indexOf(at), 0);
  const found = await asNobody(at, () => named(at));
  assert.deepEqual(found, { tracked: [], problems: ['.git/index: unreadable'] });
});

test('F6 F167 a repository without an index, or a folder without a repository, names none', async (t) => {
  const at = testTree(t);
  plant(at.root, files);
  assert.deepEqual(await named(at), { tracked: [], problems: [] });
  git(at, ['init', '-q']);
  assert.deepEqual(await named(at), { tracked: [], problems: [] });
});

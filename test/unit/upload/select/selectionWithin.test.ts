import assert from 'node:assert/strict';
import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { type SelectOptions, selectFiles } from '../../../../src/core/upload/select/selectFiles.ts';
import {
  gitSelects,
  options,
  type Place,
  plant,
  plantRepository,
  testPlace,
  testRepository,
} from '../trees.ts';

/** The paths selected of a folder in the place, which is the workspace folder. */
async function inside(at: Place, folder: string, more: Partial<SelectOptions> = {}): Promise<string[]> {
  const { files } = await selectFiles(join(at.root, folder), options(at, { within: at.root, ...more }));
  return files.map(({ path }) => path);
}

const files = { 'app/src/a': '', 'app/src/b.log': '', 'app/src/c.key': '', 'app/src/d.tmp': '' };

test('F1 a subfolder without git keeps the ignore files of the folders above it, up to the workspace folder', async (t) => {
  const at = testPlace(t);
  plant(at.root, {
    ...files,
    '../.gitignore': 'a\n',
    '.gitignore': '*.log\n/c.key\n',
    '.whiteboxignore': '*.key\n',
    'app/.gitignore': '/src/*.tmp\n',
  });
  assert.deepEqual(await inside(at, 'app/src'), ['a']);
  assert.deepEqual(await inside(at, 'app/src', { within: undefined }), ['a', 'b.log', 'c.key', 'd.tmp']);
});

test('a subfolder of a repository keeps the .whiteboxignore of a workspace folder above the repository, and of those between', async (t) => {
  const at = testPlace(t);
  plantRepository(join(at.root, 'app'));
  plant(at.root, {
    ...files,
    '.whiteboxignore': '*.log\n',
    'app/.whiteboxignore': '*.key\n',
    'app/.gitignore': '*.tmp\n',
  });
  assert.deepEqual(await inside(at, 'app/src'), ['a']);
});

test('a nested repository brings nothing back that the workspace folder’s own rules leave out', async (t) => {
  const at = testPlace(t);
  plantRepository(at.root);
  plantRepository(join(at.root, 'app'));
  plant(at.root, { ...files, '.gitignore': '*.log\n', 'app/.gitignore': '!*.log\n*.key\n' });
  assert.deepEqual(await inside(at, 'app/src'), ['a', 'd.tmp']);
  assert.deepEqual(gitSelects(at, join(at.root, 'app/src')), ['a', 'b.log', 'd.tmp']);
});

test('a workspace folder inside a repository keeps the rules of the repository above it', async (t) => {
  const at = testRepository(t, { ...files, '.gitignore': '*.log\n', '.whiteboxignore': '*.key\n' });
  assert.deepEqual(await inside(at, 'app/src', { within: join(at.root, 'app') }), ['a', 'd.tmp']);
});

test('the patterns of the setting are anchored at the workspace folder, with a repository and without', async (t) => {
  const at = testPlace(t);
  const exclude = [['/app/src/b.log', '/c.key', 'src/d.tmp']];
  plant(at.root, files);
  assert.deepEqual(await inside(at, 'app/src', { exclude }), ['a', 'c.key', 'd.tmp']);
  plantRepository(at.root);
  assert.deepEqual(await inside(at, 'app/src', { exclude }), ['a', 'c.key', 'd.tmp']);
  const within = join(at.root, 'app');
  assert.deepEqual(await inside(at, 'app/src', { exclude, within }), ['a', 'b.log', 'c.key']);
});

test('a subfolder that the workspace folder’s rules leave out says by which rule', async (t) => {
  const at = testPlace(t);
  plant(at.root, { ...files, '.whiteboxignore': 'app/\n' });
  const { leftOut } = await selectFiles(join(at.root, 'app/src'), options(at, { within: at.root }));
  assert.deepEqual(
    leftOut.map(({ path, reason }) => [path, reason.kind === 'ignored' ? reason.rule.pattern : '']),
    [['./', 'app/']],
  );
});

test('a workspace folder that is named by a link holds its subfolders, and one elsewhere has no say', async (t) => {
  const at = testPlace(t);
  plant(at.root, { ...files, '.gitignore': '*.log\n' });
  plant(at.home, { '.gitignore': '*\n' });
  const link = join(at.home, 'link');
  symlinkSync(at.root, link);
  assert.deepEqual(await inside(at, 'app/src', { within: link }), ['a', 'c.key', 'd.tmp']);
  const exclude = [['/a']];
  assert.deepEqual(await inside(at, 'app/src', { within: at.home, exclude }), ['b.log', 'c.key', 'd.tmp']);
  await assert.rejects(inside(at, 'app/src', { within: join(at.root, 'gone') }), { kind: 'notAFolder' });
});

test('what a subfolder sends, the workspace folder as a whole would send, too', async (t) => {
  const at = testPlace(t);
  plantRepository(join(at.root, 'app/src'));
  plant(at.root, {
    ...files,
    '.gitignore': '*.log\n',
    'app/.whiteboxignore': '*.key\n',
    'app/src/.gitignore': '!*.log\n!*.key\n',
    'app/src/deep/e': '',
    'app/src/deep/f.log': '',
  });
  const more = { exclude: [['/app/**/d.tmp']], includeNestedRepositories: true };
  const whole = await inside(at, '.', more);
  const below = whole.flatMap((path) => (path.startsWith('app/src/') ? [path.slice(8)] : []));
  assert.deepEqual(await inside(at, 'app/src', more), below);
  assert.deepEqual(await inside(at, 'app/src/deep', more), ['e']);
});

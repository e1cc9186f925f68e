import assert from 'node:assert/strict';
import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { type SelectOptions, selectFiles } from '../../../../src/core/upload/select/selectFiles.ts';
import { options, type TestTree, plant, plantRepository, testTree } from '../trees.ts';
import { withLinks } from '../../core/systemSkips.ts';

/** The folder is inside the workspace folder. */
async function inside(at: TestTree, folder: string, more: Partial<SelectOptions> = {}): Promise<string[]> {
  const { files } = await selectFiles(join(at.root, folder), options(at, { within: at.root, ...more }));
  return files.map(({ path }) => path);
}

const files = { 'app/src/a': '', 'app/src/b.log': '', 'app/src/c.key': '', 'app/src/d.tmp': '' };

test('F1 a subfolder uses the ignore files of its parents up to the workspace folder, with and without Git', async (t) => {
  const cases: readonly (readonly [repositories: string, rules: Record<string, string>, within: string, sent: string])[] = [
    ['', { '../.gitignore': 'a\n', '.gitignore': '*.log\n/c.key\n', '.whiteboxignore': '*.key\n', 'app/.gitignore': '/src/*.tmp\n' }, '.', 'a'],
    ['', { '../.gitignore': 'a\n', '.gitignore': '*.log\n' }, '', 'a b.log c.key d.tmp'],
    ['app', { '.whiteboxignore': '*.log\n', 'app/.whiteboxignore': '*.key\n', 'app/.gitignore': '*.tmp\n' }, '.', 'a'],
    // A nested repository includes nothing that the workspace folder's rules exclude.
    ['. app', { '.gitignore': '*.log\n', 'app/.gitignore': '!*.log\n*.key\n' }, '.', 'a d.tmp'],
    // The workspace folder is inside a repository.
    ['.', { '.gitignore': '*.log\n', '.whiteboxignore': '*.key\n' }, 'app', 'a d.tmp'],
  ];
  for (const [repositories, rules, within, sent] of cases) {
    const at = testTree(t);
    for (const folder of repositories.split(' ').filter(Boolean)) plantRepository(join(at.root, folder));
    plant(at.root, { ...files, ...rules });
    const found = await inside(at, 'app/src', { within: within === '' ? undefined : join(at.root, within) });
    assert.equal(found.join(' '), sent, JSON.stringify(rules));
  }
}); // prettier-ignore

test('the patterns of the setting are anchored at the workspace folder, with and without a repository', async (t) => {
  const at = testTree(t);
  const exclude = [['/app/src/b.log', '/c.key', 'src/d.tmp']];
  plant(at.root, files);
  assert.deepEqual(await inside(at, 'app/src', { exclude }), ['a', 'c.key', 'd.tmp']);
  plantRepository(at.root);
  assert.deepEqual(await inside(at, 'app/src', { exclude }), ['a', 'c.key', 'd.tmp']);
  const within = join(at.root, 'app');
  assert.deepEqual(await inside(at, 'app/src', { exclude, within }), ['a', 'b.log', 'c.key']);
});

test('a subfolder excluded by the workspace folder names the rule', async (t) => {
  const at = testTree(t);
  plant(at.root, { ...files, '.whiteboxignore': 'app/\n' });
  const { excluded } = await selectFiles(join(at.root, 'app/src'), options(at, { within: at.root }));
  assert.deepEqual(
    excluded.map(({ path, reason }) => [path, reason.kind === 'ignored' ? reason.rule.pattern : '']),
    [['./', 'app/']],
  );
});

test(
  'a workspace folder named by a link contains its subfolders, and an unrelated one does not apply',
  withLinks,
  async (t) => {
    const at = testTree(t);
    plant(at.root, { ...files, '.gitignore': '*.log\n' });
    plant(at.home, { '.gitignore': '*\n' });
    const link = join(at.home, 'link');
    symlinkSync(at.root, link);
    assert.deepEqual(await inside(at, 'app/src', { within: link }), ['a', 'c.key', 'd.tmp']);
    const exclude = [['/a']];
    assert.deepEqual(await inside(at, 'app/src', { within: at.home, exclude }), ['b.log', 'c.key', 'd.tmp']);
    await assert.rejects(inside(at, 'app/src', { within: join(at.root, 'gone') }), { kind: 'notAFolder' });
  },
);

test('a subfolder sends only what the whole workspace folder would send', async (t) => {
  const at = testTree(t);
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

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { paths, sameAsGit } from '../selecting.ts';
import { type TestTree, plant, plantRepository, testTree } from '../trees.ts';

/** Only the environment configures the repository, whose rules exclude `secret`. */
function surrounded(
  t: TestContext,
  envOf: (rules: string, home: string) => Record<string, string>,
): TestTree {
  const tree = testTree(t);
  plantRepository(tree.root);
  plant(tree.root, { open: '', secret: '', 'Logs/one': '', '.gitignore': 'logs/\n' });
  plant(tree.home, { 'own rules': 'secret\n' });
  const env = { ...tree.surroundings.env, ...envOf(join(tree.home, 'own rules'), tree.home) };
  return { ...tree, surroundings: { ...tree.surroundings, env } };
}

test("F4 configuration in counted variables applies in git's order, with includes", async (t) => {
  const at = surrounded(t, (rules) => ({
    GIT_CONFIG_COUNT: '3',
    GIT_CONFIG_KEY_0: 'core.excludesFile',
    GIT_CONFIG_VALUE_0: '/nowhere',
    GIT_CONFIG_KEY_1: 'CORE.ExcludesFile',
    GIT_CONFIG_VALUE_1: rules,
    GIT_CONFIG_KEY_2: 'core.ignoreCase',
    GIT_CONFIG_VALUE_2: 'true',
  }));
  assert.deepEqual(await sameAsGit(at), ['.gitignore', 'open']);
  const included = surrounded(t, (_, home) => ({
    GIT_CONFIG_COUNT: '1',
    GIT_CONFIG_KEY_0: 'include.path',
    GIT_CONFIG_VALUE_0: join(home, 'more'),
  }));
  plant(included.home, { more: '[core]\n\texcludesFile = ~/own rules\n' });
  assert.ok(!(await sameAsGit(included)).includes('secret'));
});

test('a -c of git that may change what is ignored stops the upload; others do not matter', async (t) => {
  for (const written of [
    "'core.excludesfile=x'",
    "'Core.ExcludesFile'='x'",
    "'a.b=c' 'includeIf.x.path'='y'",
  ]) {
    const at = surrounded(t, () => ({ GIT_CONFIG_PARAMETERS: written }));
    await assert.rejects(paths(at), { kind: 'sourceUnreadable' });
  }
  const at = surrounded(t, () => ({
    GIT_CONFIG_PARAMETERS: "'core.editor=code --wait' 'safe.directory'='*'",
  }));
  assert.ok((await sameAsGit(at)).includes('open'));
});

test('variables that git rejects stop the upload', async (t) => {
  for (const env of [
    { GIT_CONFIG_COUNT: 'many' },
    { GIT_CONFIG_COUNT: '-1' },
    { GIT_CONFIG_COUNT: '1', GIT_CONFIG_KEY_0: 'core.excludesFile' },
    { GIT_CONFIG_COUNT: '1', GIT_CONFIG_VALUE_0: 'x' },
    { GIT_CONFIG_COUNT: '1', GIT_CONFIG_KEY_0: 'nosection', GIT_CONFIG_VALUE_0: 'x' },
  ]) {
    const at = surrounded(t, () => env);
    await assert.rejects(paths(at), { kind: 'sourceUnreadable' }, JSON.stringify(env));
    await assert.rejects(sameAsGit(at));
  }
});

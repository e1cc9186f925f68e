import assert from 'node:assert/strict';
import { mkdirSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { paths, sameAsGit } from './selecting.ts';
import { gitSelects, type Place, plant, plantRepository, testPlace } from './trees.ts';

/** A repository in the home's `work` folder, with configuration that leaves `secret` out under a condition. */
function conditional(t: TestContext, condition: (base: string) => string): Place {
  const place = testPlace(t);
  const root = join(place.home, 'work/app');
  plantRepository(root);
  plant(root, { open: '', secret: '', never: '' });
  plant(place.home, { 'work-rules': 'secret\n', 'own-rules': 'never\n' });
  const include = '[core]\n\texcludesFile = ~/work-rules\n';
  const written = condition(dirname(place.home));
  plant(place.home, {
    '.gitconfig': `[core]\n\texcludesFile = ~/own-rules\n[includeIf "gitdir:${written}"]\n\tpath = work-config\n`,
    'work-config': include,
  });
  return { ...place, root };
}

/** The same place, entered through a link to the folder that holds it. */
function throughLink(place: Place): Place & { readonly link: string } {
  const link = join(place.home, '../link');
  symlinkSync(place.home, link);
  return { ...place, link, home: link, surroundings: { ...place.surroundings, home: link } };
}

test('F4 a condition with ~ or ./ holds where the home is a link', async (t) => {
  for (const condition of ['~/work/', './work/', '~/work/app/.git']) {
    const at = throughLink(conditional(t, () => condition));
    assert.deepEqual(await sameAsGit(at), ['never', 'open'], condition);
  }
});

test('F4 ./ in a condition is the folder where the configuration really lies', async (t) => {
  const at = conditional(t, () => './work/');
  const dotfiles = join(at.home, 'work/dotfiles');
  mkdirSync(dotfiles);
  plant(dotfiles, { config: `[includeIf "gitdir:./"]\n\tpath = ${at.home}/work-config\n` });
  plant(at.home, { '.config/git/config': { link: join(dotfiles, 'config') } });
  plant(at.home, { '.gitconfig': '' });
  assert.deepEqual(await sameAsGit(at), ['never', 'open', 'secret']);
});

test('F4 a condition that names the way through a link may hold, and leaves out more', async (t) => {
  const at = conditional(t, (base) => `${base}/link/work/`);
  const { link } = throughLink(at);
  assert.deepEqual(gitSelects(at), ['open', 'secret']);
  assert.deepEqual(await paths(at), ['open']);
  assert.deepEqual(await paths({ ...at, root: join(link, 'work/app') }), ['open']);
});

test('F4 a condition holds for whole paths only, as git has it', async (t) => {
  const conditions: [pattern: string, holds: boolean][] = [
    ['~/work', false],
    ['~/work/app/', true],
    ['~/work/*/', true],
    ['~/work/*', false],
    ['~/w[o]rk/**/.git', true],
    ['~', false],
    ['/', true],
    ['/.git', false],
    ['/nowhere/', false],
    ['work/', true],
    ['app', false],
    ['~/work/app/ ', false],
    ['~/none/', false],
    ['~/work-rules/below/', false],
  ];
  for (const [pattern, holds] of conditions) {
    const at = conditional(t, () => pattern);
    assert.deepEqual(await sameAsGit(at), holds ? ['never', 'open'] : ['open', 'secret'], pattern);
  }
});

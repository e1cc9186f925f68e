import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { selectFiles } from '../../../../src/core/upload/select/selectFiles.ts';
import { excluded, paths } from '../selecting.ts';
import { gitSelects, options, plant, plantRepository, testRepository } from '../trees.ts';

test('F5 an ignored file is excluded with its rule, and only the user can include it', async (t) => {
  const at = testRepository(t, {
    '.gitignore': 'config.local\ndist/\n',
    'config.local': '',
    'dist/a/one.js': '',
    'dist/a/two.js': '',
    'dist/b.js': '',
    '.whiteboxignore': '!config.local\n!dist/\n',
  });
  const exclude = [['!config.local', '!/dist/']];
  assert.deepEqual(await paths(at, { exclude }), ['.gitignore', '.whiteboxignore']);
  assert.deepEqual(await paths(at, { include: ['config.local', 'dist/a/one.js'] }), [
    '.gitignore',
    '.whiteboxignore',
    'config.local',
    'dist/a/one.js',
  ]);
  assert.deepEqual(await excluded(at, { include: ['dist/a/one.js'] }), [
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

test('F5 choosing a folder overrides the rule that excludes it; rules for its content still apply', async (t) => {
  const rules = '*.pem\n!sample.pem\nbuild/\n';
  const at = testRepository(t, {
    '.gitignore': rules,
    '.whiteboxignore': 'customers.csv\nbuild\n',
    'build/app.js': '',
    'build/k.pem': '',
    'build/sample.pem': '',
    'build/customers.csv': '',
    'build/notes.txt': '',
    'build/deep/.gitignore': 'local\n',
    'build/deep/local': '',
    'build/deep/build/again': '',
    'build/lib/source.c': '',
    'build/link': { link: 'app.js' },
  });
  plantRepository(join(at.root, 'build/lib'));
  const more = { exclude: [['notes.txt']], include: ['build/'] };
  const sent = ['build/app.js', 'build/deep/.gitignore', 'build/deep/build/again', 'build/sample.pem'];
  assert.deepEqual((await paths(at, more)).slice(2), sent);
  assert.deepEqual(await excluded(at, more), [
    'build/customers.csv: whiteboxignore .whiteboxignore:1 customers.csv',
    'build/deep/local: gitignore build/deep/.gitignore:1 local',
    'build/k.pem: gitignore .gitignore:1 *.pem',
    'build/lib/: nestedRepository',
    'build/link: link',
    'build/notes.txt: setting :1 notes.txt',
  ]);
  const named = { ...more, include: ['build/', 'build/k.pem', 'build/customers.csv', 'build/notes.txt'] };
  assert.deepEqual((await paths(at, named)).slice(2), [...sent, ...named.include.slice(1)].sort());
  writeFileSync(join(at.root, '.gitignore'), rules.replace('build/\n', ''));
  const gits = gitSelects(at).filter((path) => !/^[.]|customers|notes/.test(path));
  assert.deepEqual(sent, gits);
});

test('F5 choosing a folder below an excluded one overrides the rules of both, and nothing else', async (t) => {
  const at = testRepository(t, {
    '.gitignore': '*.pem\n/out/\n/out/*/web/**\n',
    'out/a.js': '',
    'out/x/web/b.js': '',
    'out/x/web/k.pem': '',
    'out/x/web/deep/c.js': '',
    'out/x/other/d.js': '',
  });
  const include = ['out/x/web/deep/', 'out/x/web/b.js'];
  assert.deepEqual((await paths(at, { include })).slice(1), ['out/x/web/b.js', 'out/x/web/deep/c.js']);
  assert.deepEqual(await excluded(at, { include: ['out/x/'] }), [
    'out/a.js: gitignore .gitignore:2 /out/',
    'out/x/web/b.js: gitignore .gitignore:3 /out/*/web/**',
    'out/x/web/deep/: gitignore .gitignore:3 /out/*/web/**',
    'out/x/web/k.pem: gitignore .gitignore:3 /out/*/web/**',
  ]);
  const within = await selectFiles(join(at.root, 'out/x'), options(at, { include: ['web/deep/'] }));
  assert.deepEqual(
    within.files.map(({ path }) => path),
    ['web/deep/c.js'],
  );
});

test('F5 choosing a file overrides no rule that a later one negates', async (t) => {
  const at = testRepository(t, {
    '.gitignore': '*\n!/*/\n!/*/*/\n!.gitignore\n',
    '.whiteboxignore': 'b/\nc\n',
    'b/x': '',
    'b/kept/.gitignore': '',
    'b/c/b/x': '',
  });
  assert.deepEqual(await paths(at, { include: ['b/'] }), ['.gitignore', 'b/kept/.gitignore']);
  assert.deepEqual(await excluded(at, { include: ['b/'] }), [
    '.whiteboxignore: gitignore .gitignore:1 *',
    'b/c/: whiteboxignore .whiteboxignore:2 c',
    'b/x: gitignore .gitignore:1 *',
  ]);
  plant(at.root, { '.whiteboxignore': 'b\n!b/\nb/\n', 'b/kept/b': '', 'b/kept/.gitignore': '!b\n' });
  assert.deepEqual(await paths(at, { include: ['b/'] }), ['.gitignore', 'b/kept/.gitignore']);
  const [left] = (await excluded(at, { include: ['b/'] })).filter((line) => line.startsWith('b/kept/b:'));
  assert.equal(left, 'b/kept/b: whiteboxignore .whiteboxignore:1 b');
});

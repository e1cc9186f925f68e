import assert from 'node:assert/strict';
import { test } from 'node:test';
import { excluded, paths, select } from '../selecting.ts';
import { gitSelects, plant, plantRepository, testTree, testRepository } from '../trees.ts';

const names = [
  ...['a', 'b', 'ab', 'abc', 'abab', 'Cd', 'ce', 'é', 'éx', 'n1', 'n2', 'n9', '.env', '#note', '!mark', 'c d', '[a', 'a['],
  ...['x.log', 'xy.log', 'x.log.txt', 'y.tar.gz', '.log', 'dir.log/in', 'foo/bar', 'foo/deep/bar', 'foo/deep/er/baz'],
  ...['bar/foo/z', 'bar/foo/bar', 'xfoo/bar', 'xfoo/foo/x', 'Up/Low'],
]; // prettier-ignore

/** Each rule of the plain grammar is an ignore file. */
const plain = [
  ...['*', '*.log', 'x*.log', '*y.log', '*.tar.gz', '*gz', '.*', 'a?', '?', '??', 'a*c', 'a*b', '*a*b*', 'a**c', '*b'],
  ...['n[12]', 'n[!1]', 'n[^1]', 'n[0-1]', 'n[2-8]', '[a-c]', '[c-a]', '[A-Z]d', '[a-z]d', '[B-D]*', '[C-c]?', '[Cc]e', '[C]e'],
  ...['[!B-D]?', '[x]*.log', '[n][0-9]', '[^ ]', '[!a-m]*'],
  ...['foo', 'foo/', '/foo', '/foo/', 'foo/bar', '/foo/bar', 'foo/*', 'foo/**', 'foo/*/', 'foo/*/bar', 'bar/', 'foo/bar/'],
  ...['**', '***', '**/', '/**', '/**/', '/*', '/*/', '*/', '*/*', '**/bar', '**/foo', '**/foo/', '**/foo/bar', '**/foo/**'],
  ...['foo/**/bar', 'foo/**/baz', 'foo/**/**/baz', 'foo/**//', '**//', 'foo/***/bar', '**/**/bar', '**/*.log', '**/b*/**/z', '*/foo/**', '*o/**/b*'],
  ...['dir.log/', '*.log/', '/dir.log', 'up', 'UP/', 'up/low', 'Up/l*', 'CD', 'cd', '\\Cd', '\\cd', '.LOG', '*.LOG'],
  ...['\\#note', '\\!mark', '#note', '# x', '\\a', '\\ab', '\\C\\d', 'c\\ d', 'ab ', 'ab  ', 'ab\\ ', '\\ ', ' ', '', 'b\\'],
  ...['/', '//', 'foo//bar', '//foo', 'foo//', '[', '[a', 'a[', 'n[1', 'n[1-', '\\'],
  ...['*.log\n!x.log', '!x.log\n*.log', 'x.log\n!x.log\nx.log', 'x.log\nx.log\n!*.log', 'foo/*\n!foo/bar', 'foo\n!foo/bar'],
  ...['*\n!*/\n!*.log', '/*\n!/foo\n/foo/*\n!/foo/deep/', '**/foo\n!/foo', '*b\n!a?', 'ab\r\nabc\r\n', '\n\nab\n#b\n\nb'],
  ...['**\\/bar', 'foo/**\\/bar', 'foo\\/bar', 'fo*\\/bar', 'f?o**/bar', '*o**/bar', '[f]oo**/**', 'a'.repeat(5000), `${'*/'.repeat(3000)}*`],
  ...['\ufeffab\nb', 'ab\0c\nb', '\0\nb', '\0', '\n', '!\nb', '!/\nb', 'é', 'É', '?x', '*é*', '\\é'],
]; // prettier-ignore

test('F12 F15 F16 rules of every kind exclude the same files as in git, each in its own folder', async (t) => {
  const at = testTree(t);
  for (const [index, rules] of plain.entries()) {
    const files = Object.fromEntries(names.map((name) => [`${index}/${name}`, '']));
    plant(at.root, { ...files, [`${index}/.gitignore`]: rules });
  }
  for (const ignoreCase of [true, false]) {
    plantRepository(at.root, `\tignorecase = ${ignoreCase}\n`);
    const [ours, gits] = [await select(at), gitSelects(at)];
    for (const [index, rules] of plain.entries()) {
      const [sent, expected] = [ours.files.map(({ path }) => path), gits].map((paths) =>
        paths.filter((path) => path.startsWith(`${index}/`)),
      );
      assert.deepEqual(sent, expected, `${JSON.stringify(rules)}, ignorecase = ${ignoreCase}`);
    }
  }
});

test('F15 `name**/` is `name*/`, as Git reads it since 2.52, whatever the version here', async (t) => {
  const rules = ['/foo**/bar', 'foo**\\/bar', 'foo**/**/bar', 'foo**/**', '/fo**', 'ab**//'];
  const at = testRepository(t, {});
  const names = ['ab/c', 'abc/x', 'foo/bar', 'foo/x/bar', 'foo/y', 'foobar', 'foox/bar', 'xfoo/bar'];
  const plantRules = (toRule: (rule: string) => string): void => {
    for (const [index, rule] of rules.entries())
      for (const negated of ['', `!${toRule(rule)}\n`])
        plant(at.root, {
          ...Object.fromEntries(names.map((name) => [`${index}${negated && '!'}/${name}`, ''])),
          [`${index}${negated && '!'}/.gitignore`]: `${toRule(rule)}\n${negated}`,
        });
  };
  plantRules((rule) => rule.replace('**', '*'));
  const expected = gitSelects(at);
  plantRules((rule) => rule);
  assert.deepEqual(await paths(at), expected);
});

test('F16 a folder with a .gitignore that is too large is excluded entirely', async (t) => {
  const at = testTree(t);
  plant(at.root, {
    a: '',
    'b/.gitignore': Array.from({ length: 20_001 }, (_, index) => `n${index}`).join('\n'),
    'b/x': '',
    'd/.gitignore': Array.from({ length: 10_001 }, (_, index) => `n${index}`).join('\n'),
    'd/e/.gitignore': Array.from({ length: 10_000 }, (_, index) => `n${index}`).join('\n'),
    'd/e/x': '',
  });
  assert.deepEqual(await paths(at), ['a', 'd/.gitignore']);
  assert.deepEqual(await excluded(at), [
    'b/: unreadable EFBIG b/.gitignore',
    'd/e/: unreadable EFBIG d/e/.gitignore',
  ]);
});

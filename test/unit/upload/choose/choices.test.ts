import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  choicesBelow,
  type PathChoices,
  type FolderSum,
  includedBy,
  excluding,
  levelBelow,
  replaceBelow,
  toIgnoreLine,
  withChosen,
  withExcluded,
  withIncluded,
  withLines,
  withoutExcluded,
  withoutLines,
} from '../../../../src/core/upload/choose/choices.ts';
import { selectFiles } from '../../../../src/core/upload/select/selectFiles.ts';
import type { SelectedFile, Selection } from '../../../../src/core/upload/select/selection.ts';
import { withOddNames } from '../../core/systemSkips.ts';

function file(name: string, bytes = 1): SelectedFile {
  return { path: name, bytes, mode: 0o644 };
}

const selection: Selection = {
  root: '/invented',
  files: [file('a.txt', 1), file('src/b.txt', 2), file('src/deep/c.txt', 4), file('srcs.txt', 8)],
  excluded: [],
  bytes: 15,
  unreadRules: [],
  unreadIndexes: [],
};

test('F5 ignored files that the user includes by name are uploaded, whatever was decided of folders above them', () => {
  const choices: PathChoices = { 'dist/': 'exclude', 'a.js': 'exclude' };
  const included = withIncluded(choices, ['dist/one.js', 'dist/two.js']);
  assert.deepEqual(includedBy(included), ['dist/one.js', 'dist/two.js']);
  assert.deepEqual(['a.js', 'dist/one.js', 'dist/other.js'].map(excluding(included)), [true, false, true]);
});

test('a level has its own files, and each folder with the sum below it', () => {
  const src = { path: 'src/', files: 2, bytes: 6, first: 1 };
  assert.deepEqual(levelBelow(selection.files), {
    folders: [src],
    files: [selection.files[0], selection.files[3]],
  });
  assert.deepEqual(levelBelow(selection.files, src), {
    folders: [{ path: 'src/deep/', files: 1, bytes: 4, first: 2 }],
    files: [selection.files[1]],
  });
});

test('every file is on exactly one level, and every sum is right', () => {
  const name = fc.stringMatching(/^[ab]{1,2}$/);
  const paths = fc.uniqueArray(
    fc.array(name, { minLength: 1, maxLength: 4 }).map((parts) => [...parts, 'f'].join('/')),
  );
  fc.assert(
    fc.property(paths, (all) => {
      const files = all.toSorted().map((each, at) => file(each, at));
      const visit = (folder?: FolderSum): string[] => {
        const level = levelBelow(files, folder);
        for (const below of level.folders) {
          const inside = files.filter((each) => each.path.startsWith(below.path));
          assert.equal(below.files, inside.length);
          assert.equal(
            below.bytes,
            inside.reduce((sum, each) => sum + each.bytes, 0),
          );
        }
        return [...level.files.map((each) => each.path), ...level.folders.flatMap(visit)];
      };
      assert.deepEqual(visit().sort(), [...all].sort());
    }),
    { numRuns: 1000 },
  );
});

test('an ignore line excludes exactly its path, whatever the name', async () => {
  const odd = ['a*b', 'a?b', 'back\\slash', 'end ', 'line\nx', 'mid\rdle', 'last\r'];
  const names = ['plain.txt', '[x]', '#hash', '!bang', ' start', 'ünï', '設計.md', 'axb', 'x'];
  if (withOddNames.skip === false) names.push(...odd);
  const folder = await mkdtemp(path.join(tmpdir(), 'ignore-line-'));
  try {
    for (const name of names) await writeFile(path.join(folder, name), '');
    for (const name of names) {
      await writeFile(path.join(folder, '.whiteboxignore'), `${toIgnoreLine(name)}\n`);
      const selected = await selectFiles(folder, {
        exclude: [],
        includeNestedRepositories: false,
        surroundings: { home: folder, env: {} },
      });
      const kept = selected.files.map((each) => each.path).filter((each) => each !== '.whiteboxignore');
      assert.deepEqual(kept.sort(), names.filter((each) => each !== name).sort(), name);
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

test('lines are appended to an ignore file once, and can be removed from any position', () => {
  const { text, added } = withLines('# ours\r\n/a\r\n*.log', ['/a', '/b', '/c/', '/b']);
  assert.deepEqual({ text, added }, { text: '# ours\r\n/a\r\n*.log\n/b\n/c/\n', added: ['/b', '/c/'] });
  assert.equal(withoutLines(`${text}/d\n`, added), '# ours\r\n/a\r\n*.log\n/d\n');
  assert.equal(withoutLines(text.replace('/b\n', ''), added), undefined);
  assert.deepEqual(withLines('/a\n', ['/a']), { text: '/a\n', added: [] });
  assert.equal(withoutLines(text.replaceAll('\n', '\r\n'), ['/c/'])?.includes('/c/'), false);
});

const leaving = { isUploaded: false, isIgnored: false };
const sending = { isUploaded: true, isIgnored: false };

function excludedOf(choices: PathChoices, ...paths: string[]): string[] {
  return paths.filter(excluding(choices));
}

/** `-a` means excluded, `+a` included again, and `*a` included although ignored. */
function choose(steps: string): PathChoices {
  const kinds: Record<string, typeof leaving> = { '-': leaving, '+': sending, '*': { isUploaded: true, isIgnored: true } };
  return steps.split(' ').reduce<PathChoices>((choices, step) => withChosen(choices, step.slice(1), kinds[step.charAt(0)] ?? leaving), {});
} // prettier-ignore

test('the last choice counts for a path and what is below it, and later files of an excluded folder are excluded', () => {
  const cases: readonly (readonly [steps: string, paths: string, excluded: string])[] = [
    ['-src/ +src/deep/c', 'src/deep/c src/b src/deep/new a', 'src/b src/deep/new'],
    ['-src/ +src/deep/c +src/b +src/deep/d', 'src/b src/deep/d src/new', 'src/new'],
    ['-src/ +src/deep/c -src/deep/c', 'src/deep/c', 'src/deep/c'],
    ['-src/ +src/deep/c -src/deep/', 'src/deep/c', 'src/deep/c'],
    ['-src/ +src/deep/c -src/', 'src/deep/c', 'src/deep/c'],
    ['-src/ +src/deep/c -src/other/', 'src/deep/c src/other/f', 'src/other/f'],
    ['-src/ *src/own.log', 'src/own.log src/a', 'src/a'],
    ['-src/ *src/own.log -src/', 'src/own.log', 'src/own.log'],
    ['-src/a -src/ +src/', 'src/a src/b', 'src/a'],
  ];
  for (const [steps, paths, expected] of cases)
    assert.equal(excludedOf(choose(steps), ...paths.split(' ')).join(' '), expected, steps);
  assert.deepEqual(includedBy(choose('-src/ *src/own.log')), ['src/own.log']);
  assert.deepEqual(choose('*build/'), { 'build/': 'include' });
  for (const undone of ['-a +a', '*build/ -build/']) assert.deepEqual(choose(undone), {}, undone);
});

test('excluding a path overrides choices below it, and undoing restores them', () => {
  const before: PathChoices = {
    'dist/': 'include',
    'dist/a': 'include',
    distinct: 'include',
    'lib/': 'exclude',
    'lib/x': 'restore',
    'lib/y': 'restore',
  };
  const excluded = withExcluded(before, ['dist/', 'lib/x']);
  assert.deepEqual(excluded, {
    distinct: 'include',
    'lib/': 'exclude',
    'lib/y': 'restore',
    'dist/': 'exclude',
    'lib/x': 'exclude',
  });
  const later = withChosen(withChosen(excluded, 'b', leaving), 'dist/b', leaving);
  assert.deepEqual(withoutExcluded(later, ['dist/', 'lib/x'], before), {
    ...before,
    b: 'exclude',
    'dist/b': 'exclude',
  });
  const known = withChosen({}, 'a', leaving);
  assert.deepEqual(withoutExcluded(withExcluded(known, ['a']), ['a'], known), known);
  const again = withExcluded(excluded, ['dist/a']);
  assert.deepEqual(excludedOf(withoutExcluded(again, ['dist/', 'lib/x'], before), 'dist/a', 'dist/b'), [
    'dist/a',
  ]);
});

test('files named like members of Object.prototype are chosen like others', () => {
  for (const path of ['constructor', '__proto__']) {
    assert.deepEqual(excludedOf({}, path), []);
    const left = JSON.parse(JSON.stringify(withChosen({}, path, leaving))) as PathChoices;
    assert.deepEqual(excludedOf(left, path, 'x'), [path]);
    assert.deepEqual(excludedOf(withChosen(left, path, sending), path), []);
    assert.deepEqual(includedBy(withChosen({}, path, { isUploaded: true, isIgnored: true })), [path]);
  }
});

test('choices are stored for the workspace folder, and apply to each subfolder by relative path', () => {
  const whole: PathChoices = {
    'app/build/': 'include',
    'app/src/a': 'exclude',
    'app/src/': 'exclude',
    b: 'exclude',
    'app/src/c': 'restore',
  };
  assert.deepEqual(choicesBelow(whole, ''), whole);
  assert.deepEqual(choicesBelow(whole, 'app/'), {
    'build/': 'include',
    'src/a': 'exclude',
    'src/': 'exclude',
    'src/c': 'restore',
  });
  assert.deepEqual(choicesBelow(whole, 'app/src/'), { a: 'exclude', c: 'restore' });
  assert.deepEqual(choicesBelow(whole, 'ap/'), {});
});

test('a choice made in a subfolder keeps those beside and above it', () => {
  const whole: PathChoices = { 'lib/x': 'include', 'app/': 'exclude', 'app/src/a': 'exclude' };
  const restored = withChosen(choicesBelow(whole, 'app/src/'), 'a', sending);
  assert.deepEqual(replaceBelow(whole, 'app/src/', restored), { 'lib/x': 'include', 'app/': 'exclude' });
  const left = withChosen(choicesBelow(whole, 'app/src/'), 'b', leaving);
  assert.deepEqual(replaceBelow(whole, 'app/src/', left), { ...whole, 'app/src/b': 'exclude' });
});

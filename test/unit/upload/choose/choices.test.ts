import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  choicesBelow,
  type FolderChoices,
  type FolderSum,
  leavingOut,
  levelBelow,
  noChoices,
  replaceBelow,
  toIgnoreLine,
  withChosen,
  withExcluded,
  withLines,
  withoutExcluded,
  withoutLines,
  withRestored,
} from '../../../../src/core/upload/choose/choices.ts';
import { selectFiles } from '../../../../src/core/upload/select/selectFiles.ts';
import type { SelectedFile, Selection } from '../../../../src/core/upload/select/selection.ts';

function file(name: string, bytes = 1): SelectedFile {
  return { path: name, bytes, mode: 0o644 };
}

const selection: Selection = {
  root: '/invented',
  files: [file('a.txt', 1), file('src/b.txt', 2), file('src/deep/c.txt', 4), file('srcs.txt', 8)],
  leftOut: [],
  bytes: 15,
  widened: [],
};

test('a level has its own files and each folder with the sum of all below it', () => {
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

test('every file is on exactly one level, and every level adds up', () => {
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

test('an ignore line leaves out exactly the path it was made for, whatever its name', async () => {
  const names = [
    'plain.txt',
    'a*b',
    'a?b',
    '[x]',
    '#hash',
    '!bang',
    'back\\slash',
    'end ',
    ' start',
    'ünï',
    '設計.md',
    'axb',
    'x',
    'line\nx',
    'mid\rdle',
    'last\r',
  ];
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

test('lines go to the end of an ignore file once, and can be taken out of it wherever they stand by then', () => {
  const { text, added } = withLines('# ours\r\n/a\r\n*.log', ['/a', '/b', '/c/', '/b']);
  assert.deepEqual({ text, added }, { text: '# ours\r\n/a\r\n*.log\n/b\n/c/\n', added: ['/b', '/c/'] });
  assert.equal(withoutLines(`${text}/d\n`, added), '# ours\r\n/a\r\n*.log\n/d\n');
  assert.equal(withoutLines(text.replace('/b\n', ''), added), undefined);
  assert.deepEqual(withLines('/a\n', ['/a']), { text: '/a\n', added: [] });
  assert.equal(withoutLines(text.replaceAll('\n', '\r\n'), ['/c/'])?.includes('/c/'), false);
});

const leaving = { isSent: false, isIgnored: false };

/** Which of these paths a person left out. */
function leftOut(choices: FolderChoices, ...paths: string[]): string[] {
  return paths.filter(leavingOut(choices));
}

test('to restore one file below a folder that was left out brings back that file alone; what is made there later stays out', () => {
  const left = withChosen(noChoices, 'src/', leaving);
  const restored = withRestored(left, 'src/deep/c');
  assert.deepEqual(leftOut(restored, 'src/deep/c', 'src/b', 'src/deep/new', 'a'), ['src/b', 'src/deep/new']);
  const all = ['src/b', 'src/deep/d'].reduce((choices, path) => withRestored(choices, path), restored);
  assert.deepEqual(leftOut(all, 'src/b', 'src/deep/d', 'src/new'), ['src/new']);
});

test('a restored file goes with the folder that is left out after it, and alone when it is left out by itself', () => {
  const restored = withRestored(withChosen(noChoices, 'src/', leaving), 'src/deep/c');
  for (const path of ['src/deep/c', 'src/deep/', 'src/'])
    assert.deepEqual(leftOut(withChosen(restored, path, leaving), 'src/deep/c'), ['src/deep/c'], path);
  const other = withChosen(restored, 'src/other/', leaving);
  assert.deepEqual(leftOut(other, 'src/deep/c', 'src/other/f'), ['src/other/f']);
});

test('to restore a file that was left out by itself leaves no trace', () => {
  assert.deepEqual(withRestored(withChosen(noChoices, 'a', leaving), 'a'), noChoices);
});

test('an excluded path is left out whatever was chosen for it or below it, and undoing restores those choices', () => {
  const before: FolderChoices = {
    include: ['dist/', 'dist/a', 'distinct'],
    leaveOut: ['lib/'],
    restored: ['lib/x', 'lib/y'],
  };
  const excluded = withExcluded(before, ['dist/', 'lib/x']);
  assert.deepEqual(excluded, {
    include: ['distinct'],
    leaveOut: ['lib/', 'dist/', 'lib/x'],
    restored: ['lib/y'],
  });
  const undone = withoutExcluded(withChosen(excluded, 'b', leaving), ['dist/', 'lib/x'], before);
  assert.deepEqual(
    { include: undone.include.toSorted(), leaveOut: undone.leaveOut, restored: undone.restored.toSorted() },
    { ...before, leaveOut: ['lib/', 'b'] },
  );
  const known = withChosen(noChoices, 'a', leaving);
  assert.deepEqual(withoutExcluded(withExcluded(known, ['a']), ['a'], known), known);
});

test('what was sent by choice goes back to what ignore files say; what was left out by choice is sent again', () => {
  const sent = withChosen(noChoices, 'build/', { isSent: true, isIgnored: true });
  assert.deepEqual(sent, { ...noChoices, include: ['build/'] });
  assert.deepEqual(withChosen(sent, 'build/', leaving), noChoices);
  assert.deepEqual(
    withChosen(withChosen(noChoices, 'a', leaving), 'a', { isSent: true, isIgnored: false }),
    noChoices,
  );
});

test('choices are remembered for the workspace folder, and hold for each folder in it by paths of its own', () => {
  const whole: FolderChoices = {
    include: ['app/build/'],
    leaveOut: ['app/src/a', 'app/src/', 'b'],
    restored: ['app/src/c'],
  };
  assert.deepEqual(choicesBelow(whole, ''), whole);
  assert.deepEqual(choicesBelow(whole, 'app/'), {
    include: ['build/'],
    leaveOut: ['src/a', 'src/'],
    restored: ['src/c'],
  });
  assert.deepEqual(choicesBelow(whole, 'app/src/'), { ...noChoices, leaveOut: ['a'], restored: ['c'] });
  assert.deepEqual(choicesBelow(whole, 'ap/'), noChoices);
});

test('a choice made in a subfolder leaves those beside and above it as they are', () => {
  const whole: FolderChoices = { ...noChoices, include: ['lib/x'], leaveOut: ['app/', 'app/src/a'] };
  const restored = withRestored(choicesBelow(whole, 'app/src/'), 'a');
  assert.deepEqual(replaceBelow(whole, 'app/src/', restored), {
    ...noChoices,
    include: ['lib/x'],
    leaveOut: ['app/'],
  });
  const left = withChosen(choicesBelow(whole, 'app/src/'), 'b', leaving);
  assert.deepEqual(replaceBelow(whole, 'app/src/', left), {
    ...noChoices,
    include: ['lib/x'],
    leaveOut: ['app/', 'app/src/a', 'app/src/b'],
  });
});

import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  type FolderSum,
  levelBelow,
  toIgnoreLine,
  withLines,
  withoutLines,
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

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { writeArchive } from '../../../../src/core/upload/archive/writeArchive.ts';
import { readArchive as readOurs } from '../../../../src/core/upload/archive/readArchive.ts';
import { selectFiles } from '../../../../src/core/upload/select/selectFiles.ts';
import { readArchive } from '../../../service/whitebox/unpack.ts';
import { options, plant, testPlace } from '../trees.ts';
import { withOddNames } from '../../core/systemSkips.ts';

const workerFile = new URL('../../../../src/core/upload/archive/archiveWorker.ts', import.meta.url);
const names = [
  'a:b',
  'x:notes.md',
  'a\\b',
  'c:d/e\\f',
  'cafe\u0301',
  'caf\u00e9',
  'two\nlines',
  '日本/語😀.txt',
];

for (const format of ['tar_gz', 'zip'] as const) {
  test(
    `a strict reader of a ${format}, and our own, accept every selectable name, byte for byte`,
    withOddNames,
    async (t) => {
      const at = testPlace(t);
      plant(at.root, { ...Object.fromEntries(names.map((name) => [name, name])), 'C:/x': '', 'C:\\x': '' });
      const { root, files, leftOut } = await selectFiles(at.root, options(at));
      assert.deepEqual(
        leftOut.map(({ path, reason }) => [path, reason.kind]),
        [
          ['C:/', 'unusableName'],
          ['C:\\x', 'unusableName'],
        ],
      );
      const to = join(at.home, 'archive');
      await writeArchive({ root, files, format, to, maxBytes: 1e9, workerFile });
      const read: (string | undefined)[][] = [];
      for await (const { path, content } of readArchive(to, format, new AbortController().signal))
        read.push([path, content?.toString()]);
      assert.deepEqual(read.sort(), names.map((name) => [name, name]).sort());
      const ours: string[][] = [];
      for await (const { path, content } of readOurs(to, format, new Set(names)))
        ours.push([path, content.toString()]);
      assert.deepEqual(ours.sort(), read);
    },
  );
}

import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { readRuns } from '../../../../src/core/run/disk/journal.ts';
import { runOf } from '../sampleRuns.ts';
import { tempFolder } from '../tempFolder.ts';

test('runs are read newest first, and each journal that cannot be read is counted', async (t) => {
  const root = await tempFolder(t);
  const write = async (id: string, text: string): Promise<void> => {
    await mkdir(join(root, id));
    await writeFile(join(root, id, 'run.json'), text);
  };
  const journal = (id: string, createdAt: number): string =>
    JSON.stringify({ ...runOf.succeeded, id, createdAt });
  for (const [id, createdAt] of [
    ['b', 5],
    ['a', 9],
    ['c', 5],
  ] as const)
    await write(id, journal(id, createdAt));
  await mkdir(join(root, 'without-journal'));
  await writeFile(join(root, 'no-folder'), '');
  const readable = await readRuns(root);
  assert.deepEqual([readable.runs.map(({ id }) => id), readable.unread], [['a', 'c', 'b'], 0]);
  await write('damaged', '{"version":');
  await write('of-another-run', journal('x', 1));
  await write(
    'of-another-version',
    JSON.stringify({ ...runOf.succeeded, id: 'of-another-version', version: 9 }),
  );
  await mkdir(join(root, 'unreadable', 'run.json'), { recursive: true });
  assert.deepEqual(await readRuns(root), { runs: readable.runs, unread: 4 });
});

test('without a folder of runs there are none, and a folder that cannot be read is an error', async (t) => {
  const root = await tempFolder(t);
  assert.deepEqual(await readRuns(join(root, 'none')), { runs: [], unread: 0 });
  await writeFile(join(root, 'file'), '');
  await assert.rejects(readRuns(join(root, 'file')), { code: 'ENOTDIR' });
});

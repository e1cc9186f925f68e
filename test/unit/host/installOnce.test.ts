import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { installOnce } from '../../host/installOnce.ts';

const scratch = await mkdtemp(path.join(tmpdir(), 'install-'));

after(() => rm(scratch, { recursive: true, force: true }));

test('callers at the same time fill a folder once, and all find it filled', async () => {
  const folder = path.join(scratch, 'shared');
  let fills = 0;
  const found = await Promise.all(
    Array.from({ length: 4 }, async () => {
      await installOnce(folder, 'Invented', async () => {
        fills += 1;
        await writeFile(path.join(folder, 'content'), 'whole');
      });
      return existsSync(path.join(folder, 'content'));
    }),
  );
  assert.equal(fills, 1);
  assert.deepEqual(found, [true, true, true, true]);
});

test('what an interrupted attempt left is removed and filled again', async () => {
  const folder = path.join(scratch, 'interrupted');
  const cut = installOnce(folder, 'Invented', async () => {
    await writeFile(path.join(folder, 'half'), '');
    throw new Error('cut off');
  });
  await assert.rejects(cut, /cut off/u);
  await installOnce(folder, 'Invented', () => writeFile(path.join(folder, 'whole'), ''));
  assert.deepEqual(await readdir(folder), ['.complete', 'whole']);
});

test('the lock of a process that is gone does not hold', async () => {
  const folder = path.join(scratch, 'abandoned');
  const gone = spawnSync(process.execPath, ['--version']).pid;
  await mkdir(`${folder}.lock`);
  await writeFile(path.join(`${folder}.lock`, 'pid'), String(gone));
  await installOnce(folder, 'Invented', () => writeFile(path.join(folder, 'whole'), ''));
  assert.equal(existsSync(path.join(folder, 'whole')), true);
});

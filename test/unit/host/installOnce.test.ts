import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { installOnce } from '../../host/installOnce.ts';

const scratch = await mkdtemp(path.join(tmpdir(), 'install-'));

after(() => rm(scratch, { recursive: true, force: true }));

test('a folder is filled once', async () => {
  const folder = path.join(scratch, 'once');
  let fills = 0;
  const fill = async (): Promise<void> => {
    fills += 1;
    await writeFile(path.join(folder, 'whole'), '');
  };
  await installOnce(folder, 'Invented', fill);
  await installOnce(folder, 'Invented', fill);
  assert.equal(fills, 1);
  assert.deepEqual(await readdir(folder), ['.complete', 'whole']);
});

test('a half-installed folder of a killed process is removed and filled again', async () => {
  const folder = path.join(scratch, 'killed');
  const script = `
    import { writeFile } from 'node:fs/promises';
    import { installOnce } from ${JSON.stringify(import.meta.resolve('../../host/installOnce.ts'))};
    await installOnce(${JSON.stringify(folder)}, 'Invented', async () => {
      await writeFile(${JSON.stringify(path.join(folder, 'half'))}, '');
      console.log('half');
      await new Promise((resolve) => setTimeout(resolve, 600_000));
    });
  `;
  const installer = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(installer.stdout, 'data');
  installer.kill('SIGKILL');
  await once(installer, 'exit');
  assert.deepEqual(await readdir(folder), ['half']);
  await installOnce(folder, 'Invented', () => writeFile(path.join(folder, 'whole'), ''));
  assert.deepEqual(await readdir(folder), ['.complete', 'whole']);
});

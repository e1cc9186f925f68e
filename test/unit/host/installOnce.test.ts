import assert from 'node:assert/strict';
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { after, test } from 'node:test';
import { installOnce } from '../../host/installOnce.ts';

const scratch = await mkdtemp(path.join(tmpdir(), 'install-'));

after(() => rm(scratch, { recursive: true, force: true }));

test('a folder is filled once, also by two processes at the same time', async () => {
  const folder = path.join(scratch, 'once');
  const { promise: waits, resolve: letGo } = Promise.withResolvers<undefined>();
  let fills = 0;
  const filling = installOnce(folder, 'Invented', async (into) => {
    fills += 1;
    await writeFile(path.join(into, 'whole'), '');
    await waits;
  });
  const other = startOther(folder, `throw new Error('filled twice')`);
  const said = text(other.stdout);
  await once(other.stdout, 'data');
  assert.deepEqual(await readdir(scratch), ['once.filling', 'once.lock']);
  letGo(undefined);
  await Promise.all([filling, once(other, 'exit')]);
  await installOnce(folder, 'Invented', () => Promise.reject(new Error('filled again')));
  assert.deepEqual([other.exitCode, await said], [0, 'Invented: another process installs it\n']);
  assert.deepEqual([fills, await readdir(folder)], [1, ['.complete', 'whole']]);
  assert.deepEqual(await readdir(scratch), ['once']);
});

test('what a killed process has half filled is removed and filled again', async () => {
  const folder = path.join(scratch, 'killed');
  const killed = startOther(
    folder,
    `await writeFile(into + '/half', ''); console.log('half'); setInterval(() => {}, 1e6); await new Promise(() => {})`,
  );
  await once(killed.stdout, 'data');
  killed.kill('SIGKILL');
  await once(killed, 'exit');
  assert.deepEqual(await readdir(`${folder}.filling`), ['half']);
  await installOnce(folder, 'Invented', (into) => writeFile(path.join(into, 'whole'), ''));
  assert.deepEqual(await readdir(folder), ['.complete', 'whole']);
});

/** The process fills `folder` by `body`, which gets `into`. */
function startOther(folder: string, body: string): ChildProcessByStdio<null, Readable, null> {
  const script = `
    import { writeFile } from 'node:fs/promises';
    import { installOnce } from ${JSON.stringify(import.meta.resolve('../../host/installOnce.ts'))};
    await installOnce(${JSON.stringify(folder)}, 'Invented', async (into) => { ${body} });
  `;
  return spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}

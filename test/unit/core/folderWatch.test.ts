import assert from 'node:assert/strict';
import { mkdir, rm, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { watchFolder } from '../../../src/core/files.ts';
import { tempFolder } from '../run/tempFolder.ts';

function listen(folder: string): {
  heard: (name: string) => Promise<void>;
  names: string[];
  dispose: () => void;
} {
  const names: string[] = [];
  let look = (): void => undefined;
  const watching = watchFolder(folder, (name) => {
    names.push(name ?? '?');
    look();
  });
  const heard = (name: string): Promise<void> =>
    new Promise((resolve) => {
      look = () => {
        if (names.includes(name)) resolve();
      };
      look();
    });
  return { heard, names, dispose: () => watching.dispose() };
}

describe('a watched folder', () => {
  test('reports created, changed and removed entries', { timeout: 60_000 }, async (t) => {
    const folder = await tempFolder(t);
    const { heard, names, dispose } = listen(folder);
    t.after(dispose);
    const entry = join(folder, 'run');
    await mkdir(entry);
    await heard('run');
    names.length = 0;
    await utimes(entry, new Date(), new Date());
    await heard('run');
    names.length = 0;
    await rm(entry, { recursive: true });
    await heard('run');
  });

  test('that cannot be watched is polled every ten seconds until disposed', async (t) => {
    t.mock.timers.enable({ apis: ['setInterval'] });
    const { names, dispose } = listen(join(await tempFolder(t), 'nowhere'));
    t.mock.timers.tick(20_000);
    assert.deepEqual(names, ['?', '?']);
    dispose();
    t.mock.timers.tick(20_000);
    assert.deepEqual(names, ['?', '?']);
  });
});

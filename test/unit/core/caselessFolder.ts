import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { tempFolder } from '../run/tempFolder.ts';

/**
 * The folder ignores letter case, as most disks of macOS do. Skips the test, and returns undefined,
 * where the system can't make one.
 */
export async function caselessFolder(t: TestContext): Promise<string | undefined> {
  const folder = await tempFolder(t);
  await writeFile(join(folder, 'probe'), '');
  if (existsSync(join(folder, 'PROBE'))) return folder;
  const [image, mount] = [join(folder, 'image'), join(folder, 'mount')];
  try {
    await writeFile(image, '');
    await truncate(image, 16 * 1024 * 1024);
    await mkdir(mount);
    const options = { stdio: 'pipe' } as const;
    execFileSync('mkfs.ext4', ['-q', '-O', 'casefold', image], options);
    execFileSync('mount', ['-o', 'loop', image, mount], options);
    t.after(() => execFileSync('umount', [mount], options));
    await mkdir(join(mount, 'caseless'));
    execFileSync('chattr', ['+F', join(mount, 'caseless')], options);
    return join(mount, 'caseless');
  } catch (error) {
    // The first line repeats the command, where it ran.
    const [start = '', reason = start] = String(error instanceof Error ? error.message : error).split('\n');
    t.skip(`no folder that ignores letter case can be made here: ${reason}`);
    return undefined;
  }
}

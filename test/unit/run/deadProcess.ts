import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Fixture } from './runWindow.ts';

/**
 * Makes the holder of a run's lease a process that is not known here: a killed window, if the clock
 * of the holder stands still, and else one in another container. Another window takes over 10 s
 * after it has seen that.
 */
export async function killHolder(fixture: Fixture, id: string): Promise<void> {
  const folder = join(fixture.root, id, 'lease');
  const pid = await deadPid();
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    const { mtimeMs } = await stat(path);
    const holder = JSON.parse(await readFile(path, 'utf8')) as object;
    await writeFile(path, JSON.stringify({ ...holder, pid }));
    await utimes(path, mtimeMs / 1000, mtimeMs / 1000);
  }
}

export async function deadPid(): Promise<number> {
  const child = spawn(process.execPath, ['--version'], { stdio: 'ignore' });
  await once(child, 'exit');
  return child.pid ?? 0;
}

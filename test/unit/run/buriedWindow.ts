import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Desk } from './runWindow.ts';

/** Makes the holder of a run's lease a process that is no more, as a killed window leaves it. */
export async function bury(desk: Desk, id: string): Promise<void> {
  const folder = join(desk.root, id, 'lease');
  const pid = await deadPid();
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    const holder = JSON.parse(await readFile(path, 'utf8')) as object;
    await writeFile(path, JSON.stringify({ ...holder, pid }));
    const now = desk.clock.now() / 1000;
    await utimes(path, now, now);
  }
}

/** The ID of a process that has ended. */
export async function deadPid(): Promise<number> {
  const child = spawn(process.execPath, ['--version'], { stdio: 'ignore' });
  await once(child, 'exit');
  return child.pid ?? 0;
}

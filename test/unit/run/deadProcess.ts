import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Fixture } from './runWindow.ts';

/** Makes the holder of a run's lease a dead process, as after a killed window. */
export async function killHolder(fixture: Fixture, id: string): Promise<void> {
  const folder = join(fixture.root, id, 'lease');
  const pid = await deadPid();
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    const holder = JSON.parse(await readFile(path, 'utf8')) as object;
    await writeFile(path, JSON.stringify({ ...holder, pid }));
    const now = fixture.clock.now() / 1000;
    await utimes(path, now, now);
  }
}

export async function deadPid(): Promise<number> {
  const child = spawn(process.execPath, ['--version'], { stdio: 'ignore' });
  await once(child, 'exit');
  return child.pid ?? 0;
}

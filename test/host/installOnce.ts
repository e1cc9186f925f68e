import { existsSync } from 'node:fs';
import { mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

/** Everything that tests fetch or unpack lies here, under the project root, ignored by git. */
export const cacheRoot: string = path.resolve(import.meta.dirname, '../../.vscode-test');

const marker = '.complete';

/**
 * Fills `folder` by `fill` exactly once, however many processes ask at the same time, and prints one line when it did.
 * The marker is written last: a folder without it is what an interrupted attempt left, and is filled again from nothing.
 */
export async function installOnce(folder: string, label: string, fill: () => Promise<void>): Promise<void> {
  if (existsSync(path.join(folder, marker))) return;
  const unlock = await lock(`${folder}.lock`);
  try {
    if (existsSync(path.join(folder, marker))) return;
    const start = performance.now();
    await rm(folder, { recursive: true, force: true });
    await mkdir(folder, { recursive: true });
    await fill();
    await writeFile(path.join(folder, marker), `${label}\n`);
    process.stdout.write(`${label}: ready in ${((performance.now() - start) / 1000).toFixed(1)} s\n`);
  } finally {
    await unlock();
  }
}

async function lock(folder: string): Promise<() => Promise<void>> {
  await mkdir(path.dirname(folder), { recursive: true });
  for (;;) {
    try {
      await mkdir(folder);
      await writeFile(path.join(folder, 'pid'), String(process.pid));
      return () => rm(folder, { recursive: true, force: true });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    if (await isAbandoned(folder)) await rm(folder, { recursive: true, force: true });
    // Another process is at work; nothing tells us when it is done.
    await delay(200);
  }
}

async function isAbandoned(folder: string): Promise<boolean> {
  try {
    const pid = Number(await readFile(path.join(folder, 'pid'), 'utf8'));
    return pid > 0 && !isRunning(pid);
  } catch {
    // The owner is between mkdir and writing its id, or died there, or has just let go.
    const age = await stat(folder).then(
      (found) => Date.now() - found.mtimeMs,
      () => 0,
    );
    return age > 10_000;
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

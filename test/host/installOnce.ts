import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

/** Tests store downloads here, under the project root. Git ignores the folder. */
export const cacheRoot: string = path.resolve(import.meta.dirname, '../../.vscode-test');

const marker = '.complete';

/** A waiting process checks this often whether another process has filled the folder. */
const lookAgainMs = 200;

/**
 * Makes `folder` unless it is complete. `fill` gets the empty folder `<folder>.filling`, which is
 * renamed when it is filled, so that nobody sees half of it. Other processes wait meanwhile.
 */
export async function installOnce(
  folder: string,
  label: string,
  fill: (into: string) => Promise<void>,
): Promise<void> {
  const isComplete = (): boolean => existsSync(path.join(folder, marker));
  if (isComplete()) return;
  await mkdir(path.dirname(folder), { recursive: true });
  const lock = `${folder}.lock`;
  let hasSaidSo = false;
  while (!(await takeLock(lock))) {
    if (!hasSaidSo) process.stdout.write(`${label}: another process installs it\n`);
    hasSaidSo = true;
    await delay(lookAgainMs);
  }
  try {
    if (isComplete()) return;
    const start = performance.now();
    const filling = `${folder}.filling`;
    await rm(filling, { recursive: true, force: true });
    await mkdir(filling);
    await fill(filling);
    await writeFile(path.join(filling, marker), `${label}\n`);
    await rm(folder, { recursive: true, force: true });
    await rename(filling, folder);
    process.stdout.write(`${label}: ready in ${((performance.now() - start) / 1000).toFixed(1)} s\n`);
  } finally {
    await rm(lock, { force: true });
  }
}

/** Makes the lock file, with the ID of this process, unless a process that is running has it. */
async function takeLock(lock: string): Promise<boolean> {
  try {
    await writeFile(lock, String(process.pid), { flag: 'wx' });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  const holder = await readFile(lock, 'utf8').catch(() => '');
  // The lock file is empty until its maker has written to it.
  if (holder === '' || isRunning(Number(holder))) return false;
  await rm(lock, { force: true });
  return takeLock(lock);
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

import { existsSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';

/** Where tests store downloads, under the project root, ignored by git. */
export const cacheRoot: string = path.resolve(import.meta.dirname, '../../.vscode-test');

const marker = '.complete';

/**
 * Fills `folder` by `fill` unless that is done, and prints one line when it did. The marker is written last: a folder
 * without it is what an interrupted attempt left, and is filled again from nothing.
 */
export async function installOnce(folder: string, label: string, fill: () => Promise<void>): Promise<void> {
  if (existsSync(path.join(folder, marker))) return;
  const start = performance.now();
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  await fill();
  await writeFile(path.join(folder, marker), `${label}\n`);
  process.stdout.write(`${label}: ready in ${((performance.now() - start) / 1000).toFixed(1)} s\n`);
}

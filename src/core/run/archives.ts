import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { isFinal, type Run } from './run.ts';

const longestKeptMs = 7 * 24 * 60 * 60 * 1000;

/** True while a run's local archives may be of use: until its artifacts are here, for the text that findings point at is taken from them; 7 days at most. */
export function needsArchives(run: Run, now: number): boolean {
  if (now - (run.uploadedAt ?? run.createdAt) > longestKeptMs) return false;
  if (!isFinal(run)) return true;
  return 'artifacts' in run && (run.artifacts ?? []).some(({ failure }) => failure !== undefined);
}

/** Removes the local archives of a run from its folder. */
export async function removeArchives(run: Run, folder: string): Promise<void> {
  for (const { archive } of run.targets) {
    if (archive !== undefined) await rm(join(folder, archive.file), { force: true });
  }
}

/** Removes archives past their time from the folder of a run whose journal cannot be read. */
export async function sweepArchives(folder: string, now: number): Promise<void> {
  for (const name of (await readdir(folder)).filter((each) => /^archive-\d+\./.test(each))) {
    const path = join(folder, name);
    if (now - (await stat(path)).mtimeMs > longestKeptMs) await rm(path, { force: true });
  }
}

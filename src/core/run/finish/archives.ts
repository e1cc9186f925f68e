import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { isFinal, type Run } from '../state/run.ts';

const longestKeptMs = 7 * 24 * 60 * 60 * 1000;

/** True while a run's local archives may be of use: until its artifacts are here, for the text that findings point at is taken from them. */
export function needsArchives(run: Run): boolean {
  if (!isFinal(run)) return true;
  return 'artifacts' in run && (run.artifacts ?? []).some(({ failure }) => failure !== undefined);
}

/** True when archives that were made at this time have been kept for as long as they may be, needed or not. */
export function isPastKeeping(madeAt: number, now: number): boolean {
  return now - madeAt > longestKeptMs;
}

/** Removes the local archives of a run from its folder. */
export async function removeArchives(run: Run, folder: string): Promise<void> {
  for (const { archive } of run.targets) {
    if (archive !== undefined) await rm(join(folder, archive.file), { force: true });
  }
}

/** The archives in the folder of a run whose journal cannot be read, and when the last of them was written. */
export async function strayArchives(folder: string): Promise<{ paths: string[]; madeAt: number }> {
  const names = await readdir(folder);
  const paths = names.filter((each) => /^archive-\d+\./.test(each)).map((each) => join(folder, each));
  const times = await Promise.all(paths.map(async (path) => (await stat(path)).mtimeMs));
  return { paths, madeAt: Math.max(...times) };
}

import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isFinal, type Run } from './run.ts';
import type { RunStore } from './runStore.ts';

const longestKeptMs = 7 * 24 * 60 * 60 * 1000;

/** True while a run's local archives may be of use: until its artifacts are here, for the text that findings point at is taken from them; 7 days at most. */
export function needsArchives(run: Run, now: number): boolean {
  if (now - (run.uploadedAt ?? run.createdAt) > longestKeptMs) return false;
  if (!isFinal(run)) return true;
  return 'artifacts' in run && (run.artifacts ?? []).some(({ failure }) => failure !== undefined);
}

/** Removes the local archives of a run. */
export async function removeArchives(run: Run, store: RunStore): Promise<void> {
  for (const { archive } of run.targets) {
    if (archive !== undefined) await rm(join(store.folderOf(run.id), archive.file), { force: true });
  }
}

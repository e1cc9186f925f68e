import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { readIfThere, writeFileAtomic } from '../../files.ts';
import { dayMs } from '../state/deadlines.ts';
import type { RunDeps } from './step.ts';

const maxArchiveAgeMs = 7 * dayMs;
/** No window takes longer between making a run's folder and writing its first journal. */
const maxStartMs = 60_000;

/** Removes folders that got no journal within a minute, and old archives beside a damaged journal; true while such archives wait. */
export async function removeStrays({ store, clock }: Pick<RunDeps, 'store' | 'clock'>): Promise<boolean> {
  let areDue = false;
  for (const folder of await store.foldersWithoutJournal()) {
    const { mtimeMs } = await stat(folder);
    const names = await readdir(folder);
    if (names.every((each) => /^(?:lease|lock)$|\.tmp$/.test(each))) {
      if (clock.now() - mtimeMs > maxStartMs) await rm(folder, { recursive: true, force: true });
      continue;
    }
    const archives = names.filter((each) => /^archive-\d+\./.test(each)).map((each) => join(folder, each));
    const ages = await Promise.all(archives.map(async (path) => clock.now() - (await stat(path)).mtimeMs));
    const areOld = archives.length > 0 && Math.min(...ages) > maxArchiveAgeMs;
    const note = join(folder, 'archives-due');
    if (await isStillDue(areOld, note, clock.now()))
      for (const path of [...archives, note]) await rm(path, { force: true });
    else areDue ||= areOld;
  }
  return areDue;
}

/** True if this was due at a look a day ago, too: the wall clock may jump. The file at `path` has the time of the first look. */
async function isStillDue(isDue: boolean, path: string, now: number): Promise<boolean> {
  if (!isDue) {
    await rm(path, { force: true });
    return false;
  }
  const firstLook = await readIfThere(path);
  if (firstLook === undefined) await writeFileAtomic(path, String(now));
  return firstLook !== undefined && now - Number(firstLook) >= dayMs;
}

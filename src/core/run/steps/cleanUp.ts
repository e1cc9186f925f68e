import { readdir, rm, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { readIfThere, sweepTemporary, writeFileAtomic } from '../../files.ts';
import { dayMs } from '../state/run.ts';
import { hasOldArchives, isPastLocalRetention, maxArchiveAgeMs } from '../state/retention.ts';
import { runFolders } from '../disk/journal.ts';
import { awaitLease, type LeaseDeps } from '../disk/lease.ts';
import { withLock } from '../disk/lock.ts';
import { isReplaced } from './downloadArtifacts.ts';
import { removeArchives } from './endRun.ts';
import type { RunDeps } from './step.ts';

/**
 * Removes folders of starts whose window ended before they had a journal. A folder stays if a
 * living window holds its lease.
 */
export async function removeAbandonedStarts({ store, ...deps }: RunDeps): Promise<void> {
  for (const folder of await store.foldersWithoutJournal())
    await logged(folder, deps, async () => {
      const names = await readdir(folder);
      // A start without a lease file may have just begun, so its folder stays.
      const leases = names.includes('lease') ? await readdir(join(folder, 'lease')) : [];
      if (leases.length > 0 && !names.some(isJournal)) await removeUnlessLeased(folder, deps);
    });
}

/**
 * Once a day, removes everything that had already expired at the previous pass. `passNote` has the
 * time of that pass. A clock that is wrong at only one pass therefore removes nothing.
 */
export async function cleanUp(deps: RunDeps): Promise<boolean> {
  const { store, log, retainLocalDays } = deps;
  const before = await notePass(store.passNote, deps);
  if (before === 'too early') return false;
  // This is the first pass, or the noted time is wrong.
  if (before === undefined) return true;
  for (const run of store.all())
    await logged(run.id, deps, async () => {
      if (isPastLocalRetention(run, retainLocalDays(), before)) {
        log.info(`Run ${run.id} is removed: its retention period is over`);
        await store.remove(run.id);
        return;
      }
      if (hasOldArchives(run, before)) await store.apply(run.id, await removeArchives(run, deps));
      await sweepTemporary(store.folderOf(run.id), before, (name) => isReplaced(run, name));
    });
  for (const folder of await store.foldersWithoutJournal())
    await logged(folder, deps, () => cleanStray(folder, before, deps));
  for (const claim of await runFolders(store.startingFolder))
    await logged(claim, deps, () => removeIfOld(join(store.startingFolder, claim), before, deps));
  return true;
}

async function notePass(path: string, deps: LeaseDeps): Promise<number | 'too early' | undefined> {
  return withLock(`${path}.lock`, deps, async (requireLock) => {
    const text = await readIfThere(path);
    const before = text === undefined ? undefined : Number(text);
    const now = deps.clock.now();
    if (before !== undefined && before <= now && now - before < dayMs) return 'too early';
    await writeFileAtomic(path, String(now), requireLock);
    return before === undefined || !(before <= now) ? undefined : before;
  });
}

/**
 * Keeps a folder with a damaged journal for the local retention period, but removes its archives
 * after `maxArchiveAgeMs`.
 */
async function cleanStray(folder: string, before: number, deps: RunDeps): Promise<void> {
  const names = await readdir(folder);
  const ageMs = async (name: string): Promise<number> => before - (await stat(join(folder, name))).mtimeMs;
  const damaged = names.filter(isJournal);
  if (damaged.length === 0) return removeIfOld(folder, before, deps);
  const ages = await Promise.all(damaged.map(ageMs));
  if (Math.min(...ages) > deps.retainLocalDays() * dayMs) return removeUnlessLeased(folder, deps);
  for (const name of names.filter((each) => /^archive-\d+\./.test(each)))
    if ((await ageMs(name)) > maxArchiveAgeMs) await rm(join(folder, name), { force: true });
  await sweepTemporary(folder, before);
}

async function removeIfOld(folder: string, before: number, deps: LeaseDeps): Promise<void> {
  if (before > (await stat(folder)).mtimeMs) await removeUnlessLeased(folder, deps);
}

async function removeUnlessLeased(folder: string, deps: LeaseDeps): Promise<void> {
  const lease = await awaitLease(join(folder, 'lease'), deps);
  if (lease === undefined) return;
  await rm(folder, { recursive: true, force: true, maxRetries: 3 });
  await lease.release();
}

function isJournal(name: string): boolean {
  return name.startsWith('run.json') && !name.endsWith('.tmp');
}

async function logged(what: string, { log }: LeaseDeps, act: () => Promise<void>): Promise<void> {
  await act().catch((error: unknown) => {
    log.warn(`${basename(what)} could not be cleaned up: ${String(error)}`);
  });
}

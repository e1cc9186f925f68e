import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod/mini';
import { markOf, readIfThere, writeFileAtomic } from '../../files.ts';
import type { Clock } from '../../ports.ts';
import type { HeldLeases } from '../disk/heldLeases.ts';
import type { RunStore } from '../disk/runStore.ts';
import type { RunDeps } from '../runDeps.ts';
import { isPastLocalRetention, isRetentionNoticeDue } from '../state/deadlines.ts';
import { isFinal, type Run } from '../state/run.ts';
import { minWakingMs, type WakingTime } from '../state/wakingTime.ts';

const maxArchiveAgeMs = 7 * 24 * 60 * 60 * 1000;
/** No window takes longer between making a run's folder and writing its first journal. */
const maxStartMs = 60_000;

type CleanupDeps = Pick<RunDeps, 'store' | 'clock' | 'log' | 'retainLocalDays'> & {
  readonly leases: HeldLeases;
  readonly waking: WakingTime;
};

/**
 * Removes runs past the retention setting, archives past their time, and what dead processes left. Files due by the wall clock, which may jump, are
 * removed after 24 h more of waking time. Returns the runs whose missing results the service may soon delete, each once in one window. `isDue` says
 * that something waits for its removal. Does nothing while runs cannot be saved.
 */
export async function cleanUp(deps: CleanupDeps): Promise<{ nearing: readonly Run[]; isDue: boolean }> {
  const { store, log } = deps;
  if (store.problem !== undefined) return { nearing: [], isDue: false };
  let isDue = await removeStrays(deps).catch((error: unknown) => {
    log.warn(`Files of ended processes could not be removed: ${String(error)}`);
    return false;
  });
  const nearing: Run[] = [];
  for (const run of store.all()) {
    try {
      if (await removeOld(run, deps)) isDue = true;
      const nearingRun = await notifyRetention(run, deps);
      if (nearingRun !== undefined) nearing.push(nearingRun);
    } catch (error) {
      log.warn(`Run ${run.id}: its local files could not be cleaned up: ${String(error)}`);
    }
  }
  return { nearing, isDue };
}

/** Removes folders that got no journal within a minute, and old archives beside a damaged journal; true while such archives wait. */
export async function removeStrays(deps: Pick<CleanupDeps, 'store' | 'clock' | 'waking'>): Promise<boolean> {
  const { store, clock } = deps;
  let isDue = false;
  for (const folder of await store.foldersWithoutJournal()) {
    const { mtimeMs } = await stat(folder);
    const names = await readdir(folder);
    if (names.every((each) => /^(?:lease|lock)$|\.tmp$/.test(each))) {
      if (clock.now() - mtimeMs > maxStartMs) await rm(folder, { recursive: true, force: true });
      continue;
    }
    const archives = names.filter((each) => /^archive-\d+\./.test(each)).map((each) => join(folder, each));
    const times = await Promise.all(archives.map(async (path) => (await stat(path)).mtimeMs));
    const areOld = archives.length > 0 && clock.now() - Math.max(...times) > maxArchiveAgeMs;
    const mayRemove = await isLongDue(areOld, join(folder, 'archives-due.json'), deps);
    if (mayRemove) for (const path of archives) await rm(path, { force: true });
    isDue ||= areOld && !mayRemove;
  }
  return isDue;
}

/** Removes a run past the retention setting, or its archives past their time; true while a removal is due and waits. */
async function removeOld(run: Run, deps: CleanupDeps): Promise<boolean> {
  const { store, leases, clock, log } = deps;
  const folder = store.folderOf(run.id);
  const isOld = isPastLocalRetention(run, deps.retainLocalDays(), clock.now());
  if (await isLongDue(isOld, join(folder, 'history-due.json'), deps)) {
    if (!(await leases.take(run.id))) return true;
    log.info(`Run ${run.id} is past its retention period and is removed`);
    try {
      await store.remove(run.id);
    } finally {
      await leases.release(run.id);
    }
    return false;
  }
  const archives = run.targets.flatMap(({ archive }) => archive?.file ?? []);
  const marks = await Promise.all(archives.map((file) => markOf(join(folder, file))));
  const areOld =
    marks.some((mark) => mark !== undefined) &&
    clock.now() - (run.uploadedAt ?? run.createdAt) > maxArchiveAgeMs;
  const mayRemove = await isLongDue(areOld, join(folder, 'archives-due.json'), deps);
  if (mayRemove || !needsArchives(run)) await removeArchives(run, folder);
  return isOld || (areOld && !mayRemove);
}

async function notifyRetention(run: Run, { store, clock }: CleanupDeps): Promise<Run | undefined> {
  const now = clock.now();
  if (!isRetentionNoticeDue(run, now)) return undefined;
  if (await hasResults(run, store)) return undefined;
  return store.applyIfDue(run.id, { type: 'retentionNotified', at: now });
}

async function hasResults(run: Run, store: RunStore): Promise<boolean> {
  if (!isFinal(run)) return false;
  for (const { file } of 'artifacts' in run ? (run.artifacts ?? []) : []) {
    const mark = file === undefined ? undefined : await markOf(join(store.folderOf(run.id), file));
    if (mark === undefined) return false;
  }
  return true;
}

export async function removeUnneededArchives(
  run: Run,
  { store, log }: Pick<RunDeps, 'store' | 'log'>,
): Promise<void> {
  if (needsArchives(run)) return;
  try {
    await removeArchives(run, store.folderOf(run.id));
  } catch (error) {
    log.warn(`Run ${run.id}: a local archive could not be removed: ${String(error)}`);
  }
}

/** True until every artifact is here: the text that findings point at is taken from the archives. */
function needsArchives(run: Run): boolean {
  if (!isFinal(run)) return true;
  return 'artifacts' in run && (run.artifacts ?? []).some(({ failure }) => failure !== undefined);
}

async function removeArchives(run: Run, folder: string): Promise<void> {
  for (const { archive } of run.targets) {
    if (archive !== undefined) await rm(join(folder, archive.file), { force: true });
  }
}

const dueSchema = z.object({ wakingMs: z.number(), at: z.number() });

/** True once something has been due at every check for 24 h of waking time, which all windows count in the file at `path`. */
async function isLongDue(
  isDue: boolean,
  path: string,
  { clock, waking }: { clock: Clock; waking: WakingTime },
): Promise<boolean> {
  if (!isDue) {
    await rm(path, { force: true });
    return false;
  }
  const at = clock.now();
  const stepMs = waking.step(path);
  const before = await readDue(path);
  // Another window may have counted part of this step.
  const wakingMs = before === undefined ? 0 : before.wakingMs + Math.min(stepMs, Math.abs(at - before.at));
  await writeFileAtomic(path, JSON.stringify({ wakingMs, at }));
  return wakingMs >= minWakingMs;
}

async function readDue(path: string): Promise<z.infer<typeof dueSchema> | undefined> {
  const text = await readIfThere(path);
  try {
    return dueSchema.safeParse(JSON.parse(text ?? 'null')).data;
  } catch {
    return undefined; // a damaged file: counting restarts
  }
}

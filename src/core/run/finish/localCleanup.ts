import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { systemCode } from '../../errors.ts';
import type { Clock, Logger } from '../../ports.ts';
import { isPastKeeping, needsArchives, removeArchives } from './archives.ts';
import { isOutlived, isRetentionNoticeDue } from '../state/deadlines.ts';
import type { DrivenRuns } from '../watch/schedule.ts';
import { isFinal, type Run } from '../state/run.ts';
import type { RunStore } from '../disk/runStore.ts';
import { isLongDue, type WakingTime } from './wakingTime.ts';

/** What keeping house works with. */
export interface HouseDeps {
  readonly store: RunStore;
  readonly driven: DrivenRuns;
  readonly clock: Clock;
  readonly waking: WakingTime;
  readonly log: Logger;
  /** For how many days ended runs stay on this machine. */
  readonly retainLocalDays: () => number;
}

/** What keeping house has found. */
export interface HouseReport {
  /** Runs whose results, not here, the service will soon keep no more: each once, in one window. */
  readonly nearing: readonly Run[];
  /** True while something is to go once that has been so for long. */
  readonly isDue: boolean;
}

/** Forgets runs that have outlived the history, and removes archives past their time and what dead processes left. What goes by the wall clock goes only once it has been due for 24 h of waking time: that clock may have jumped. */
export async function keepHouse(deps: HouseDeps): Promise<HouseReport> {
  const { store, waking, log } = deps;
  let isDue = await store.sweep(waking).catch((error: unknown) => {
    log.warn(`What dead processes left could not be swept: ${String(error)}`);
    return false;
  });
  const nearing: Run[] = [];
  for (const run of store.all()) {
    try {
      // Where nothing can be written, nothing that is due can be noted, or removed.
      if (!store.isTemporary && (await removeOld(run, deps))) isDue = true;
      const near = await noteNearing(run, deps);
      if (near !== undefined) nearing.push(near);
    } catch (error) {
      log.warn(`Run ${run.id}: it could not be tidied up after: ${String(error)}`);
    }
  }
  return { nearing, isDue };
}

/** Removes a run that has outlived the history, or its archives; true while that is due, and not yet for long. */
async function removeOld(run: Run, deps: HouseDeps): Promise<boolean> {
  const { store, driven, clock, log } = deps;
  const folder = store.folderOf(run.id);
  const isOld = isOutlived(run, deps.retainLocalDays(), clock.now());
  if (await isLongDue(isOld, join(folder, 'history-due.json'), deps)) {
    if (!(await driven.take(run.id))) return true;
    log.info(`Run ${run.id} has outlived the history`);
    try {
      await store.remove(run.id);
    } finally {
      await driven.letGo(run.id);
    }
    return false;
  }
  const archives = run.targets.flatMap(({ archive }) => archive?.file ?? []);
  const kept = await Promise.all(archives.map((file) => isThere(join(folder, file))));
  const isPast = kept.includes(true) && isPastKeeping(run.uploadedAt ?? run.createdAt, clock.now());
  const isLong = await isLongDue(isPast, join(folder, 'archives-due.json'), deps);
  if (isLong || !needsArchives(run)) await removeArchives(run, folder);
  return isOld || (isPast && !isLong);
}

async function noteNearing(run: Run, { store, clock }: HouseDeps): Promise<Run | undefined> {
  const now = clock.now();
  if (!isRetentionNoticeDue(run, now)) return undefined;
  if (await hasResults(run, store)) return undefined;
  return store.applyIfDue(run.id, { type: 'retentionNoticed', at: now });
}

/** True when every artifact of an ended run is on this machine. */
async function hasResults(run: Run, store: RunStore): Promise<boolean> {
  if (!isFinal(run)) return false;
  for (const { file } of 'artifacts' in run ? (run.artifacts ?? []) : []) {
    if (file === undefined || !(await isThere(join(store.folderOf(run.id), file)))) return false;
  }
  return true;
}

async function isThere(path: string): Promise<boolean> {
  try {
    await access(path);
    return true;
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return false;
    throw error;
  }
}

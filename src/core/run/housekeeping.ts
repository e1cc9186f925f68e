import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { systemCode } from '../errors.ts';
import type { Clock, Logger } from '../ports.ts';
import { needsArchives, removeArchives } from './archives.ts';
import { isNearRetentionEnd, isOutlived } from './attention.ts';
import type { DrivenRuns } from './drivenRuns.ts';
import { isFinal, isPreparing, type Run } from './run.ts';
import type { RunStore } from './runStore.ts';

/** What keeping house works with. */
export interface HouseDeps {
  readonly store: RunStore;
  readonly driven: DrivenRuns;
  readonly clock: Clock;
  readonly log: Logger;
  /** For how many days ended runs stay on this machine. */
  readonly retainLocalDays: () => number;
}

/** Forgets runs that have outlived the history, removes archives past their time, and returns runs whose results, not here, the service will soon keep no more: each once, in one window. */
export async function keepHouse(deps: HouseDeps): Promise<Run[]> {
  const nearing: Run[] = [];
  for (const run of deps.store.all()) {
    try {
      const near = await keepOne(run, deps);
      if (near !== undefined) nearing.push(near);
    } catch (error) {
      deps.log.warn(`Run ${run.id}: it could not be tidied up after: ${String(error)}`);
    }
  }
  return nearing;
}

async function keepOne(run: Run, deps: HouseDeps): Promise<Run | undefined> {
  const { store, driven, clock, log } = deps;
  const now = clock.now();
  if (isOutlived(run, deps.retainLocalDays(), now)) {
    if (!(await driven.take(run.id))) return undefined;
    log.info(`Run ${run.id} has outlived the history`);
    try {
      await store.remove(run.id);
    } finally {
      await driven.letGo(run.id);
    }
    return undefined;
  }
  if (!isPreparing(run) && !needsArchives(run, now)) await removeArchives(run, store.folderOf(run.id));
  if (run.retentionNoticedAt !== undefined || !isNearRetentionEnd(run, now)) return undefined;
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

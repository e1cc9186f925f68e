import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod/mini';
import { systemCode } from '../../errors.ts';
import { readIfThere, writeFileAtomic } from '../../files.ts';
import type { Clock } from '../../ports.ts';
import { dayMs, maxArchiveAgeMs } from '../state/deadlines.ts';
import { type LeaseDeps, takeLease } from './lease.ts';
import { idSchema, journalVersion, type Run, runSchema, workflowSchema } from '../state/run.ts';

/** No window takes longer between making a run's folder and writing its first journal. */
const maxStartMs = 60_000;

const foreignSchema = z.object({
  id: idSchema,
  version: z.number(),
  workflow: z.string(),
  createdAt: z.catch(z.optional(z.number()), undefined),
});
/** A run in a journal of a later version, or of an unknown workflow; shown, and never changed. */
export type ForeignRun = Pick<z.infer<typeof foreignSchema>, 'id' | 'createdAt'>;

export type Journal = { readonly run: Run } | { readonly foreign: ForeignRun };

/** Undefined for a damaged journal. */
export function parseJournal(text: string): Journal | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  const run = runSchema.safeParse(value);
  if (run.success) return { run: run.data };
  const foreign = foreignSchema.safeParse(value);
  if (!foreign.success) return undefined;
  const { version, workflow } = foreign.data;
  const isOurs = version <= journalVersion && workflowSchema.safeParse(workflow).success;
  return isOurs ? undefined : { foreign: foreign.data };
}

export interface RunsOnDisk {
  /** Newest first. */
  readonly runs: readonly Run[];
  /** The number of journals that are damaged, unreadable, or of another version. */
  readonly unread: number;
}

/** Reads the journals and changes nothing: `RunStore` sets damaged ones aside. Throws the system's error for an unreadable folder. */
export async function readRuns(root: string): Promise<RunsOnDisk> {
  const runs: Run[] = [];
  let unread = 0;
  for (const id of await runFolders(root)) {
    const text = await readIfThere(join(root, id, 'run.json')).catch(() => '');
    if (text === undefined) continue; // not written yet, or removed meanwhile
    const journal = parseJournal(text);
    if (journal !== undefined && 'run' in journal && journal.run.id === id) runs.push(journal.run);
    else unread += 1;
  }
  return { runs: runs.sort(newestFirst), unread };
}

export function newestFirst(one: ForeignRun, other: ForeignRun): number {
  return (other.createdAt ?? 0) - (one.createdAt ?? 0) || (other.id < one.id ? -1 : 1);
}

/** The names of the runs' folders, without links. Throws the system's error for an unreadable folder. */
export async function runFolders(root: string): Promise<readonly string[]> {
  try {
    const entries = await readdir(root, { withFileTypes: true });
    return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return [];
    throw error;
  }
}

/** Removes folders that never had a journal, and whose lease a dead window holds. */
export async function removeAbandonedStarts(folders: readonly string[], deps: LeaseDeps): Promise<void> {
  for (const folder of folders) {
    const names = await readdir(folder).catch((): string[] => []);
    if (!names.includes('lease') || names.some((name) => name.startsWith('run.json'))) continue;
    const lease = await takeLease(join(folder, 'lease'), deps);
    if (lease === undefined) continue;
    await rm(folder, { recursive: true, force: true, maxRetries: 3 });
    await lease.release();
  }
}

/** Of folders without a journal: removes those that are older than a minute, and old archives beside a damaged journal; true while such archives wait. */
export async function removeStrays(folders: readonly string[], clock: Clock): Promise<boolean> {
  let areDue = false;
  for (const folder of folders) {
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

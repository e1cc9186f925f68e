import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { systemCode } from '../../errors.ts';
import { readIfThere } from '../../files.ts';
import { type ForeignRun, parseJournal, type Run } from '../state/run.ts';

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

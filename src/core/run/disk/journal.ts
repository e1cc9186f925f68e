import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod/mini';
import { systemCode } from '../../errors.ts';
import { readIfThere } from '../../files.ts';
import { parseIfJson } from '../../json.ts';
import { idSchema, journalVersion, type Run, runSchema, workflowSchema } from '../state/run.ts';

const newerSchema = z.object({
  id: idSchema,
  version: z.number(),
  workflow: z.string(),
  createdAt: z.catch(z.optional(z.number()), undefined),
});
/** The journal of an unread run is never changed. */
export interface UnreadRun {
  readonly state: 'newer' | 'unreadable';
  readonly id: string;
  readonly createdAt?: number | undefined;
}

export type Row = Run | UnreadRun;

export function isRead(row: Row): row is Run {
  return row.state !== 'newer' && row.state !== 'unreadable';
}

/** Undefined for a damaged journal. */
export function parseJournal(text: string): Row | undefined {
  const value = parseIfJson(text);
  const run = runSchema.safeParse(value);
  if (run.success) return run.data;
  const newer = newerSchema.safeParse(value);
  if (!newer.success) return undefined;
  const { version, workflow, id, createdAt } = newer.data;
  const isOurs = version <= journalVersion && workflowSchema.safeParse(workflow).success;
  return isOurs && !run.error.issues.every(isUnknownValue) ? undefined : { state: 'newer', id, createdAt };

  function isUnknownValue({ code, path }: z.core.$ZodIssue): boolean {
    if (code !== 'invalid_value' && code !== 'invalid_union') return false;
    const step = (at: unknown, key: PropertyKey): unknown =>
      (at as Record<PropertyKey, unknown> | undefined)?.[key];
    return typeof path.reduce(step, value) === 'string';
  }
}

export interface RunsOnDisk {
  /** Newest first. */
  readonly runs: readonly Run[];
  readonly unread: number;
}

/** Unlike `RunStore`, doesn't set damaged journals aside. */
export async function readRuns(root: string): Promise<RunsOnDisk> {
  const runs: Run[] = [];
  let unread = 0;
  for (const id of await runFolders(root)) {
    const text = await readIfThere(join(root, id, 'run.json')).catch(() => '');
    if (text === undefined) continue; // The journal hasn't been written yet, or was removed.
    const row = parseJournal(text);
    if (row !== undefined && isRead(row) && row.id === id) runs.push(row);
    else unread += 1;
  }
  return { runs: runs.sort(newestFirst), unread };
}

export function newestFirst(one: Row, other: Row): number {
  return (other.createdAt ?? 0) - (one.createdAt ?? 0) || (other.id < one.id ? -1 : 1);
}

export async function runFolders(root: string): Promise<readonly string[]> {
  try {
    const entries = await readdir(root, { withFileTypes: true });
    return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return [];
    throw error;
  }
}

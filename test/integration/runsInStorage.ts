import { mkdir, readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach } from 'mocha';
import type * as vscode from 'vscode';
import { systemClock as clock } from '../../src/core/ports.ts';
import { RunStore } from '../../src/core/run/disk/runStore.ts';
import { silent } from '../silentLog.ts';
import { storageVariable } from './events.ts';
import { folder } from './openFolders.ts';
import { showOf } from './shownRuns.ts';
import { call } from './signedIn.ts';
import { inventedAccount, type StoredRun } from './storedRuns.ts';

export const storage = process.env[storageVariable]!;

let former: readonly string[] = [];

const allRuns = (): Promise<string[]> =>
  mkdir(path.join(storage, 'runs'), { recursive: true }).then(() => readdir(path.join(storage, 'runs')));

/** Returns the local IDs of the runs that the test has added. A hook removes the runs after it. */
export async function newRuns(): Promise<string[]> {
  return (await allRuns()).filter((id) => !former.includes(id));
}

beforeEach(async () => {
  former = await allRuns();
});

afterEach(async () => {
  const added = await newRuns();
  for (const id of added) await rm(path.join(storage, 'runs', id), { recursive: true, maxRetries: 5 });
  if (added.length > 0) await call('refreshRuns');
});

/** Returns what identifies a stored run of the open folder, by default of `inventedAccount`. */
export function ofFolder(
  id: string,
  { baseUrl, organizationId }: Pick<StoredRun, 'baseUrl' | 'organizationId'> = inventedAccount,
): StoredRun {
  return { id, folder, baseUrl, organizationId };
}

/**
 * Reads the extension's storage, and returns the run's row in the Runs view and the lines below it.
 * Empty if the run is unknown.
 */
export async function runItems(id: string): Promise<vscode.TreeItem[]> {
  const runs = new RunStore(path.join(storage, 'runs'), { clock, log: silent });
  await runs.reload();
  return runs.get(id) === undefined ? [] : showOf(runs, { clock }).rowsOf(id);
}

export async function runLines(id: string): Promise<string[]> {
  return linesOf(await runItems(id));
}

export const linesOf = (items: readonly vscode.TreeItem[]): string[] =>
  items.map(({ label, description }) => `${label as string}: ${description as string}`);

import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { Run } from '../../../src/core/run/state/run.ts';
import type { Desk, RunWindow } from './runWindow.ts';

/** The transfers that storage has seen. */
export const puts = (desk: Desk) => desk.service.requests.filter(({ method }) => method === 'PUT');
/** The states of all input files, in the order of their reservation. */
export const states = (desk: Desk): string[] => desk.service.files().map(({ state }) => state);
/** How many runs the service has started. */
export const accepted = (desk: Desk): number => desk.service.runs().length;
/** The local archive of a run. */
export const archiveOf = (window: RunWindow, run: Run): string =>
  join(window.store.folderOf(run.id), run.targets[0]!.archive!.file);

/** Starts an assessment with options and lets time pass until it has its outcome. */
export async function startWith(
  window: RunWindow,
  desk: Desk,
  options: Parameters<RunWindow['tracker']['start']>[1],
): Promise<Run | undefined> {
  const started = window.tracker.start(await window.assessment(), options);
  return desk.clock.passUntil(started, desk.traffic);
}

/** Starts an assessment that the service accepts and the disk does not take, and closes its window while that is tried again. */
export async function startUnkept({ tracker, assessment }: RunWindow): Promise<void> {
  const told = new Promise((resolve) => tracker.onDidFailToKeep(resolve));
  const started = tracker.start(await assessment());
  await told;
  tracker.dispose();
  await assert.rejects(started, { name: 'AbortError' });
}

/** A memory as the editor's, shared by windows. */
export function memory() {
  const values = new Map<string, unknown>();
  return {
    keys: () => [...values.keys()],
    get: (key: string) => values.get(key),
    update: (key: string, value: unknown) => {
      if (value === undefined) values.delete(key);
      else values.set(key, structuredClone(value));
      return Promise.resolve();
    },
  };
}

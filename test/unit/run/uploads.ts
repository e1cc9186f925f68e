import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { StartOptions } from '../../../src/core/run/runTracker.ts';
import type { Assessment } from '../../../src/core/run/state/newRun.ts';
import type { Run } from '../../../src/core/run/state/run.ts';
import type { Fixture, RunWindow } from './runWindow.ts';

export const puts = (fixture: Fixture) => fixture.service.requests.filter(({ method }) => method === 'PUT');
/** The states are in order of reservation. */
export const states = (fixture: Fixture): string[] => fixture.service.files().map(({ state }) => state);
export const accepted = (fixture: Fixture): number => fixture.service.runs().length;
export const archiveOf = (window: RunWindow, run: Run): string =>
  join(window.store.folderOf(run.id), run.targets[0]!.archive!.file);

/** If it returns false, nothing is sent. */
type ConfirmUpload = (run: Run) => Promise<boolean>;

/** Claims the folders, packs, asks and starts, as the editor does. */
export async function startAsking(
  { tracker }: RunWindow,
  assessment: Assessment,
  confirmUpload: ConfirmUpload,
  options: StartOptions = {},
): Promise<Run | undefined> {
  const claim = await tracker.claim(assessment.targets.map(({ folder }) => folder));
  try {
    const packed = await tracker.pack(assessment, options);
    const run =
      packed && (await confirmUpload(packed.run)) ? await tracker.startPacked(packed, options) : undefined;
    await packed?.discard();
    return run;
  } finally {
    await claim.release();
  }
}

export async function startWith(
  window: RunWindow,
  fixture: Fixture,
  { confirmUpload, ...options }: StartOptions & { readonly confirmUpload?: ConfirmUpload },
): Promise<Run | undefined> {
  const assessment = await window.assessment();
  const started =
    confirmUpload === undefined
      ? window.tracker.start(assessment, options)
      : startAsking(window, assessment, confirmUpload, options);
  return fixture.passUntil(started);
}

/**
 * Starts an assessment that is accepted but cannot be saved, and closes the window during the
 * retries.
 */
export async function startUnkept({ tracker, assessment }: RunWindow): Promise<void> {
  const failed = new Promise((resolve) => tracker.onDidFailToSave(resolve));
  const started = tracker.start(await assessment());
  await failed;
  tracker.dispose();
  await assert.rejects(started, { name: 'AbortError' });
}

/** Windows share this Memento. */
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

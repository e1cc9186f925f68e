import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { AssessmentClient } from '../../../src/core/api/client.ts';
import { RunStore } from '../../../src/core/run/disk/runStore.ts';
import { RunTracker } from '../../../src/core/run/runTracker.ts';
import type { Selection } from '../../../src/core/upload/select/selection.ts';
import { silent } from '../../silentLog.ts';

export interface Destination {
  readonly baseUrl: string;
  readonly organizationId: string;
  readonly token: string;
}

/**
 * Selects, packages, uploads and dispatches as a window does, with its journal in `storage`;
 * resolves when the run is accepted.
 */
export async function startWhole(
  { baseUrl, organizationId, token }: Destination,
  storage: string,
  select: () => Promise<Selection>,
  workerFile: string,
): Promise<Selection> {
  const clock = {
    now: () => Date.now(),
    monotonic: () => performance.now(),
    sleep: (ms: number, signal?: AbortSignal) => sleep(ms, undefined, signal === undefined ? {} : { signal }),
  };
  const random = (): number => 0.5;
  const source = { get: () => Promise.resolve(token), refresh: () => Promise.resolve(undefined) };
  const selection = await select();
  const tracker = new RunTracker({
    store: new RunStore(join(storage, 'runs'), { clock, log: silent }),
    clock,
    random,
    log: silent,
    workerFile,
    clientFor: (location) => new AssessmentClient({ ...location, token: source, clock, log: silent, random }),
    deleteSourceAfterRun: () => false,
    retainLocalDays: () => 90,
  });
  const run = await tracker.start({
    workflow: 'whitebox-assessment',
    baseUrl,
    organizationId,
    language: 'english',
    webhookEndpointIds: [],
    maxArchiveBytes: 1_024_000_000,
    targets: [{ folder: selection.root, name: 'bench', files: { selection, archiveType: 'tar_gz' } }],
  });
  if (run?.state !== 'running') throw new Error(`the start ended as ${String(run?.state)}`);
  tracker.dispose();
  return selection;
}

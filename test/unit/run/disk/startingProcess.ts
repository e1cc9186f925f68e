/** Child process that starts an assessment and watches it until it is killed, or kills itself at a write of the journal. A message names the write. */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { AssessmentClient } from '../../../../src/core/api/client.ts';
import type { Clock } from '../../../../src/core/ports.ts';
import { RunTracker } from '../../../../src/core/run/runTracker.ts';
import { selectFiles } from '../../../../src/core/upload/select/selectFiles.ts';
import { CrashingStore, type Phase } from '../crashingStore.ts';
import { silent } from '../../../silentLog.ts';

interface Place {
  root: string;
  folder: string;
  baseUrl: string;
  organizationId: string;
  token: string;
  /** Where it kills itself. */
  death?: { write: number; phase: Phase; afterMs: number };
  /** Speed of its clock; default 1. */
  speed?: number;
}

process.once('message', (message) => {
  void start(message as Place);
});
// A parent that died must not leave this process behind.
process.once('disconnect', () => process.exit());

async function start({ root, folder, token, death, speed = 1, ...destination }: Place): Promise<void> {
  const began = Date.now();
  const clock: Clock = {
    now: () => began + performance.now() * speed,
    monotonic: () => performance.now() * speed,
    sleep: (ms, signal) => sleep(ms / speed, undefined, signal === undefined ? {} : { signal }),
  };
  const random = (): number => 0;
  const source = { get: () => Promise.resolve(token), refresh: () => Promise.resolve(undefined) };
  const store = new CrashingStore(root, { clock, log: silent });
  if (death !== undefined) {
    store.crashAt(death.write, death.phase);
    void store.crashed.then(() => sleep(death.afterMs)).then(() => process.kill(process.pid, 'SIGKILL'));
  }
  const tracker = new RunTracker({
    store,
    clock,
    random,
    log: silent,
    workerFile: join(import.meta.dirname, '../../../../src/core/upload/archive/archiveWorker.ts'),
    clientFor: (place) => new AssessmentClient({ ...place, token: source, clock, log: silent, random }),
    deleteSourceAfterRun: () => true,
    retainLocalDays: () => 90,
  });
  const surroundings = { home: root, env: {} };
  const selection = await selectFiles(folder, {
    exclude: [],
    includeNestedRepositories: false,
    surroundings,
  });
  await tracker.start({
    workflow: 'whitebox-assessment',
    ...destination,
    language: 'english',
    webhookEndpointIds: [],
    maxArchiveBytes: 1024 ** 2,
    targets: [{ folder, name: 'shop', files: { selection, archiveType: 'tar_gz' } }],
  });
}

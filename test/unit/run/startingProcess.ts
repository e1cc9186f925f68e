/** A process of its own that starts an assessment and waits to be killed; told where by a message. */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { AssessmentClient } from '../../../src/core/api/client.ts';
import type { Clock } from '../../../src/core/ports.ts';
import { RunStore } from '../../../src/core/run/runStore.ts';
import { RunTracker } from '../../../src/core/run/runTracker.ts';
import { selectFiles } from '../../../src/core/upload/selection.ts';

interface Place {
  root: string;
  folder: string;
  baseUrl: string;
  organizationId: string;
  token: string;
}

process.once('message', (message) => {
  void start(message as Place);
});
// A parent that died must not leave this process behind.
process.once('disconnect', () => process.exit());

async function start({ root, folder, token, ...destination }: Place): Promise<void> {
  const write = (): void => undefined;
  const log = { trace: write, debug: write, info: write, warn: write, error: write };
  const clock: Clock = {
    now: () => Date.now(),
    monotonic: () => performance.now(),
    sleep: (ms, signal) => sleep(ms, undefined, signal === undefined ? {} : { signal }),
  };
  const random = (): number => 0;
  const source = { get: () => Promise.resolve(token), refresh: () => Promise.resolve(undefined) };
  const tracker = new RunTracker({
    store: new RunStore(root, { clock, log }),
    clock,
    random,
    log,
    workerFile: join(import.meta.dirname, '../../../src/core/upload/archiveWorker.ts'),
    clientFor: (place) => new AssessmentClient({ ...place, token: source, clock, log, random }),
    deleteSourceAfterRun: () => true,
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
    targets: [{ folder, name: 'shop', selection, archiveType: 'tar_gz' }],
  });
}

/**
 * This child process starts an assessment and watches it until it is killed, or kills itself at a
 * write of the journal. A message names the write.
 */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { AssessmentClient } from '../../../../src/core/api/client.ts';
import type { Clock } from '../../../../src/core/ports.ts';
import { RunStore } from '../../../../src/core/run/disk/runStore.ts';
import { RunTracker } from '../../../../src/core/run/runTracker.ts';
import type { RunEvent } from '../../../../src/core/run/state/advance.ts';
import type { Run } from '../../../../src/core/run/state/run.ts';
import { selectFiles } from '../../../../src/core/upload/select/selectFiles.ts';
import { silent } from '../../../silentLog.ts';

/** The process crashes then, relative to one write of a journal. */
type Phase = 'before' | 'during' | 'after';

const never = new Promise<never>(() => undefined);

/** This store simulates a crash at one write of a journal: the write never resolves. */
class CrashingStore extends RunStore {
  #writesLeft = Infinity;
  #phase: Phase = 'before';
  #crash: () => void = () => undefined;
  readonly crashed = new Promise<void>((resolve) => {
    this.#crash = resolve;
  });

  crashAt(write: number, phase: Phase): void {
    [this.#writesLeft, this.#phase] = [write, phase];
  }

  override async create(run: Run): Promise<Run> {
    return this.#orCrash(() => super.create(run));
  }

  override async apply(id: string, event: RunEvent): Promise<Run> {
    return this.#orCrash(() => super.apply(id, event));
  }

  override async applyIfDue(id: string, event: RunEvent): Promise<Run | undefined> {
    return this.#orCrash(() => super.applyIfDue(id, event));
  }

  async #orCrash<T>(write: () => Promise<T>): Promise<T> {
    this.#writesLeft -= 1;
    if (this.#writesLeft > 0) return write();
    if (this.#writesLeft === 0) {
      if (this.#phase === 'after') await write();
      if (this.#phase === 'during') write().catch(() => undefined);
      this.#crash();
    }
    return never;
  }
}

interface Location {
  root: string;
  folder: string;
  baseUrl: string;
  organizationId: string;
  token: string;
  /** The process kills itself there. */
  death?: { write: number; phase: Phase; afterMs: number };
  /** Its clock has this speed, by default 1. */
  speed?: number;
}

process.once('message', (message) => {
  void start(message as Location);
});
// A parent that died must not leave this process behind.
process.once('disconnect', () => process.exit());

async function start({ root, folder, token, death, speed = 1, ...destination }: Location): Promise<void> {
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
    clientFor: (location) => new AssessmentClient({ ...location, token: source, clock, log: silent, random }),
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

import { Worker } from 'node:worker_threads';
import { workerCrash } from '../../errors.ts';
import type { ToWorker, WorkerStart } from './archiveWorker.ts';
import { freeMemory } from './freeMemory.ts';
import { toHeadList } from './headList.ts';
import type { PackMessage, PackTask } from './packing.ts';

/** Who packs. */
export interface WorkerOptions extends WorkerStart {
  readonly workerFile: string | URL;
  readonly workers: number;
  readonly signal: AbortSignal | undefined;
}

/** Tasks that a worker has at a time: one to work on, one to go on with. */
const tasksPerWorker = 2;
/** Finished tasks may wait for an earlier one, but not many: memory stays flat. */
const windowPerWorker = 8;

interface Packer {
  readonly worker: Worker;
  open: number;
}

/** Packs tasks in worker threads and yields what they say in the order of the tasks. The workers end with the iteration, and at once when the signal aborts. */
export async function* packInWorkers(
  tasks: readonly PackTask[],
  options: WorkerOptions,
): AsyncGenerator<PackMessage> {
  const { root, format, workerFile, signal } = options;
  const arrived = new Map<number, { message: PackMessage; from: Packer }[]>();
  let failure: { readonly error: unknown } | undefined;
  let wake: (() => void) | undefined;
  let nextTask = 0;

  const fail = (error: unknown): void => {
    failure ??= { error };
    wake?.();
  };
  const onAbort = (): void => wake?.();
  const packers = Array.from({ length: options.workers }, (): Packer => {
    const start: WorkerStart = { root, format };
    const packer: Packer = {
      worker: new Worker(workerFile, { workerData: start, resourceLimits: { maxYoungGenerationSizeMb: 2 } }),
      open: 0,
    };
    packer.worker.on('message', (message: PackMessage) => {
      if (message.kind === 'done') packer.open--;
      const waiting = arrived.get(message.task);
      if (waiting === undefined) arrived.set(message.task, [{ message, from: packer }]);
      else waiting.push({ message, from: packer });
      wake?.();
    });
    packer.worker.on('error', (error) => fail(workerCrash(error)));
    packer.worker.on('exit', (code) => fail(workerCrash(`exit code ${String(code)}`)));
    return packer;
  });
  signal?.addEventListener('abort', onAbort);

  const assign = (current: number): void => {
    while (nextTask < tasks.length && nextTask < current + windowPerWorker * packers.length) {
      const least = packers.reduce((best, packer) => (packer.open < best.open ? packer : best));
      const task = tasks[nextTask];
      if (least.open >= tasksPerWorker || task === undefined) return;
      least.open++;
      nextTask++;
      const { id, first, files } = task;
      post(least.worker, { kind: 'pack', id, first, heads: toHeadList(files) });
    }
  };

  try {
    for (let current = 0; current < tasks.length; current++) {
      for (let done = false; !done;) {
        signal?.throwIfAborted();
        assign(current);
        if (failure !== undefined) throw failure.error;
        const next = arrived.get(current)?.shift();
        if (next === undefined) {
          await new Promise<void>((resolve) => (wake = resolve));
          continue;
        }
        yield next.message;
        if (next.message.kind === 'segment') {
          freeMemory(next.message.data);
          post(next.from.worker, { kind: 'written' });
        }
        done = next.message.kind === 'done';
      }
      arrived.delete(current);
    }
  } finally {
    signal?.removeEventListener('abort', onAbort);
    await Promise.all(packers.map(async ({ worker }) => worker.terminate()));
  }
}

function post(worker: Worker, message: ToWorker): void {
  worker.postMessage(message);
}

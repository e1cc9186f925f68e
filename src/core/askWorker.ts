import { availableMemory } from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { AssessmentError, type ErrorData, type ErrorKind, systemCode, workerCrash } from './errors.ts';
import { untilAborted } from './yieldingWork.ts';

export type WorkerAnswer =
  { readonly value: unknown } | { readonly error: ErrorKind; readonly data: ErrorData };

const maxHeapMb = 1_024;
const minHeapMb = 64;

/** Depends on the available memory, because running out of it can end the process. */
function heapMb(): number {
  const quarter = Math.floor(availableMemory() / 4 / 2 ** 20);
  return Math.max(minHeapMb, Math.min(maxHeapMb, quarter));
}

export interface AskOptions {
  readonly signal?: AbortSignal | undefined;
  readonly maxMs: number;
  /** The error if the worker runs out of memory. */
  readonly limitError?: ErrorKind;
}

/** Half of the 500 ms that a cancellation may take with all its cleanup. */
const maxExitMs = 250;

/** Waits for a limited time, because a thread whose read never returns never ends. */
export async function waitForExit(exit: Promise<unknown>): Promise<void> {
  await Promise.race([exit, sleep(maxExitMs, undefined, { ref: false })]);
}

export async function askWorker(
  workerData: unknown,
  workerFile: string | URL,
  { signal, maxMs, limitError = 'workerCrashed' }: AskOptions,
): Promise<unknown> {
  signal?.throwIfAborted();
  const worker = new Worker(workerFile, {
    workerData,
    resourceLimits: { maxOldGenerationSizeMb: heapMb() },
  });
  const answered = Promise.withResolvers<unknown>();
  const timer = setTimeout(() => answered.reject(new AssessmentError('notInTime', { limit: maxMs })), maxMs);
  worker.on('message', (answer: WorkerAnswer) => {
    if ('value' in answer) answered.resolve(answer.value);
    else answered.reject(new AssessmentError(answer.error, answer.data));
  });
  worker.on('error', (error) => {
    const isTooMuch = systemCode(error) === 'ERR_WORKER_OUT_OF_MEMORY';
    answered.reject(isTooMuch ? new AssessmentError(limitError, {}, { cause: error }) : workerCrash(error));
  });
  worker.on('exit', (code) => answered.reject(workerCrash(`exit code ${String(code)}`)));
  try {
    return await untilAborted(answered.promise, signal);
  } finally {
    clearTimeout(timer);
    await waitForExit(worker.terminate());
  }
}

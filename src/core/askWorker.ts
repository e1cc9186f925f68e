import { Worker } from 'node:worker_threads';
import { AssessmentError, type ErrorData, type ErrorKind, systemCode, workerCrash } from './errors.ts';

export type WorkerAnswer =
  { readonly value: unknown } | { readonly error: ErrorKind; readonly data: ErrorData };

const maxHeapMb = 1_024;

interface AskOptions {
  readonly signal?: AbortSignal | undefined;
  /** What it means to the caller that the worker runs out of memory. */
  readonly outOfMemory?: ErrorKind;
}

/** Runs one job in a worker. Throws the worker's error, `outOfMemory`, `workerCrashed`, or the signal's reason. */
export async function askWorker(
  workerData: unknown,
  workerFile: string | URL,
  { signal, outOfMemory = 'workerCrashed' }: AskOptions = {},
): Promise<unknown> {
  signal?.throwIfAborted();
  const worker = new Worker(workerFile, {
    workerData,
    resourceLimits: { maxOldGenerationSizeMb: maxHeapMb },
  });
  const answered = Promise.withResolvers<unknown>();
  const abort = (): void => answered.reject(signal?.reason as Error);
  signal?.addEventListener('abort', abort);
  worker.on('message', (answer: WorkerAnswer) => {
    if ('value' in answer) answered.resolve(answer.value);
    else answered.reject(new AssessmentError(answer.error, answer.data));
  });
  worker.on('error', (error) => {
    const isOutOfMemory = systemCode(error) === 'ERR_WORKER_OUT_OF_MEMORY';
    answered.reject(
      isOutOfMemory ? new AssessmentError(outOfMemory, {}, { cause: error }) : workerCrash(error),
    );
  });
  worker.on('exit', (code) => answered.reject(workerCrash(`exit code ${String(code)}`)));
  try {
    return await answered.promise;
  } finally {
    signal?.removeEventListener('abort', abort);
    await worker.terminate();
  }
}

import { Worker } from 'node:worker_threads';
import { AssessmentError, type ErrorData, type ErrorKind, systemCode, workerCrash } from './errors.ts';

export type WorkerAnswer =
  { readonly value: unknown } | { readonly error: ErrorKind; readonly data: ErrorData };

const maxHeapMb = 1_024;

export interface AskOptions {
  readonly signal?: AbortSignal | undefined;
  readonly maxMs?: number;
  /** What it means to the caller that the worker runs out of memory, or of time. */
  readonly tooMuch?: ErrorKind;
}

/** Runs one job in a worker. Throws the worker's error, `tooMuch`, `workerCrashed`, or the signal's reason. */
export async function askWorker(
  workerData: unknown,
  workerFile: string | URL,
  { signal, maxMs, tooMuch = 'workerCrashed' }: AskOptions = {},
): Promise<unknown> {
  signal?.throwIfAborted();
  const worker = new Worker(workerFile, {
    workerData,
    resourceLimits: { maxOldGenerationSizeMb: maxHeapMb },
  });
  const answered = Promise.withResolvers<unknown>();
  const abort = (): void => answered.reject(signal?.reason as Error);
  signal?.addEventListener('abort', abort);
  const failAsTooMuch = (cause?: Error): void => answered.reject(new AssessmentError(tooMuch, {}, { cause }));
  const timer = maxMs === undefined ? undefined : setTimeout(failAsTooMuch, maxMs);
  worker.on('message', (answer: WorkerAnswer) => {
    if ('value' in answer) answered.resolve(answer.value);
    else answered.reject(new AssessmentError(answer.error, answer.data));
  });
  worker.on('error', (error) => {
    if (systemCode(error) === 'ERR_WORKER_OUT_OF_MEMORY') failAsTooMuch(error);
    else answered.reject(workerCrash(error));
  });
  worker.on('exit', (code) => answered.reject(workerCrash(`exit code ${String(code)}`)));
  try {
    return await answered.promise;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', abort);
    await worker.terminate();
  }
}

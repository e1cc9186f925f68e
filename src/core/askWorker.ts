import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import {
  AssessmentError,
  type ErrorData,
  type ErrorKind,
  isAbortError,
  systemCode,
  workerCrash,
} from './errors.ts';

export type WorkerAnswer =
  { readonly value: unknown } | { readonly error: ErrorKind; readonly data: ErrorData };

const maxHeapMb = 1_024;

/** Runs one job in a worker. Throws the worker's error, `findingsTooLarge` when it runs out of memory, or the signal's reason. */
export async function askWorker(
  workerData: unknown,
  workerFile: string | URL,
  signal?: AbortSignal,
): Promise<unknown> {
  signal?.throwIfAborted();
  const worker = new Worker(workerFile, {
    workerData,
    resourceLimits: { maxOldGenerationSizeMb: maxHeapMb },
  });
  try {
    const [answer] = (await once(worker, 'message', { signal })) as [WorkerAnswer];
    if ('value' in answer) return answer.value;
    throw new AssessmentError(answer.error, answer.data);
  } catch (error) {
    if (error instanceof AssessmentError || isAbortError(error)) throw error;
    if (systemCode(error) === 'ERR_WORKER_OUT_OF_MEMORY')
      throw new AssessmentError('findingsTooLarge', {}, { cause: error });
    throw workerCrash(error);
  } finally {
    await worker.terminate();
  }
}

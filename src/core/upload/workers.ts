import { availableParallelism } from 'node:os';
import { type ResourceLimits, Worker } from 'node:worker_threads';
import { waitForExit } from '../askWorker.ts';
import { workerCrash } from '../errors.ts';
import type { SelectedFile } from './select/selection.ts';

interface FileTask {
  readonly id: number;
  readonly first: number;
  readonly files: readonly SelectedFile[];
  readonly bytes: number;
}

/** The last answer to a task has the kind `done`. The pool acknowledges the others after use. */
interface Answer {
  readonly task: number;
  readonly kind: string;
}

export const acknowledged = 'acknowledged';
export const exit = 'exit';

interface PoolOptions {
  readonly workerFile: string | URL;
  readonly workerData: unknown;
  /** The default is as many as save time. */
  readonly workers?: number | undefined;
  readonly resourceLimits?: ResourceLimits;
  readonly signal?: AbortSignal | undefined;
  readonly toMessage: (task: FileTask) => unknown;
  /**
   * Workers that compress need this: Node aborts the process when a thread is terminated before its
   * compression stream is initialised ("close before init" in node_zlib.cc).
   */
  readonly exitsItself?: boolean;
}

const taskFiles = 128;
/** Below both limits, a second worker takes longer to start than it saves. */
const smallFiles = 300;
const smallBytes = 4 << 20;
/** One task is in progress, and one waits. */
const tasksPerWorker = 2;
/** Bounds the finished tasks that wait for an earlier one, and their memory. */
const windowPerWorker = 8;

/**
 * Cuts after 128 files or `taskBytes`, and before a file of `largeBytes`. The cuts depend only on
 * the list.
 */
export function cutTasks(
  files: readonly SelectedFile[],
  taskBytes: number,
  largeBytes = Infinity,
): readonly FileTask[] {
  const tasks: FileTask[] = [];
  let first = 0;
  let bytes = 0;
  const cut = (end: number): void => {
    if (end > first) tasks.push({ id: tasks.length, first, files: files.slice(first, end), bytes });
    first = end;
    bytes = 0;
  };
  for (const [at, file] of files.entries()) {
    if (file.bytes >= largeBytes) cut(at);
    bytes += file.bytes;
    if (at + 1 - first >= taskFiles || bytes >= taskBytes) cut(at + 1);
  }
  cut(files.length);
  return tasks;
}

export function bytesOf(files: readonly { readonly bytes: number }[]): number {
  return files.reduce((sum, { bytes }) => sum + bytes, 0);
}

/**
 * Runs tasks in workers and yields their answers in task order. Workers end with the iteration or
 * the signal, unless a read never returns. Throws the signal's reason.
 */
export async function* runInWorkers<A extends Answer>(
  tasks: readonly FileTask[],
  { workerFile, workerData, resourceLimits = {}, signal, toMessage, exitsItself, ...options }: PoolOptions,
): AsyncGenerator<A> {
  const arrived = new Map<number, { answer: A; from: Worker }[]>();
  let failure: { readonly error: unknown } | undefined;
  let wake: (() => void) | undefined;
  const onAbort = (): void => wake?.();
  const fail = (error: unknown): void => {
    failure ??= { error };
    wake?.();
  };
  const workers = Array.from({ length: Math.min(options.workers ?? workersFor(tasks), tasks.length) }, () => {
    const exited = Promise.withResolvers<undefined>();
    const pooled = { worker: new Worker(workerFile, { workerData, resourceLimits }), openTasks: 0, exited };
    pooled.worker.on('message', (answer: A) => {
      if (answer.kind === 'done') pooled.openTasks--;
      const waiting = arrived.get(answer.task);
      const arriving = { answer, from: pooled.worker };
      if (waiting === undefined) arrived.set(answer.task, [arriving]);
      else waiting.push(arriving);
      wake?.();
    });
    pooled.worker.on('error', (error) => fail(workerCrash(error)));
    pooled.worker.on('exit', (code) => {
      fail(workerCrash(`exit code ${String(code)}`));
      exited.resolve(undefined);
    });
    return pooled;
  });
  signal?.addEventListener('abort', onAbort);

  let nextTask = 0;
  const assign = (current: number): void => {
    while (nextTask < Math.min(tasks.length, current + windowPerWorker * workers.length)) {
      const least = workers.reduce((best, pooled) => (pooled.openTasks < best.openTasks ? pooled : best));
      const task = tasks[nextTask];
      if (least.openTasks >= tasksPerWorker || task === undefined) return;
      least.openTasks++;
      nextTask++;
      least.worker.postMessage(toMessage(task));
    }
  };

  try {
    for (let current = 0; current < tasks.length;) {
      signal?.throwIfAborted();
      assign(current);
      if (failure !== undefined) throw failure.error;
      const next = arrived.get(current)?.shift();
      if (next === undefined) {
        await new Promise<void>((resolve) => (wake = resolve));
        continue;
      }
      yield next.answer;
      if (next.answer.kind === 'done') arrived.delete(current++);
      else next.from.postMessage(acknowledged);
    }
  } finally {
    signal?.removeEventListener('abort', onAbort);
    for (const { worker } of workers) {
      if (exitsItself) worker.postMessage(exit);
      else void worker.terminate();
    }
    await waitForExit(Promise.all(workers.map(async ({ exited }) => exited.promise)));
  }
}

function workersFor(tasks: readonly FileTask[]): number {
  const files = tasks.reduce((sum, task) => sum + task.files.length, 0);
  const bytes = bytesOf(tasks);
  return files <= smallFiles && bytes <= smallBytes ? 1 : Math.min(4, Math.max(2, availableParallelism()));
}

import { availableParallelism } from 'node:os';
import { type ResourceLimits, Worker } from 'node:worker_threads';
import { workerCrash } from '../errors.ts';
import type { SelectedFile } from './select/selection.ts';

/** Successive files that one worker handles. */
export interface FileTask {
  /** The task's place in the list of tasks. */
  readonly id: number;
  /** The place of its first file in the list of all files. */
  readonly first: number;
  readonly files: readonly SelectedFile[];
  /** Sum over its files, as selected. */
  readonly bytes: number;
}

/** What a worker answers, in order; the last answer for a task has the kind `done`, and each other one is acknowledged with `acknowledged` once it is used. */
interface Answer {
  readonly task: number;
  readonly kind: string;
}

/** What the pool sends to acknowledge an answer. */
export const acknowledged = 'acknowledged';
/** What the pool sends when no more answers are wanted; the worker exits. */
export const exit = 'exit';

interface PoolOptions {
  /** The worker's entry, or its bundle. */
  readonly workerFile: string | URL;
  readonly workerData: unknown;
  /** By default as many as pay off. */
  readonly workers?: number | undefined;
  readonly resourceLimits?: ResourceLimits;
  readonly signal?: AbortSignal | undefined;
  /** The message that starts a task. */
  readonly toMessage: (task: FileTask) => unknown;
  /**
   * For workers that compress: they are asked to exit, not terminated. Node aborts the process where a thread is terminated before its compression
   * stream is initialised ("close before init", `CompressionStream::Close` in node_zlib.cc).
   */
  readonly exitsItself?: boolean;
}

const taskFiles = 128;
/** Below both, a second worker takes longer to start than it saves. */
const smallFiles = 300;
const smallBytes = 4 << 20;
/** Tasks that a worker has at a time: one in work, one waiting. */
const tasksPerWorker = 2;
/** Finished tasks that may wait for an earlier one, so that memory stays flat. */
const windowPerWorker = 8;

/** Cuts a list of files into tasks of at most 128 files, each cut once it has `taskBytes`, and before a file of `largeBytes`. Depends on the list only. */
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

/** Sum over all files, as selected. */
export function bytesOf(files: readonly SelectedFile[]): number {
  return files.reduce((sum, { bytes }) => sum + bytes, 0);
}

/** Runs tasks in workers and yields the answers in task order. Workers end with the iteration or the signal, whose reason is thrown. */
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
      if (waiting === undefined) arrived.set(answer.task, [{ answer, from: pooled.worker }]);
      else waiting.push({ answer, from: pooled.worker });
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
    await Promise.all(workers.map(async ({ exited }) => exited.promise));
  }
}

function workersFor(tasks: readonly FileTask[]): number {
  const files = tasks.reduce((sum, task) => sum + task.files.length, 0);
  const bytes = tasks.reduce((sum, task) => sum + task.bytes, 0);
  return files <= smallFiles && bytes <= smallBytes ? 1 : Math.min(4, Math.max(2, availableParallelism()));
}

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
  readonly workers?: number | undefined;
  readonly resourceLimits?: ResourceLimits;
  readonly signal?: AbortSignal | undefined;
  readonly toMessage: (task: FileTask) => unknown;
  /**
   * Workers that compress need this: Node aborts the process when a thread is terminated before its
   * compression stream is initialized ("close before init" in node_zlib.cc).
   */
  readonly exitsItself?: boolean;
}

const taskFiles = 128;
/** Within both limits, a second worker takes longer to start than it saves. */
const smallFiles = 300;
const smallBytes = 4 << 20;
/** One task is in progress, and one waits. */
const tasksPerWorker = 2;
/** Bounds the finished tasks that wait for an earlier one, and their memory. */
const windowPerWorker = 8;

/**
 * Cuts after 128 files or `taskBytes`, and before a file of `largeBytes` or more. The number of
 * workers must not affect the cuts.
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

/** Runs tasks in workers and yields their answers in task order. */
export async function* runInWorkers<A extends Answer>(
  tasks: readonly FileTask[],
  options: PoolOptions,
): AsyncGenerator<A> {
  const { signal } = options;
  const arrived = new Map<number, Arrived<A>[]>();
  let failure: { readonly error: unknown } | undefined;
  let wake: (() => void) | undefined;
  const onAbort = (): void => wake?.();
  const onAnswer = (next: Arrived<A>): void => {
    const { task } = next.answer;
    arrived.set(task, [...(arrived.get(task) ?? []), next]);
    wake?.();
  };
  const onEnd = (error: unknown): void => {
    failure ??= { error };
    wake?.();
  };
  const count = Math.min(options.workers ?? workersFor(tasks), tasks.length);
  const workers = Array.from({ length: count }, () => startWorker(options, onAnswer, onEnd));
  signal?.addEventListener('abort', onAbort);
  const waiting = [...tasks];
  try {
    for (let current = 0; current < tasks.length;) {
      signal?.throwIfAborted();
      assignTasks(waiting, workers, current, options.toMessage);
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
      if (options.exitsItself) worker.postMessage(exit);
      else void worker.terminate();
    }
    await waitForExit(Promise.all(workers.map(({ exited }) => exited)));
  }
}

interface Arrived<A extends Answer> {
  readonly answer: A;
  readonly from: Worker;
}

interface PooledWorker {
  readonly worker: Worker;
  readonly exited: Promise<unknown>;
  openTasks: number;
}

function startWorker<A extends Answer>(
  { workerFile, workerData, resourceLimits = {} }: PoolOptions,
  onAnswer: (next: Arrived<A>) => void,
  onEnd: (error: unknown) => void,
): PooledWorker {
  const worker = new Worker(workerFile, { workerData, resourceLimits });
  const exited = Promise.withResolvers<undefined>();
  const pooled = { worker, exited: exited.promise, openTasks: 0 };
  worker.on('message', (answer: A) => {
    if (answer.kind === 'done') pooled.openTasks--;
    onAnswer({ answer, from: worker });
  });
  worker.on('error', (error) => onEnd(workerCrash(error)));
  worker.on('exit', (code) => {
    onEnd(workerCrash(`exit code ${String(code)}`));
    exited.resolve(undefined);
  });
  return pooled;
}

/** Sends waiting tasks to the least busy workers, but none far ahead of `current`. */
function assignTasks(
  waiting: FileTask[],
  workers: readonly PooledWorker[],
  current: number,
  toMessage: PoolOptions['toMessage'],
): void {
  for (;;) {
    const [task] = waiting;
    const least = workers.reduce((best, pooled) => (pooled.openTasks < best.openTasks ? pooled : best));
    const isBeyond = task === undefined || task.id >= current + windowPerWorker * workers.length;
    if (isBeyond || least.openTasks >= tasksPerWorker) return;
    waiting.shift();
    least.openTasks++;
    least.worker.postMessage(toMessage(task));
  }
}

function workersFor(tasks: readonly FileTask[]): number {
  const files = tasks.reduce((sum, task) => sum + task.files.length, 0);
  const bytes = bytesOf(tasks);
  return files <= smallFiles && bytes <= smallBytes ? 1 : Math.min(4, Math.max(2, availableParallelism()));
}

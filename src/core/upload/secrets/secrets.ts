import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { workerCrash } from '../../errors.ts';
import type { OnBytes } from '../../ports.ts';
import type { Remembered, SecretMemory } from './secretMemory.ts';
import type { ScannedFile, Suspicion } from './secretScan.ts';
import type { ScanResult, ScanStart, ScanTask } from './secretWorker.ts';
import type { SelectedFile } from '../select/selection.ts';
import type { Omission } from '../sourceFile.ts';

/** What to check, and with what. */
export interface SecretCheckOptions {
  /** `Selection.root`: absolute, free of links. */
  readonly root: string;
  readonly files: readonly SelectedFile[];
  /** The scanning worker's entry: `secretWorker.ts`, or its bundle. */
  readonly workerFile: string | URL;
  readonly workers?: number;
  readonly signal?: AbortSignal;
  /** Bytes of files checked, of the bytes selected. */
  readonly onBytes?: OnBytes;
  /** Files that it knows, and that have not changed since, are not read again; what is found goes into it, however the check ends. */
  readonly memory?: SecretMemory;
}

/** What the check came to. */
export interface SecretCheck {
  /** In the order of the files, and of the lines in each. */
  readonly suspicions: readonly Suspicion[];
  /** Files that nobody could look into: they may be readable again when they are packed, so they must not go along unasked. */
  readonly unchecked: readonly Omission[];
  /** Hex, of the content of each file that was looked into, by path. */
  readonly hashes: ReadonlyMap<string, string>;
}

interface Task {
  readonly id: number;
  readonly paths: readonly string[];
  readonly bytes: number;
}

const taskFiles = 128;
const taskBytes = 1 << 20;
/** Below both, a second worker takes longer to start than it saves. */
const smallFiles = 300;
const smallBytes = 4 << 20;
/** Tasks that a worker has at a time: one to work on, one to go on with. */
const tasksPerWorker = 2;

/**
 * Looks for credentials in the selected files, and in their names, off the main thread. Throws the signal's reason; the workers
 * have ended then, as they have when it returns.
 */
export async function checkSecrets(options: SecretCheckOptions): Promise<SecretCheck> {
  const { files, signal } = options;
  signal?.throwIfAborted();
  const tasks = cutTasks(files);
  const results = await scanInWorkers(tasks, options);
  return {
    suspicions: results.flatMap((result) => result.suspicions),
    unchecked: results.flatMap((result) => result.unchecked),
    hashes: new Map(results.flatMap(({ hashes }) => [...hashes])),
  };
}

function cutTasks(files: readonly SelectedFile[]): Task[] {
  const tasks: Task[] = [];
  let paths: string[] = [];
  let bytes = 0;
  const cut = (): void => {
    if (paths.length > 0) tasks.push({ id: tasks.length, paths, bytes });
    paths = [];
    bytes = 0;
  };
  for (const file of files) {
    paths.push(file.path);
    bytes += file.bytes;
    if (paths.length >= taskFiles || bytes >= taskBytes) cut();
  }
  cut();
  return tasks;
}

/** What was found in all tasks, in their order. */
async function scanInWorkers(tasks: readonly Task[], options: SecretCheckOptions): Promise<SecretCheck[]> {
  if (tasks.length === 0) return [];
  const { root, files, workerFile, signal, onBytes } = options;
  const total = tasks.reduce((sum, task) => sum + task.bytes, 0);
  const wanted =
    options.workers ??
    (files.length <= smallFiles && total <= smallBytes
      ? 1
      : Math.min(4, Math.max(2, availableParallelism())));
  const start: ScanStart = { root };
  const workers = Array.from(
    { length: Math.min(wanted, tasks.length) },
    () => new Worker(workerFile, { workerData: start }),
  );
  const ended = Promise.withResolvers<SecretCheck[]>();
  const onAbort = (): void => ended.reject(signal?.reason as Error);
  signal?.addEventListener('abort', onAbort);

  const known = options.memory?.below(root) ?? new Map<string, Remembered>();
  const asked: (readonly (Remembered | undefined)[])[] = [];
  const results: SecretCheck[] = [];
  let next = 0;
  let finished = 0;
  let done = 0;
  const assign = (worker: Worker): void => {
    const task = tasks[next];
    if (task === undefined) return;
    next++;
    const { id, paths } = task;
    const before = paths.map((path) => known.get(path));
    asked[id] = before;
    const message: ScanTask = { id, paths, marks: before.map((each) => each?.mark) };
    worker.postMessage(message);
  };
  for (const worker of workers) {
    worker.on('message', (result: ScanResult) => {
      const task = tasks[result.id];
      results[result.id] = collect(task?.paths ?? [], result.files, asked[result.id] ?? [], known);
      finished++;
      done += task?.bytes ?? 0;
      onBytes?.(done, total);
      if (finished === tasks.length) ended.resolve(results);
      else assign(worker);
    });
    worker.on('error', (error) => ended.reject(workerCrash(error)));
    worker.on('exit', (code) => ended.reject(workerCrash(`exit code ${String(code)}`)));
    for (let ahead = 0; ahead < tasksPerWorker; ahead++) assign(worker);
  }
  try {
    return await ended.promise;
  } finally {
    signal?.removeEventListener('abort', onAbort);
    await Promise.all(workers.map(async (worker) => worker.terminate()));
  }
}

/** What a task came to, with what was known before of files that have not changed since; notes in `known` what is known now. */
function collect(
  paths: readonly string[],
  files: ScanResult['files'],
  before: readonly (Remembered | undefined)[],
  known: Map<string, Remembered>,
): SecretCheck {
  const suspicions: Suspicion[] = [];
  const unchecked: Omission[] = [];
  const hashes = new Map<string, string>();
  for (const [at, path] of paths.entries()) {
    const answer = files[at];
    const found = answer === 'unchanged' ? before[at] : answer;
    const file: ScannedFile | Omission = found ?? { path, reason: 'unreadable' };
    if ('reason' in file) unchecked.push(file);
    else {
      suspicions.push(...file.suspicions);
      hashes.set(path, file.sha256);
    }
    if ('mark' in file)
      known.set(path, { mark: file.mark, suspicions: file.suspicions, sha256: file.sha256 });
    else known.delete(path);
  }
  return { suspicions, unchecked, hashes };
}

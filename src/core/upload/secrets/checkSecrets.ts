import { askWorker } from '../../askWorker.ts';
import type { OnBytes } from '../../ports.ts';
import type { SelectedFile } from '../select/selection.ts';
import type { Omission } from '../sourceFile.ts';
import { bytesOf, cutTasks, runInWorkers } from '../workers.ts';
import type { MaskStart } from './maskTexts.ts';
import type { ScannedFile } from './scanFile.ts';
import type { ScanAnswer, ScanStart, ScanTask } from './secretWorker.ts';

export interface SecretCheckOptions {
  /** The path is absolute and free of links (`Selection.root`). */
  readonly root: string;
  readonly files: readonly SelectedFile[];
  readonly workerFile: string | URL;
  readonly workers?: number;
  readonly signal?: AbortSignal;
  readonly onBytes?: OnBytes;
  /**
   * Results by `memoryKey`. Files with the same `fileStamp` aren't read again. Even a canceled
   * check adds results.
   */
  readonly memory?: Map<string, ScannedFile>;
}

/**
 * The keys are paths. A file with an `Omission` must not be uploaded: it may be readable, but
 * unchecked, when it is packed.
 */
export type SecretCheck = ReadonlyMap<string, ScannedFile | Omission>;

const taskBytes = 1 << 20;

/** The key includes the root, because a result depends on the path below the root, too. */
export function memoryKey(root: string, path: string): string {
  return `${root}\0${path}`;
}

/**
 * Looks for secrets in files and their paths. Workers (`scanFile`) find `riskyNames`, tokens with a
 * fixed prefix (`tokenTable`), other tokens (`tokenRules`), and values assigned to a secret's name
 * (`findSecrets`). Expressions (`literal`) and `placeholders` don't count.
 */
export async function checkSecrets(options: SecretCheckOptions): Promise<SecretCheck> {
  const { root, files, workerFile, workers, signal, onBytes } = options;
  const memory = options.memory ?? new Map<string, ScannedFile>();
  signal?.throwIfAborted();
  const tasks = cutTasks(files, taskBytes);
  const earlier = new Map<number, readonly (ScannedFile | undefined)[]>();
  const workerData: ScanStart = { root };
  const answers = runInWorkers<ScanAnswer>(tasks, {
    workerFile,
    workerData,
    workers,
    signal,
    toMessage: ({ id, files }): ScanTask => {
      const paths = files.map(({ path }) => path);
      const scanned = paths.map((path) => memory.get(memoryKey(root, path)));
      earlier.set(id, scanned);
      return { task: id, paths, fileStamps: scanned.map((file) => file?.fileStamp) };
    },
  });
  const check = new Map<string, ScannedFile | Omission>();
  const total = bytesOf(files);
  let done = 0;
  for await (const { task, results } of answers) {
    for (const [at, { path }] of (tasks[task]?.files ?? []).entries()) {
      const result = results[at] === 'unchanged' ? earlier.get(task)?.[at] : results[at];
      check.set(path, result ?? { path, reason: 'unreadable' });
      if (result !== undefined && 'fileStamp' in result) memory.set(memoryKey(root, path), result);
      else memory.delete(memoryKey(root, path));
    }
    earlier.delete(task);
    done += tasks[task]?.bytes ?? 0;
    onBytes?.(done, total);
  }
  return check;
}

const maxMaskMs = 300_000;

/**
 * Masks suspected secrets in all strings of plain data. Must be called before anything formats or
 * escapes them.
 */
export async function maskSecrets<T>(value: T, workerFile: string | URL, signal?: AbortSignal): Promise<T> {
  const start: MaskStart = { texts: value };
  return (await askWorker(start, workerFile, { signal, maxMs: maxMaskMs })) as T;
}

import type { OnBytes } from '../../ports.ts';
import type { SelectedFile } from '../select/selection.ts';
import type { Omission } from '../sourceFile.ts';
import { bytesOf, cutTasks, runInWorkers } from '../workers.ts';
import type { ScannedFile } from './scanFile.ts';
import type { ScanAnswer, ScanStart, ScanTask } from './secretWorker.ts';

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
  /** Files in it that have not changed since are not read again; results are added to it, even if the check is cancelled. */
  readonly memory?: SecretMemory;
}

/** The result for each file, by path. A file that cannot be read now may be readable when it is packed, so it must not be uploaded unasked. */
export type SecretCheck = ReadonlyMap<string, ScannedFile | Omission>;

/** Results of credential checks, so that a file that has not changed since is not read again. Kept in memory only. */
export class SecretMemory {
  readonly #roots = new Map<string, Map<string, ScannedFile>>();

  /** The results for files below a root, by path. */
  below(root: string): Map<string, ScannedFile> {
    const known = this.#roots.get(root) ?? new Map<string, ScannedFile>();
    this.#roots.set(root, known);
    return known;
  }
}

const taskBytes = 1 << 20;

/** Looks for credentials in the selected files, and in their names, in worker threads. Throws the signal's reason; the workers have ended then, as they have when it returns. */
export async function checkSecrets(options: SecretCheckOptions): Promise<SecretCheck> {
  const { root, files, workerFile, workers, signal, onBytes, memory } = options;
  signal?.throwIfAborted();
  const known = memory?.below(root) ?? new Map<string, ScannedFile>();
  const tasks = cutTasks(files, taskBytes);
  const before = new Map<number, readonly (ScannedFile | undefined)[]>();
  const workerData: ScanStart = { root };
  const answers = runInWorkers<ScanAnswer>(tasks, {
    workerFile,
    workerData,
    workers,
    signal,
    toMessage: ({ id, files }): ScanTask => {
      const paths = files.map(({ path }) => path);
      const scanned = paths.map((path) => known.get(path));
      before.set(id, scanned);
      return { task: id, paths, marks: scanned.map((file) => file?.mark) };
    },
  });
  const check = new Map<string, ScannedFile | Omission>();
  const total = bytesOf(files);
  let done = 0;
  for await (const { task, results } of answers) {
    for (const [at, { path }] of (tasks[task]?.files ?? []).entries()) {
      const result = results[at] === 'unchanged' ? before.get(task)?.[at] : results[at];
      check.set(path, result ?? { path, reason: 'unreadable' });
      if (result !== undefined && 'mark' in result) known.set(path, result);
      else known.delete(path);
    }
    before.delete(task);
    done += tasks[task]?.bytes ?? 0;
    onBytes?.(done, total);
  }
  return check;
}

import { parentPort, workerData } from 'node:worker_threads';
import { presetLint } from './presetLint.ts';
import { isMarked, scanFile, type ScannedFile } from './secretScan.ts';
import type { Omission } from '../sourceFile.ts';

/** What a scanning worker starts with. */
export interface ScanStart {
  readonly root: string;
}

/** Paths to look through, below the root. */
export interface ScanTask {
  readonly id: number;
  readonly paths: readonly string[];
  /** For each path the mark of the version that was looked through before, if any. */
  readonly marks: readonly (string | undefined)[];
}

/** What was found in each of a task's files. */
export interface ScanResult {
  readonly id: number;
  readonly files: readonly (ScannedFile | Omission | 'unchanged')[];
}

/** The scanning worker's life: tasks in, results out, one after the other. */
function serve(port: NonNullable<typeof parentPort>, { root }: ScanStart): void {
  const lint = presetLint();
  let work = Promise.resolve();

  const scan = async ({ id, paths, marks }: ScanTask): Promise<void> => {
    const files: (ScannedFile | Omission | 'unchanged')[] = [];
    for (const [at, path] of paths.entries()) {
      const mark = marks[at];
      const isKnown = mark !== undefined && isMarked(root, path, mark);
      files.push(isKnown ? 'unchanged' : await scanFile(root, path, lint));
    }
    const message: ScanResult = { id, files };
    port.postMessage(message);
  };

  port.on('message', (task: ScanTask) => {
    work = work.then(() => scan(task));
  });
}

if (parentPort !== null) serve(parentPort, workerData as ScanStart);

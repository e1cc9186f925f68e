import { parentPort, workerData } from 'node:worker_threads';
import { presetLint } from './presetLint.ts';
import { scanFile, type Suspicion } from './secretScan.ts';
import type { Omission } from './sourceFile.ts';

/** What a scanning worker starts with. */
export interface ScanStart {
  readonly root: string;
}

/** Paths to look through, below the root. */
export interface ScanTask {
  readonly id: number;
  readonly paths: readonly string[];
}

/** What was found in a task's files. */
export interface ScanResult {
  readonly id: number;
  readonly suspicions: readonly Suspicion[];
  readonly unchecked: readonly Omission[];
}

/** The scanning worker's life: tasks in, results out, one after the other. */
function serve(port: NonNullable<typeof parentPort>, { root }: ScanStart): void {
  const lint = presetLint();
  let work = Promise.resolve();

  const scan = async ({ id, paths }: ScanTask): Promise<void> => {
    const suspicions: Suspicion[] = [];
    const unchecked: Omission[] = [];
    for (const path of paths) {
      const result = await scanFile(root, path, lint);
      if ('reason' in result) unchecked.push(result);
      else suspicions.push(...result);
    }
    const message: ScanResult = { id, suspicions, unchecked };
    port.postMessage(message);
  };

  port.on('message', (task: ScanTask) => {
    work = work.then(() => scan(task));
  });
}

if (parentPort !== null) serve(parentPort, workerData as ScanStart);

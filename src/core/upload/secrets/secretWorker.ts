import { parentPort, workerData } from 'node:worker_threads';
import type { WorkerAnswer } from '../../askWorker.ts';
import type { Omission } from '../sourceFile.ts';
import { type MaskStart, maskTexts } from './maskTexts.ts';
import { isMarked, scanFile, type ScannedFile } from './scanFile.ts';

export interface ScanStart {
  readonly root: string;
}

export interface ScanTask {
  readonly task: number;
  readonly paths: readonly string[];
  /** For each path, the mark of the version that was last scanned. */
  readonly marks: readonly (string | undefined)[];
}

export interface ScanAnswer {
  readonly kind: 'done';
  readonly task: number;
  readonly results: readonly (ScannedFile | Omission | 'unchanged')[];
}

function serve(port: NonNullable<typeof parentPort>, { root }: ScanStart): void {
  const scan = async ({ task, paths, marks }: ScanTask): Promise<void> => {
    const results: (ScannedFile | Omission | 'unchanged')[] = [];
    for (const [at, path] of paths.entries()) {
      const mark = marks[at];
      const isKnown = mark !== undefined && isMarked(root, path, mark);
      results.push(isKnown ? 'unchanged' : await scanFile(root, path));
    }
    const answer: ScanAnswer = { kind: 'done', task, results };
    port.postMessage(answer);
  };
  let work = Promise.resolve();
  port.on('message', (task: ScanTask) => {
    work = work.then(() => scan(task));
  });
}

if (parentPort !== null) {
  const port = parentPort;
  const start = workerData as ScanStart | MaskStart;
  if ('root' in start) serve(port, start);
  else port.postMessage({ value: maskTexts(start) } satisfies WorkerAnswer);
}

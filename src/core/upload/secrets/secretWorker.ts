import { parentPort, workerData } from 'node:worker_threads';
import type { WorkerAnswer } from '../../askWorker.ts';
import type { Omission } from '../sourceFile.ts';
import { type MaskStart, maskTexts } from './maskTexts.ts';
import { hasFileStamp, scanFile, type ScannedFile } from './scanFile.ts';

export interface ScanStart {
  readonly root: string;
}

export interface ScanTask {
  readonly task: number;
  readonly paths: readonly string[];
  readonly fileStamps: readonly (string | undefined)[];
}

export interface ScanAnswer {
  readonly kind: 'done';
  readonly task: number;
  readonly results: readonly (ScannedFile | Omission | 'unchanged')[];
}

function serve(port: NonNullable<typeof parentPort>, { root }: ScanStart): void {
  const scan = async ({ task, paths, fileStamps }: ScanTask): Promise<void> => {
    const results: (ScannedFile | Omission | 'unchanged')[] = [];
    for (const [at, path] of paths.entries()) {
      const fileStamp = fileStamps[at];
      const isKnown = fileStamp !== undefined && hasFileStamp(root, path, fileStamp);
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

import { execFileSync } from 'node:child_process';
import { closeSync, constants, openSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { systemCode } from '../../../src/core/errors.ts';
import { type Scope, tempFolder } from './tempFolder.ts';
import { eventually } from '../core/eventually.ts';

/** The worker begins with a read, which returns at the end of the test. */
export async function hungWorker(t: Scope) {
  const folder = await tempFolder(t);
  const pipe = join(folder, 'pipe');
  execFileSync('mkfifo', [pipe]);
  const workerFile = join(folder, 'worker.mjs');
  // The reader is another process, since nobody could tell whether a thread has begun its read.
  await writeFile(
    workerFile,
    `import { execFileSync } from 'node:child_process'; execFileSync('cat', [${JSON.stringify(pipe)}]);`,
  );
  const isReading = (): boolean => {
    try {
      const pipeEnd = openSync(pipe, constants.O_WRONLY | constants.O_NONBLOCK);
      t.after(() => closeSync(pipeEnd));
      return true;
    } catch (error) {
      if (systemCode(error) === 'ENXIO') return false;
      throw error;
    }
  };
  return { workerFile, untilReading: () => eventually(isReading, 'a worker that reads') };
}

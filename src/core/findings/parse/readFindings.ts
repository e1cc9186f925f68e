import { rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { AssessmentError, workerCrash } from '../../errors.ts';
import { readIfThere, toMark, writeFileAtomic } from '../../files.ts';
import type { Finding } from '../finding.ts';
import type { ParsedFindings } from './parse.ts';
import type { ParseAnswer, ParseStart } from './parseWorker.ts';

const maxHeapMb = 1_024;

/** In a run's folder: holds the mark of a findings file that was too large. */
const noteName = 'findings-too-large';

export interface ReadFindingsOptions {
  /** `parseWorker.ts`, or its bundle. */
  readonly workerFile: string | URL;
  /** Makes the ids of findings without one differ between runs. */
  readonly runId: string;
  readonly signal?: AbortSignal | undefined;
  /** True: write no note, so that each attempt to read a file that is too large takes its full time. */
  readonly isReadOnly?: boolean | undefined;
}

/**
 * Reads the findings file of a run in a worker, since a hostile or huge file takes time and memory. A file that was `findingsTooLarge` is not read again
 * until it changes, or `allowReading` is called. Throws `findingsTooLarge`, `malformedFindings` or the system's error.
 */
export async function readFindings(runFolder: string, options: ReadFindingsOptions): Promise<ParsedFindings> {
  const file = join(runFolder, 'findings.json');
  const note = join(runFolder, noteName);
  const mark = toMark(await stat(file, { bigint: true }));
  if ((await readIfThere(note)) === mark) throw new AssessmentError('findingsTooLarge');
  try {
    return await parseInWorker(file, options);
  } catch (error) {
    const isTooLarge = error instanceof AssessmentError && error.kind === 'findingsTooLarge';
    if (isTooLarge && options.isReadOnly !== true) await writeFileAtomic(note, mark);
    throw error;
  }
}

/** Lets a findings file that was too large be read again. */
export async function allowReading(runFolder: string): Promise<void> {
  await rm(join(runFolder, noteName), { force: true });
}

async function parseInWorker(
  file: string,
  { workerFile, runId, signal }: ReadFindingsOptions,
): Promise<ParsedFindings> {
  signal?.throwIfAborted();
  const start: ParseStart = { file, runId };
  const worker = new Worker(workerFile, {
    workerData: start,
    resourceLimits: { maxOldGenerationSizeMb: maxHeapMb },
  });
  const parsed = Promise.withResolvers<ParsedFindings>();
  const stop = (): void => parsed.reject(signal?.reason as Error);
  signal?.addEventListener('abort', stop);
  const findings: Finding[] = [];
  worker.on('message', (answer: ParseAnswer) => {
    if (answer.kind === 'end') parsed.resolve({ findings, cut: answer.cut });
    else if (answer.kind === 'failed') parsed.reject(new AssessmentError(answer.error, answer.data));
    else {
      for (const finding of answer.findings) findings.push(finding);
      worker.postMessage('next');
    }
  });
  worker.on('error', (error: NodeJS.ErrnoException) => {
    const isOutOfMemory = error.code === 'ERR_WORKER_OUT_OF_MEMORY';
    parsed.reject(
      isOutOfMemory ? new AssessmentError('findingsTooLarge', {}, { cause: error }) : workerCrash(error),
    );
  });
  worker.on('exit', (code) => parsed.reject(workerCrash(`exit code ${String(code)}`)));
  worker.postMessage('next');
  try {
    return await parsed.promise;
  } finally {
    signal?.removeEventListener('abort', stop);
    await worker.terminate();
  }
}

import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import type { WorkerAnswer } from '../../askWorker.ts';
import { AssessmentError } from '../../errors.ts';
import type { ArtifactStart } from '../../features/features.ts';
import type { ImportedFile, ImportStart } from '../importExport/readContent.ts';
import type { ResultJob } from '../result/resultWorker.ts';

type Job = ArtifactStart | ImportStart;

/** The modules of a job are loaded here, so that no job loads those of others. */
async function perform(start: Job): Promise<unknown> {
  if ('content' in start) {
    const { readContent } = await import('../importExport/readContent.ts');
    return readContent(start.content);
  }
  const { readArtifactFile } = await import('../../features/artifactFile.ts');
  return readArtifactFile(start);
}

async function answer(port: MessagePort, start: Job): Promise<void> {
  const send = (value: WorkerAnswer, memory: ArrayBuffer[] = []): void => port.postMessage(value, memory);
  try {
    const value = await perform(start);
    const memory = 'content' in start ? memoryOf(value as ImportedFile) : [];
    send({ value }, memory);
  } catch (error) {
    if (!(error instanceof AssessmentError)) throw error;
    send({ error: error.kind, data: error.data });
  }
}

/** Memory that is transferred, not copied. */
function memoryOf({ files }: ImportedFile): ArrayBuffer[] {
  return Array.from(files.values(), ({ buffer }) => buffer);
}

if (parentPort !== null) {
  const port = parentPort;
  const start = workerData as { readonly job: ResultJob } | Job;
  if ('job' in start)
    void import('../result/resultWorker.ts').then(({ performJob }) => performJob(port, start.job));
  else void answer(port, start);
}

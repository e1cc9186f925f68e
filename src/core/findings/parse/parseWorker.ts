import { join } from 'node:path';
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import type { WorkerAnswer } from '../../askWorker.ts';
import { AssessmentError, fileError } from '../../errors.ts';
import type { ArtifactStart } from '../../features/features.ts';
import type { ExportedFile, ExportRequest } from '../importExport/exportRun.ts';
import type { ImportedFile, ImportStart } from '../importExport/readContent.ts';
import type { EditorTexts, LocationsOfFile } from '../location/currentLocations.ts';
import type { AskedFindings, WorkOut } from '../result/workOut.ts';

interface InRuns {
  readonly runsFolder: string;
}

export type Job =
  | ArtifactStart
  | ImportStart
  /** Answers with a `WorkedOut`. */
  | ({ readonly kind: 'workOut' } & WorkOut)
  /** Answers with a `ReportedFinding` for each requested index that the file has. */
  | ({ readonly kind: 'reported' } & AskedFindings & InRuns)
  /** Answers with `CurrentLocations` for each file, or undefined if it can't be read now. */
  | ({
      readonly kind: 'follow';
      readonly files: readonly LocationsOfFile[];
      readonly texts: EditorTexts;
    } & InRuns)
  /** Answers with `FoundOwners`. */
  | { readonly kind: 'owners'; readonly files: ReadonlySet<string> }
  /** Answers with an `ExportedFile`. */
  | ({ readonly kind: 'export'; readonly request: ExportRequest } & InRuns);

/** Each job loads only the modules that it needs. */
async function perform(job: Job): Promise<unknown> {
  const runFolderOf = (id: string): string => join('runsFolder' in job ? job.runsFolder : '', id);
  switch (job.kind) {
    case 'artifact':
      return (await import('../../features/artifactFile.ts')).readArtifactFile(job);
    case 'import':
      return (await import('../importExport/readContent.ts')).readContent(job.content);
    case 'workOut':
      return (await import('../result/workOut.ts')).workOut(job);
    case 'reported':
      return (await import('../result/workOut.ts')).readReported(runFolderOf(job.run.id), job);
    case 'follow':
      return (await import('../location/currentLocations.ts')).followFiles(job.files, job.texts, runFolderOf);
    case 'owners':
      return (await import('../location/owners.ts')).findOwners(job.files);
    case 'export':
      return (await import('../importExport/exportRun.ts')).exportRun(job.request, runFolderOf);
  }
}

async function answer(port: MessagePort, job: Job): Promise<void> {
  const send = (value: WorkerAnswer, memory: ArrayBuffer[] = []): void => port.postMessage(value, memory);
  try {
    const value = await perform(job);
    send({ value }, memoryOf(job, value));
  } catch (error) {
    const known = error instanceof AssessmentError ? error : fileError(error);
    if (known === undefined) throw error;
    send({ error: known.kind, data: known.data });
  }
}

/** Files are transferred, not copied. */
function memoryOf({ kind }: Job, value: unknown): ArrayBuffer[] {
  if (kind === 'export') return [(value as ExportedFile).content.buffer];
  return kind === 'import' ? Array.from((value as ImportedFile).files.values(), ({ buffer }) => buffer) : [];
}

if (parentPort !== null) void answer(parentPort, workerData as Job);

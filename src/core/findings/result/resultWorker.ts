import { join } from 'node:path';
import type { MessagePort } from 'node:worker_threads';
import type { WorkerAnswer } from '../../askWorker.ts';
import { AssessmentError, fileError } from '../../errors.ts';
import type { Run } from '../../run/state/run.ts';
import { inParallel } from '../../yieldingWork.ts';
import type { ExportedFile, ExportRequest } from '../importExport/exportRun.ts';
import {
  type CurrentPlaces,
  type EditorTexts,
  followFile,
  type PlacesOfFile,
} from '../place/currentPlaces.ts';
import { findOwners } from '../place/owners.ts';
import { readDetails } from './resultFile.ts';
import { readDetailsAgain, readItem, type WorkOut, workOut } from './workOut.ts';

/** The folder with the folders of all runs. */
interface InRuns {
  readonly runsFolder: string;
}

/** One question to the worker, which gives one answer. */
export type ResultJob =
  /** Saves a result and details; answers with what is `Unsaved`, if any. */
  | ({ readonly kind: 'workOut' } & WorkOut)
  /** Answers with the item of a finding as JSON, if there is one. */
  | ({ readonly kind: 'item'; readonly run: Run; readonly file: string; readonly index: number } & InRuns)
  /** Answers with `CurrentPlaces` for each file. */
  | ({
      readonly kind: 'follow';
      readonly files: readonly PlacesOfFile[];
      readonly texts: EditorTexts;
    } & InRuns)
  /** Answers with `FoundOwners`. */
  | { readonly kind: 'owners'; readonly files: ReadonlySet<string> }
  /** Answers with an `ExportedFile`. */
  | ({ readonly kind: 'export'; readonly request: ExportRequest } & InRuns);

const filesAtOnce = 16;

export async function performJob(port: MessagePort, job: ResultJob): Promise<void> {
  const answer = (value: WorkerAnswer, memory: ArrayBuffer[] = []): void => port.postMessage(value, memory);
  try {
    const value = await perform(job);
    // A file is transferred, not copied.
    answer({ value }, job.kind === 'export' ? [(value as ExportedFile).content.buffer] : []);
  } catch (error) {
    const known = error instanceof AssessmentError ? error : fileError(error);
    if (known === undefined) throw error;
    answer({ error: known.kind, data: known.data });
  }
}

async function perform(job: ResultJob): Promise<unknown> {
  switch (job.kind) {
    case 'workOut':
      return workOut(job);
    case 'item':
      return readItem(join(job.runsFolder, job.run.id), job);
    case 'follow': {
      const places: CurrentPlaces[] = [];
      await inParallel(job.files.entries(), filesAtOnce, async ([at, each]) => {
        places[at] = await followFile(each, job.texts, (id) => join(job.runsFolder, id));
      });
      return places;
    }
    case 'owners':
      return findOwners(job.files);
    case 'export': {
      const { request, runsFolder } = job;
      // Loaded here, so that no other job loads it.
      const { exportRun } = await import('../importExport/exportRun.ts');
      const runFolderOf = (id: string): string => join(runsFolder, id);
      return exportRun(request, {
        detailsOf: async ({ id }, file, indexes) => {
          const saved = await readDetails(runFolderOf(id), file, indexes);
          return saved ?? readDetailsAgain(runFolderOf(id), file);
        },
        runFolderOf,
      });
    }
  }
}

import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { AssessmentError, systemCode, workerCrash } from '../../errors.ts';
import type { RunStore } from '../../run/disk/runStore.ts';
import type { Run } from '../../run/state/run.ts';
import { hasFindings, subjectOf } from '../chooseRun.ts';
import { maxReadMs, noteTooLarge, refuseTooLarge } from '../parse/readFindings.ts';
import type { ExportedFile, ExportRequest } from '../importExport/exportRun.ts';
import type { CurrentPlaces, KnownTexts, PlacesOfFile, SeenText } from '../place/currentPlaces.ts';
import type { PlacedFinding } from '../place/placement.ts';
import type { Decode } from '../place/sentFiles.ts';
import type { ResultHead } from './result.ts';
import { addDetails, type Detailable, type Detailed, type DetailsByIndex } from './details.ts';
import type {
  PlacedAt,
  PlacedFacts,
  Placing,
  ResultJob,
  ResultMessage,
  ResultReply,
  ResultStart,
} from './resultWorker.ts';

/** Where results come from. */
export interface ResultSource {
  readonly runs: Pick<RunStore, 'all' | 'folderOf'>;
  /** The entry of the parsing worker. */
  readonly workerFile: string | URL;
  /** Reads files that are not UTF-8. */
  readonly decode: Decode;
  /** True: write nothing. */
  readonly isReadOnly?: boolean | undefined;
}

const maxHeapMb = 1_024;

/** A run's result, with the places of its findings. Both lists are in the order of the result. */
export interface PlacedResult extends PlacedFacts, Pick<KnownTexts, 'seen'> {
  readonly head: ResultHead;
  readonly findings: readonly PlacedFinding[];
  /** Findings that only earlier runs report. */
  readonly absent: readonly PlacedFinding[];
}

interface ReadOptions {
  /** Without it, places are as they were reported, and owners are not looked up. */
  readonly placing?: Placing | undefined;
  /** Gets the findings as they come. */
  readonly onPlaced?: ((placed: readonly PlacedFinding[]) => void) | undefined;
  /** Gets the first findings if others follow. */
  readonly onSome?: ((head: ResultHead, findings: readonly PlacedFinding[]) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly maxMs?: number | undefined;
}

/**
 * The result of a run. It is worked out where none is saved, or where the saved one is out of date. Throws `findingsTooLarge`, `malformedFindings`,
 * `storage`, `workerCrashed`, and the signal's reason.
 */
export async function readResult(
  run: Run,
  source: ResultSource,
  { placing, onPlaced, onSome, signal, maxMs = maxReadMs }: ReadOptions = {},
): Promise<PlacedResult> {
  // Without a worker, which would only find that out again.
  await refuseTooLarge(source.runs.folderOf(run.id));
  let head: ResultHead | undefined;
  let placed: (PlacedFinding | undefined)[] = [];
  const seen = new Map(placing?.texts?.seen);
  const onHead = (read: ResultHead): void => {
    head = read;
    placed = [];
  };
  const onPiece = (piece: readonly PlacedAt[]): void => {
    const isFirst = placed.length === 0;
    for (const [at, each] of piece) placed[at] = each;
    onPlaced?.(piece.map(([, each]) => each));
    if (head !== undefined && isFirst && piece.length < head.counts.findings + head.counts.absent)
      onSome?.(head, known(placed.slice(0, head.counts.findings)));
  };
  const job: ResultJob = { kind: 'read', run, placing };
  const onSeen = ([key, text]: readonly [string, SeenText]): void => void seen.set(key, text);
  const listeners: Listeners = { onHead, onPiece, onSeen };
  const limit = AbortSignal.timeout(maxMs);
  const signals = signal === undefined ? [limit] : [signal, limit];
  let facts: PlacedFacts;
  try {
    facts = (await askForResults(job, [run], source, listeners, AbortSignal.any(signals))) as PlacedFacts;
  } catch (error) {
    if (limit.aborted && signal?.aborted !== true)
      throw new AssessmentError('findingsTooLarge', {}, { cause: error });
    throw error;
  }
  if (head === undefined) throw workerCrash('no result');
  const { findings } = head.counts;
  return {
    ...facts,
    seen,
    head,
    findings: known(placed.slice(0, findings)),
    absent: known(placed.slice(findings)),
  };
}

function known(placed: readonly (PlacedFinding | undefined)[]): readonly PlacedFinding[] {
  return placed.filter((each) => each !== undefined);
}

/** Where places are in the current text of each file. */
export async function placeFiles(
  run: Run,
  files: readonly PlacesOfFile[],
  texts: KnownTexts,
  source: ResultSource,
): Promise<readonly CurrentPlaces[]> {
  if (files.length === 0) return [];
  const job: ResultJob = { kind: 'place', files, texts };
  return (await askForResults(job, [run], source, {})) as readonly CurrentPlaces[];
}

/** Keeps the sent texts that a run's findings point at, and saves its result. Throws also the signal's reason. */
export async function saveResult(run: Run, source: ResultSource, signal?: AbortSignal): Promise<void> {
  if (hasFindings(run)) await askForResults({ kind: 'save', run }, [run], source, {}, signal);
}

/** Findings with their details. Throws what `readResult` of their runs throws. */
export function withDetails<const T extends readonly Detailable[]>(
  findings: T,
  source: ResultSource,
): Promise<Detailed<T>> {
  return addDetails(findings, async (run, indexes) => {
    const job: ResultJob = { kind: 'details', run, indexes };
    return (await askForResults(job, [run], source, {})) as DetailsByIndex;
  });
}

/** Makes the file of an export. Throws what `readResult` of the run throws, and the signal's reason. */
export async function makeExport(
  request: ExportRequest,
  source: ResultSource,
  signal?: AbortSignal,
): Promise<ExportedFile> {
  const job: ResultJob = { kind: 'export', request };
  return (await askForResults(job, [request.source.run], source, {}, signal)) as ExportedFile;
}

interface Listeners {
  readonly onProgress?: (done: number) => void;
  readonly onHead?: (head: ResultHead) => void;
  readonly onPiece?: (placed: readonly PlacedAt[]) => void;
  readonly onSeen?: (seen: readonly [string, SeenText]) => void;
}

/** Runs a job about runs in the worker. */
export async function askForResults(
  job: ResultJob,
  about: readonly Run[],
  { runs, workerFile, decode, isReadOnly = false }: ResultSource,
  listeners: Listeners,
  signal?: AbortSignal,
): Promise<unknown> {
  const runsFolder = join(runs.folderOf(about[0]?.id ?? ''), '..');
  const subjects = new Set(about.map(subjectOf));
  const ofSubjects = runs.all().filter((other) => hasFindings(other) && subjects.has(subjectOf(other)));
  const tooLarge: string[] = [];
  for (;;) {
    const start: ResultStart = { job, runsFolder, runs: ofSubjects, isReadOnly, tooLarge };
    let reading: string | undefined;
    const onReading = (runId: string | undefined): void => {
      reading = runId;
    };
    try {
      const onHead = (head: ResultHead): void => {
        reading = undefined;
        listeners.onHead?.(head);
      };
      return await converse(start, workerFile, decode, { ...listeners, onReading, onHead }, signal);
    } catch (error) {
      if (systemCode(error) !== 'ERR_WORKER_OUT_OF_MEMORY') throw error;
      if (reading !== undefined && !isReadOnly) await noteTooLarge(runs.folderOf(reading));
      if (reading === undefined || about.every(({ id }) => id === reading) || tooLarge.includes(reading))
        throw new AssessmentError('findingsTooLarge', {}, { cause: error });
      // The other runs can still be read.
      tooLarge.push(reading);
    }
  }
}

async function converse(
  start: ResultStart,
  workerFile: string | URL,
  decode: Decode,
  {
    onReading,
    onProgress,
    onHead,
    onPiece,
    onSeen,
  }: Listeners & { readonly onReading: (runId: string | undefined) => void },
  signal: AbortSignal | undefined,
): Promise<unknown> {
  signal?.throwIfAborted();
  const worker = new Worker(workerFile, {
    workerData: start,
    resourceLimits: { maxOldGenerationSizeMb: maxHeapMb },
  });
  const reply = (message: ResultReply): void => worker.postMessage(message);
  const done = Promise.withResolvers<unknown>();
  // A host that once did not answer is not waited for again, file by file.
  let isSilent = false;
  const stop = (): void => done.reject(signal?.reason as Error);
  signal?.addEventListener('abort', stop);
  worker.on('message', (message: ResultMessage) => {
    if ('value' in message) done.resolve(message.value);
    else if ('error' in message) done.reject(new AssessmentError(message.error, message.data));
    else if ('reading' in message) onReading(message.reading);
    else if ('done' in message) onProgress?.(message.done);
    else if ('head' in message) onHead?.(message.head);
    else if ('placed' in message) {
      onPiece?.(message.placed);
      reply('next');
    } else if ('seen' in message) {
      onSeen?.(message.seen);
      reply('next');
    } else {
      const { id, file } = message;
      const decoding = isSilent ? Promise.resolve(undefined) : decode(message.decode, file);
      decoding.then(
        (text) => reply({ id, text }),
        (error: unknown) => {
          isSilent ||= error instanceof AssessmentError && error.kind === 'noAnswer';
          reply({ id, text: undefined });
        },
      );
    }
  });
  worker.on('error', (error) =>
    done.reject(systemCode(error) === 'ERR_WORKER_OUT_OF_MEMORY' ? error : workerCrash(error)),
  );
  worker.on('exit', (code) => done.reject(workerCrash(`exit code ${String(code)}`)));
  try {
    return await done.promise;
  } finally {
    signal?.removeEventListener('abort', stop);
    await worker.terminate();
  }
}

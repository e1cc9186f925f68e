import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { askWorker } from '../../askWorker.ts';
import { AssessmentError, workerCrash } from '../../errors.ts';
import { isSamePath, pathKey } from '../../paths.ts';
import type { RunStore } from '../../run/disk/runStore.ts';
import type { Run } from '../../run/state/run.ts';
import { baselineAmong, continuesRun, earlierRuns, hasFindings } from '../chooseRun.ts';
import type { ExportedFile, ExportRequest } from '../importExport/exportRun.ts';
import { findingsMarkOf, maxReadMs, withReadingNote } from '../parse/readFindings.ts';
import type { CurrentPlaces, EditorTexts, PlacesOfFile } from '../place/currentPlaces.ts';
import type { FoundOwners } from '../place/owners.ts';
import { type Encodings, utf8Only } from '../place/sentFiles.ts';
import { factsOf, type ResultHead, type RunResult } from './result.ts';
import {
  addDetails,
  type Detailable,
  type Detailed,
  type DetailsByIndex,
  readDetails,
  readHead,
  readSaved,
  resultName,
} from './resultFile.ts';
import type { ResultJob } from './resultWorker.ts';
import type { Unsaved } from './workOut.ts';

/*
 * The host reads saved results itself. A worker works out one run: the host asks for the missing ones, oldest first. Of an earlier run whose findings cannot
 * be read now, the last result counts; one without any is skipped. The head says whether a result is current: it has the facts of its run, the results
 * before it, and the skipped runs. An earlier result is not asked for the results before it: those were taken into account when it was made.
 */

/** Where results come from. */
export interface ResultSource {
  readonly runs: Pick<RunStore, 'all' | 'folderOf'>;
  /** The entry of the parsing worker. */
  readonly workerFile: string | URL;
  readonly encodings: () => Encodings;
  readonly memory: ResultMemory;
  /** How long reading a findings file may take. */
  readonly maxReadMs?: number | undefined;
}

/** Where a file is read from, in a worker. */
type ReadingSource = Pick<ResultSource, 'workerFile' | 'maxReadMs'> & {
  readonly runs: Pick<RunStore, 'folderOf'>;
};

/** By local run ID, what could not be saved, or why its findings file with this mark cannot be read. */
export type ResultMemory = Map<
  string,
  Partial<Unsaved> & { readonly failed?: { readonly mark: string; readonly error: AssessmentError } }
>;

export function createMemory(): ResultMemory {
  return new Map();
}

/**
 * The result of a run; worked out where none is saved, or where the saved one is out of date. Throws `findingsTooLarge`, `malformedFindings`, `storage`,
 * `workerCrashed`, and the signal's reason.
 */
export async function readResult(run: Run, source: ResultSource, signal?: AbortSignal): Promise<RunResult> {
  await readCurrentHead(run, source, signal);
  const saved = await savedResult(run, source);
  if (saved !== undefined) return saved;
  // The head is fine, and the rest is damaged.
  await workOutRun(run, source, signal);
  const again = await savedResult(run, source);
  if (again === undefined) throw workerCrash('no result');
  return again;
}

/** The head of the current result of a run: see `readResult`. */
export async function readCurrentHead(
  run: Run,
  source: ResultSource,
  signal?: AbortSignal,
): Promise<ResultHead> {
  const mark = await markOf(run, source);
  const failed = source.memory.get(run.id)?.failed;
  if (failed?.mark === mark) throw failed.error;
  const saved = await savedHead(run, source);
  if (saved !== undefined && (await isCurrent(saved, run, mark, source))) return saved;
  return workOutRun(run, source, signal);
}

/** Saves the result of a run, with the sent texts that its findings point at. Throws what `readResult` throws. */
export async function saveResult(run: Run, source: ResultSource, signal?: AbortSignal): Promise<void> {
  if (hasFindings(run)) await readCurrentHead(run, source, signal);
}

async function savedHead({ id }: Run, { runs, memory }: ResultSource): Promise<ResultHead | undefined> {
  return memory.get(id)?.result?.head ?? (await readHead(runs.folderOf(id)));
}

async function savedResult({ id }: Run, { runs, memory }: ResultSource): Promise<RunResult | undefined> {
  return memory.get(id)?.result ?? (await readSaved(runs.folderOf(id)));
}

/** For each folder of a run, the earlier runs about it, the newest first: the first one that can be read counts. */
function candidatesOf(run: Run, all: readonly Run[]): ReadonlyMap<string, readonly Run[]> {
  const earlier = earlierRuns(all, run);
  const isAbout = (folder: string) => (other: Run) =>
    other.targets.some((target) => isSamePath(target.folder, folder));
  return new Map(run.targets.map(({ folder }) => [pathKey(folder), earlier.filter(isAbout(folder))]));
}

async function isCurrent(head: ResultHead, run: Run, mark: string, source: ResultSource): Promise<boolean> {
  if (head.facts !== factsOf(run) || head.mark !== mark) return false;
  const all = source.runs.all();
  const present = new Map(all.map((each) => [each.id, each]));
  const skipped = new Map(head.skipped.map((each) => [each.id, each.mark]));
  const isSkipped = async (other: Run): Promise<boolean> =>
    skipped.get(other.id) === ((await markIfThere(other, source)) ?? 'none') &&
    (await savedHead(other, source)) === undefined;
  for (const { id } of head.skipped) {
    const other = present.get(id);
    if (other !== undefined && !(await isSkipped(other))) return false;
  }
  // A run that was removed changes nothing: its findings are in the result.
  const removed = head.before.filter(({ id }) => !present.has(id));
  const lastRemoved = Math.max(-Infinity, ...removed.map(({ createdAt }) => createdAt));
  const isKnown = async (other: Run): Promise<boolean> => {
    const known = head.before.find(({ id }) => id === other.id);
    if (known === undefined) return other.createdAt < lastRemoved;
    const now = await savedHead(other, source);
    return now?.inputs === known.inputs && now.mark === (await markIfThere(other, source));
  };
  const baseline = baselineAmong(all, run);
  for (const candidates of [...candidatesOf(run, all).values(), baseline ? [baseline] : []]) {
    const first = candidates.find(({ id }) => !skipped.has(id));
    if (first !== undefined && !(await isKnown(first))) return false;
  }
  return true;
}

async function workOutRun(run: Run, source: ResultSource, signal?: AbortSignal): Promise<ResultHead> {
  const { runs, memory, encodings } = source;
  const all = runs.all();
  const before = new Map<string, Run>();
  const skipped = new Map<string, ResultHead['skipped'][number]>();
  const canUse = async (other: Run): Promise<boolean> => {
    if (before.has(other.id)) return true;
    const head = await lastHeadOf(other, source, signal);
    if (head === undefined)
      skipped.set(other.id, { id: other.id, mark: (await markIfThere(other, source)) ?? 'none' });
    else {
      before.set(other.id, other);
      for (const each of head.skipped) skipped.set(each.id, each);
    }
    return head !== undefined;
  };
  const beforeOf = new Map<string, string>();
  for (const [folder, candidates] of candidatesOf(run, all))
    for (const other of candidates) {
      if (!(await canUse(other))) continue;
      beforeOf.set(folder, other.id);
      break;
    }
  const baseline = baselineAmong(all, run);
  const hasBaseline = baseline !== undefined && (await canUse(baseline));
  const task: ResultJob = {
    kind: 'workOut',
    run,
    runsFolder: runs.folderOf(''),
    before: [...before.values()],
    beforeOf,
    baseline: hasBaseline ? baseline.id : undefined,
    skipped: [...skipped.values()].sort((one, other) => (one.id < other.id ? -1 : 1)),
    continued: earlierRuns(all, run).find((other) => continuesRun(run, other)),
    kept: [run.id, ...before.keys()].flatMap((id) => memory.get(id)?.result ?? []),
    encodings: encodings(),
    isReadOnly: false,
  };
  const mark = await markOf(run, source);
  try {
    const unsaved = (await askReader(task, run, source, signal)) as Unsaved;
    if (unsaved.result ?? unsaved.details) memory.set(run.id, unsaved);
    else memory.delete(run.id);
  } catch (error) {
    // It would only fail in the same way.
    if (error instanceof AssessmentError && error.kind === 'malformedFindings')
      memory.set(run.id, { ...memory.get(run.id), failed: { mark, error } });
    throw error;
  }
  const head = await savedHead(run, source);
  if (head === undefined) throw workerCrash('no result');
  return head;
}

/** Of an earlier run. Undefined if it cannot be read, and never was. */
async function lastHeadOf(
  run: Run,
  source: ResultSource,
  signal: AbortSignal | undefined,
): Promise<ResultHead | undefined> {
  try {
    return (await readResult(run, source, signal)).head;
  } catch (error) {
    if (!(error instanceof AssessmentError)) throw error;
    return (await savedResult(run, source))?.head;
  }
}

async function markOf(run: Run, source: ReadingSource): Promise<string> {
  const mark = await markIfThere(run, source);
  if (mark !== undefined) return mark;
  const subject = join(source.runs.folderOf(run.id), 'findings.json');
  throw new AssessmentError('storage', { subject, detail: 'ENOENT' });
}

function markIfThere({ id }: Run, { runs }: ReadingSource): Promise<string | undefined> {
  return findingsMarkOf(runs.folderOf(id));
}

/** Findings with their details. Throws what `readResult` of their runs throws. */
export function withDetails<const T extends readonly Detailable[]>(
  findings: T,
  source: ResultSource,
): Promise<Detailed<T>> {
  return addDetails(findings, async (run, file, indexes) => {
    const read = async (): Promise<DetailsByIndex | undefined> => {
      const unsaved = source.memory.get(run.id);
      if (unsaved?.file === file && unsaved.details) return unsaved.details;
      return readDetails(source.runs.folderOf(run.id), file, indexes);
    };
    const known = await read();
    if (known !== undefined) return known;
    await workOutRun(run, source);
    return read();
  });
}

/** `savedAt` is undefined for a result that was worked out without earlier runs, and not saved, since there was none. */
interface LastResult {
  readonly result: RunResult;
  readonly savedAt: number | undefined;
}

/** The result of a run that was last saved, current or not. Writes nothing. Throws what `readResult` throws. */
export async function readLastResult(run: Run, source: ReadingSource): Promise<LastResult> {
  const runFolder = source.runs.folderOf(run.id);
  const saved = await readSaved(runFolder);
  if (saved !== undefined)
    return { result: saved, savedAt: (await stat(join(runFolder, resultName))).mtime.getTime() };
  const { result } = await workOutAlone(run, source);
  if (result === undefined) throw workerCrash('no result');
  return { result, savedAt: undefined };
}

/** Details of what `readLastResult` returns. Writes nothing. */
export async function readLastDetails(
  run: Run,
  file: string,
  indexes: ReadonlySet<number>,
  source: ReadingSource,
): Promise<DetailsByIndex | undefined> {
  const saved = await readDetails(source.runs.folderOf(run.id), file, indexes);
  if (saved !== undefined) return saved;
  const alone = await workOutAlone(run, source);
  return alone.file === file ? alone.details : undefined;
}

/** Without earlier runs, and without writing. */
async function workOutAlone(run: Run, source: ReadingSource): Promise<Unsaved> {
  const job: ResultJob = {
    kind: 'workOut',
    run,
    runsFolder: source.runs.folderOf(''),
    before: [],
    beforeOf: new Map(),
    baseline: undefined,
    skipped: [],
    continued: undefined,
    kept: [],
    encodings: utf8Only,
    isReadOnly: true,
  };
  return (await askReader(job, run, source)) as Unsaved;
}

/** The item of a findings file as JSON; undefined if it is too long or nested too deeply. Throws what `readResult` throws. */
export async function readItem(run: Run, index: number, source: ResultSource): Promise<string | undefined> {
  const job: ResultJob = { kind: 'item', run, index, runsFolder: source.runs.folderOf('') };
  return (await askReader(job, run, source)) as string | undefined;
}

/** For a job that reads the findings file of a run. */
async function askReader(
  job: ResultJob,
  run: Run,
  source: ReadingSource,
  signal?: AbortSignal,
): Promise<unknown> {
  const mark = await markOf(run, source);
  const limit = AbortSignal.timeout(source.maxReadMs ?? maxReadMs);
  const isReadOnly = 'isReadOnly' in job && job.isReadOnly;
  return withReadingNote(source.runs.folderOf(run.id), mark, isReadOnly, async () => {
    try {
      return await ask(job, source, AbortSignal.any(signal === undefined ? [limit] : [signal, limit]));
    } catch (error) {
      if (limit.aborted && signal?.aborted !== true)
        throw new AssessmentError('findingsTooLarge', {}, { cause: error });
      throw error;
    }
  });
}

/** Follows places to the present text of files that differ from what was sent. */
export async function followFiles(
  files: readonly PlacesOfFile[],
  texts: EditorTexts,
  source: ResultSource,
): Promise<readonly CurrentPlaces[]> {
  const keys = new Set(files.map(({ file }) => pathKey(file.file)));
  const ofFiles = (all: ReadonlyMap<string, string>): ReadonlyMap<string, string> =>
    new Map([...all].filter(([key]) => keys.has(key)));
  const { edited, opened, encodings } = texts;
  const some = { edited: ofFiles(edited), opened: ofFiles(opened), encodings };
  const job: ResultJob = { kind: 'follow', files, texts: some, runsFolder: source.runs.folderOf('') };
  return (await ask(job, source)) as readonly CurrentPlaces[];
}

export async function askForOwners(files: ReadonlySet<string>, source: ResultSource): Promise<FoundOwners> {
  return (await ask({ kind: 'owners', files }, source)) as FoundOwners;
}

/** Makes the file of an export. Throws what `readResult` of the run throws, and the signal's reason. */
export async function makeExport(
  request: ExportRequest,
  source: ReadingSource,
  signal?: AbortSignal,
): Promise<ExportedFile> {
  const job: ResultJob = { kind: 'export', request, runsFolder: source.runs.folderOf('') };
  return (await ask(job, source, signal)) as ExportedFile;
}

function ask(
  job: ResultJob,
  { workerFile }: Pick<ResultSource, 'workerFile'>,
  signal?: AbortSignal,
): Promise<unknown> {
  return askWorker({ job }, workerFile, { signal, outOfMemory: 'findingsTooLarge' });
}

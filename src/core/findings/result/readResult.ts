import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { askWorker } from '../../askWorker.ts';
import { AssessmentError, workerCrash } from '../../errors.ts';
import { pathKey } from '../../paths.ts';
import type { RunStore } from '../../run/disk/runStore.ts';
import type { Run } from '../../run/state/run.ts';
import { baselineAmong, continuesRun, earlierRuns, hasFindings } from '../chooseRun.ts';
import type { ExportedFile, ExportRequest } from '../importExport/exportRun.ts';
import { findingsMarkOf, maxReadMs, withReadingNote } from '../parse/readFindings.ts';
import type { CurrentPlaces, EditorTexts, PlacesOfFile } from '../place/currentPlaces.ts';
import { type Encodings, utf8Only } from '../place/encodings.ts';
import type { FoundOwners } from '../place/owners.ts';
import { isAbout } from './compareRuns.ts';
import { addDetails, type Detailable, type Detailed, type DetailsByIndex, readDetails } from './details.ts';
import { factsOf, type ResultHead, type RunResult } from './result.ts';
import { readHead, readSaved, resultName } from './resultFile.ts';
import type { ResultJob } from './resultWorker.ts';

/*
 * The host reads saved results itself. A worker works out one run: the host asks for the missing ones, oldest first. An earlier run whose findings cannot
 * be read is skipped. The head says whether a result is current: it has the facts of its run, the results before it, and the skipped runs.
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

/** What cannot be on disk, by local run ID. */
export interface ResultMemory {
  /** Results that could not be saved. */
  readonly results: Map<string, RunResult>;
  /** Why a findings file with this mark cannot be read. */
  readonly failures: Map<string, { readonly mark: string; readonly error: AssessmentError }>;
}

export function createMemory(): ResultMemory {
  return { results: new Map(), failures: new Map() };
}

/**
 * The result of a run; worked out where none is saved, or where the saved one is out of date. Throws `findingsTooLarge`, `malformedFindings`, `storage`,
 * `workerCrashed`, and the signal's reason.
 */
export async function readResult(run: Run, source: ResultSource, signal?: AbortSignal): Promise<RunResult> {
  const runFolder = source.runs.folderOf(run.id);
  const asked = new Asked(source, signal);
  await asked.headOf(run);
  const read = async (): Promise<RunResult | undefined> =>
    source.memory.results.get(run.id) ?? (await readSaved(runFolder));
  const saved = await read();
  if (saved !== undefined) return saved;
  // The head is fine, and the rest is damaged.
  await asked.workOut(run);
  const again = await read();
  if (again === undefined) throw new AssessmentError('storage', { subject: runFolder, detail: 'EBUSY' });
  return again;
}

/** The head of the current result of a run: see `readResult`. */
export function readCurrentHead(run: Run, source: ResultSource): Promise<ResultHead> {
  return new Asked(source, undefined).headOf(run);
}

/** Saves the result of a run, with the sent texts that its findings point at. Throws what `readResult` throws. */
export async function saveResult(run: Run, source: ResultSource, signal?: AbortSignal): Promise<void> {
  if (hasFindings(run)) await new Asked(source, signal).headOf(run);
}

/** The earlier runs that a result depends on. */
interface Earlier extends Pick<ResultHead, 'skipped'> {
  readonly before: readonly { readonly run: Run; readonly inputs: string }[];
  readonly beforeOf: ReadonlyMap<string, string>;
  readonly baseline: Run | undefined;
}

/** What is known of results while one is read. */
class Asked {
  readonly #source: ResultSource;
  readonly #signal: AbortSignal | undefined;
  readonly #heads = new Map<string, Promise<ResultHead>>();

  constructor(source: ResultSource, signal: AbortSignal | undefined) {
    this.#source = source;
    this.#signal = signal;
  }

  /** Of the current result. */
  headOf(run: Run): Promise<ResultHead> {
    const head = this.#heads.get(run.id) ?? this.#currentHead(run);
    this.#heads.set(run.id, head);
    return head;
  }

  async #currentHead(run: Run): Promise<ResultHead> {
    const { runs, memory } = this.#source;
    const runFolder = runs.folderOf(run.id);
    const mark = await this.#markOf(run);
    const failure = memory.failures.get(run.id);
    if (failure?.mark === mark) throw failure.error;
    const earlier = await this.#earlierOf(run);
    const saved = memory.results.get(run.id)?.head ?? (await readHead(runFolder));
    if (saved !== undefined && this.#isCurrent(saved, run, mark, earlier)) return saved;
    return this.#workOutAfter(run, earlier);
  }

  async workOut(run: Run): Promise<ResultHead> {
    return this.#workOutAfter(run, await this.#earlierOf(run));
  }

  async #workOutAfter(run: Run, { before, beforeOf, baseline, skipped }: Earlier): Promise<ResultHead> {
    const { runs, memory, encodings } = this.#source;
    const mark = await this.#markOf(run);
    const runFolder = runs.folderOf(run.id);
    const about = [run.id, ...before.map((each) => each.run.id)];
    const task: ResultJob = {
      kind: 'workOut',
      run,
      runsFolder: runs.folderOf(''),
      before: before.map((each) => each.run),
      beforeOf,
      baseline: baseline?.id,
      skipped,
      continued: earlierRuns(runs.all(), run).find((other) => continuesRun(run, other)),
      kept: about.flatMap((id) => memory.results.get(id) ?? []),
      encodings: encodings(),
      isReadOnly: false,
    };
    try {
      const unsaved = (await askReader(task, run, this.#source, this.#signal)) as RunResult | undefined;
      if (unsaved === undefined) memory.results.delete(run.id);
      else memory.results.set(run.id, unsaved);
      const head = unsaved?.head ?? (await readHead(runFolder));
      if (head === undefined) throw workerCrash('no result');
      return head;
    } catch (error) {
      // It would only fail in the same way.
      if (error instanceof AssessmentError && error.kind === 'malformedFindings')
        memory.failures.set(run.id, { mark, error });
      throw error;
    }
  }

  /** For each folder of a run, the latest earlier run about it that can be read; and the run that new findings are new since. */
  async #earlierOf(run: Run): Promise<Earlier> {
    const all = this.#source.runs.all();
    const earlier = earlierRuns(all, run);
    const before = new Map<string, Earlier['before'][number]>();
    const skipped = new Map<string, ResultHead['skipped'][number]>();
    const add = async (other: Run): Promise<boolean> => {
      try {
        const head = await this.headOf(other);
        before.set(other.id, { run: other, inputs: head.inputs });
        for (const each of head.skipped) skipped.set(each.id, each);
        return true;
      } catch (error) {
        if (!(error instanceof AssessmentError)) throw error;
        skipped.set(other.id, { id: other.id, mark: await this.#markIfThere(other) });
        return false;
      }
    };
    const beforeOf = new Map<string, string>();
    for (const { folder } of run.targets)
      for (const other of earlier) {
        if (!isAbout(other, { home: folder }) || !(await add(other))) continue;
        beforeOf.set(pathKey(folder), other.id);
        break;
      }
    const baseline = baselineAmong(all, run);
    const isThere = baseline !== undefined && (await add(baseline));
    return {
      before: [...before.values()],
      beforeOf,
      baseline: isThere ? baseline : undefined,
      skipped: [...skipped.values()].sort((one, other) => (one.id < other.id ? -1 : 1)),
    };
  }

  #isCurrent(head: ResultHead, run: Run, mark: string, { before, skipped }: Earlier): boolean {
    if (head.facts !== factsOf(run) || head.mark !== mark) return false;
    const known = new Map(head.before.map((each) => [each.id, each]));
    const present = new Set(this.#source.runs.all().map(({ id }) => id));
    // A run that was removed changes nothing: its findings are in the result.
    const removed = head.before.filter(({ id }) => !present.has(id));
    const lastRemoved = Math.max(-Infinity, ...removed.map(({ createdAt }) => createdAt));
    const isKnown = before.every(({ run: { id, createdAt }, inputs }) => {
      const former = known.get(id);
      return former === undefined ? createdAt < lastRemoved : former.inputs === inputs;
    });
    const isSkipped = new Map(head.skipped.map((each) => [each.id, each.mark]));
    return (
      isKnown &&
      skipped.every(({ id, mark: now }) => isSkipped.has(id) && isSkipped.get(id) === now) &&
      head.skipped.every(({ id }) => !present.has(id) || skipped.some((each) => each.id === id))
    );
  }

  async #markOf(run: Run): Promise<string> {
    const mark = await this.#markIfThere(run);
    if (mark !== undefined) return mark;
    const subject = join(this.#source.runs.folderOf(run.id), 'findings.json');
    throw new AssessmentError('storage', { subject, detail: 'ENOENT' });
  }

  #markIfThere({ id }: Run): Promise<string | undefined> {
    return findingsMarkOf(this.#source.runs.folderOf(id));
  }
}

/** Findings with their details. Throws what `readResult` of their runs throws. */
export function withDetails<const T extends readonly Detailable[]>(
  findings: T,
  source: ReadingSource,
): Promise<Detailed<T>> {
  return addDetails(findings, async (run, indexes) => {
    const saved = await readDetails(source.runs.folderOf(run.id), indexes);
    return saved ?? readDetailsInWorker(run, indexes, source, false);
  });
}

async function readDetailsInWorker(
  run: Run,
  indexes: ReadonlySet<number>,
  source: ReadingSource,
  isReadOnly: boolean,
): Promise<DetailsByIndex> {
  const job: ResultJob = { kind: 'details', run, indexes, isReadOnly, runsFolder: source.runs.folderOf('') };
  return (await askReader(job, run, source)) as DetailsByIndex;
}

/** `savedAt` is undefined for a result that was worked out without earlier runs, and not saved, since there was none. */
interface LastResult {
  readonly result: RunResult;
  readonly savedAt: number | undefined;
}

/** The result of a run that was last saved, current or not. Writes nothing. Throws what `readResult` throws. */
export async function readLastResult(run: Run, source: ReadingSource): Promise<LastResult> {
  const runFolder = source.runs.folderOf(run.id);
  const result = await readSaved(runFolder);
  if (result !== undefined) return { result, savedAt: (await stat(join(runFolder, resultName))).mtimeMs };
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
  return { result: (await askReader(job, run, source)) as RunResult, savedAt: undefined };
}

/** The details of what `readLastResult` returns. Those of a findings file that is no longer here may be missing. Writes nothing. */
export async function readLastDetails(
  run: Run,
  indexes: ReadonlySet<number>,
  source: ReadingSource,
): Promise<DetailsByIndex> {
  const runFolder = source.runs.folderOf(run.id);
  const present = await findingsMarkOf(runFolder);
  const mark = (await readHead(runFolder))?.mark ?? present;
  const saved = await readDetails(runFolder, indexes, mark);
  if (saved !== undefined) return saved;
  return mark === present ? readDetailsInWorker(run, indexes, source, true) : new Map();
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
  const runFolder = source.runs.folderOf(run.id);
  const mark = await findingsMarkOf(runFolder);
  if (mark === undefined) {
    const subject = join(runFolder, 'findings.json');
    throw new AssessmentError('storage', { subject, detail: 'ENOENT' });
  }
  const limit = AbortSignal.timeout(source.maxReadMs ?? maxReadMs);
  const isReadOnly = 'isReadOnly' in job && job.isReadOnly;
  return withReadingNote(runFolder, mark, isReadOnly, async () => {
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

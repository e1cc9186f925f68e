import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type AskOptions, askWorker } from '../../askWorker.ts';
import { AssessmentError, knownError, workerCrash } from '../../errors.ts';
import { isSamePath, pathKey } from '../../paths.ts';
import type { RunStore } from '../../run/disk/runStore.ts';
import { artifactPath, type Failure, type Run } from '../../run/state/run.ts';
import { baselineAmong, continuesRun, earlierRuns, hasFindings } from '../chooseRun.ts';
import type { ExportedFile, ExportRequest } from '../importExport/exportRun.ts';
import { findingsStampOf, maxReadMs } from '../parse/readFindings.ts';
import type { CurrentLocations, EditorTexts, LocationsOfFile } from '../location/currentLocations.ts';
import type { FoundOwners } from '../location/owners.ts';
import type { ReportedFinding } from '../finding.ts';
import type { Job } from '../parse/parseWorker.ts';
import type { Encodings } from '../location/uploadedFiles.ts';
import type { WorkedOut } from './workOut.ts';
import { factsOf, resultFormat, type ResultHead, type RunResult } from './result.ts';
import { addDetails, type Detailable, type Detailed, readHead, readSaved, resultName } from './resultFile.ts';

/**
 * The host reads saved results itself, and lets a worker work out missing or outdated ones, oldest
 * first. If the findings of an earlier run cannot be read now, its last result counts; a run
 * without a result is skipped. An earlier result already includes the results before it.
 */

export interface ResultSource {
  readonly runs: Pick<RunStore, 'all' | 'folderOf'>;
  readonly workerFile: string | URL;
  readonly encodings: () => Encodings;
  readonly memory: ResultMemory;
  readonly maxReadMs?: number | undefined;
  readonly isReadOnly?: boolean;
}

export interface ResultMemory {
  readonly unsaved: Map<string, RunResult>;
  /** An unreadable file is read again if it changes or its entry is deleted. */
  readonly failed: Map<string, { readonly fileStamp: string; readonly error: AssessmentError }>;
}

/** Reading may have timed out only because the machine slept. */
export function forgetLate({ failed }: Pick<ResultMemory, 'failed'>): void {
  for (const [id, { error }] of failed) if (error.kind === 'notInTime') failed.delete(id);
}

export function createMemory(): ResultMemory {
  return { unsaved: new Map(), failed: new Map() };
}

/** Throws the signal's reason, or an error that says why the file can't be read. */
export async function readResult(run: Run, source: ResultSource, signal?: AbortSignal): Promise<RunResult> {
  const saved = await savedResult(run, source);
  if (saved !== undefined && (await isCurrent(saved.head, run, source))) return saved;
  await workOutRun(run, source, signal);
  const made = await savedResult(run, source);
  if (made === undefined) throw workerCrash('no result');
  return made;
}

/** Also saves the uploaded texts that findings point at. Skips a malformed or too large file. */
export async function saveResult(run: Run, source: ResultSource, signal?: AbortSignal): Promise<void> {
  if (!hasFindings(run)) return;
  source.memory.failed.delete(run.id);
  let notSaved: WorkedOut['notSaved'];
  try {
    ({ notSaved } = await workOutRun(run, source, signal));
  } catch (error) {
    if (failsAgain(knownError(error))) return;
    throw error;
  }
  if (notSaved !== undefined) throw new AssessmentError(notSaved.kind, notSaved);
  const { runs, memory } = source;
  if (memory.unsaved.has(run.id))
    throw new AssessmentError('storage', { subject: join(runs.folderOf(run.id), resultName) });
}

async function savedHead({ id }: Run, { runs, memory }: ResultSource): Promise<ResultHead | undefined> {
  return memory.unsaved.get(id)?.head ?? (await readHead(runs.folderOf(id)));
}

export function failsAgain({ kind }: Pick<Failure, 'kind'>): boolean {
  return kind === 'malformedFindings' || kind === 'findingsTooLarge';
}

export async function headOfFindings(run: Run, source: ResultSource): Promise<ResultHead | undefined> {
  const head = await savedHead(run, source);
  return head !== undefined && head.fileStamp === (await stampIfThere(run, source)) ? head : undefined;
}

export async function savedResult(
  { id }: Run,
  { runs, memory }: ResultSource,
): Promise<RunResult | undefined> {
  return memory.unsaved.get(id) ?? (await readSaved(runs.folderOf(id)));
}

/**
 * Returns the candidates for each folder of the run, then for the baseline, the newest first. The
 * first readable candidate counts.
 */
function candidatesOf(run: Run, all: readonly Run[]): readonly (readonly Run[])[] {
  const earlier = earlierRuns(all, run);
  const isAbout = (folder: string) => (other: Run) =>
    other.targets.some((target) => isSamePath(target.folder, folder));
  const baseline = baselineAmong(all, run);
  return [
    ...run.targets.map(({ folder }) => earlier.filter(isAbout(folder))),
    baseline === undefined ? [] : [baseline],
  ];
}

export async function isCurrent(head: ResultHead, run: Run, source: ResultSource): Promise<boolean> {
  if (head.format !== resultFormat || head.facts !== factsOf(run)) return false;
  if (head.fileStamp !== (await stampIfThere(run, source))) return false;
  const all = source.runs.all();
  const skipped = new Map(head.skipped.map((each) => [each.id, each.fileStamp]));
  for (const other of all) {
    const skippedStamp = skipped.get(other.id);
    if (skippedStamp === undefined) continue;
    if (skippedStamp !== ((await stampIfThere(other, source)) ?? 'none')) return false;
    if ((await savedHead(other, source)) !== undefined) return false;
  }
  for (const [at, candidates] of candidatesOf(run, all).entries()) {
    const first = candidates.find(({ id }) => !skipped.has(id));
    if (first === undefined) continue;
    const known = head.before[at] ?? { id: '', inputs: '', createdAt: -Infinity };
    if (first.id === known.id) {
      const now = await savedHead(first, source);
      if (now?.inputs !== known.inputs || now.fileStamp !== (await stampIfThere(first, source))) return false;
      // An older candidate means that the known run was removed. This result already has its
      // findings.
    } else if (first.createdAt >= known.createdAt) return false;
  }
  return true;
}

async function workOutRun(run: Run, source: ResultSource, signal?: AbortSignal): Promise<WorkedOut> {
  const { runs, memory, encodings } = source;
  const all = runs.all();
  const before: (Run | undefined)[] = [];
  const skipped = new Map<string, ResultHead['skipped'][number]>();
  const canUse = async (other: Run): Promise<boolean> => {
    if (before.includes(other)) return true;
    const head = await lastHeadOf(other, source, signal);
    if (head === undefined)
      skipped.set(other.id, { id: other.id, fileStamp: (await stampIfThere(other, source)) ?? 'none' });
    else for (const each of head.skipped) skipped.set(each.id, each);
    return head !== undefined;
  };
  for (const candidates of candidatesOf(run, all)) {
    let used: Run | undefined;
    for (const other of candidates) if (used === undefined && (await canUse(other))) used = other;
    before.push(used);
  }
  const task: Job = {
    kind: 'workOut',
    run,
    runsFolder: runs.folderOf(''),
    before,
    skipped: [...skipped.values()].sort((one, other) => (one.id < other.id ? -1 : 1)),
    continued: earlierRuns(all, run).find((other) => continuesRun(run, other)),
    kept: [run, ...before].flatMap((each) => memory.unsaved.get(each?.id ?? '') ?? []),
    encodings: encodings(),
    isReadOnly: false,
  };
  const made = (await askReader(task, run, source, signal)) as WorkedOut;
  if (made.unsaved === undefined) memory.unsaved.delete(run.id);
  else memory.unsaved.set(run.id, made.unsaved);
  return made;
}

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

function stampIfThere(run: Run, { runs }: Pick<ResultSource, 'runs'>): Promise<string | undefined> {
  return findingsStampOf(run, runs.folderOf(run.id));
}

/**
 * The result need not be current. Without `savedAt`, it was worked out just now, without earlier
 * runs. Writes nothing.
 */
export async function readLastResult(
  run: Run,
  source: ResultSource,
): Promise<{ readonly result: RunResult; readonly savedAt?: number }> {
  const runFolder = source.runs.folderOf(run.id);
  const saved = await readSaved(runFolder);
  if (saved !== undefined)
    return { result: saved, savedAt: (await stat(join(runFolder, resultName))).mtime.getTime() };
  const job: Job = { kind: 'workOut', run, runsFolder: source.runs.folderOf(''), isReadOnly: true };
  const { unsaved } = (await askReader(job, run, source)) as WorkedOut;
  if (unsaved === undefined) throw workerCrash('no result');
  return { result: unsaved };
}

export function withDetails<const T extends readonly Detailable[]>(
  findings: T,
  source: ResultSource,
): Promise<Detailed<T>> {
  return addDetails(
    findings,
    (id) => source.runs.folderOf(id),
    (run, file, indexes) => readReported(run, file, indexes, source),
  );
}

/** Returns undefined if the item is too long or nested too deeply, or its file was replaced. */
export async function readItem(
  { run, file, finding: { index } }: Detailable,
  source: ResultSource,
): Promise<string | undefined> {
  return (await readReported(run, file, new Set([index]), source))[0]?.raw;
}

async function readReported(
  run: Run,
  file: string,
  indexes: ReadonlySet<number>,
  source: ResultSource,
): Promise<readonly ReportedFinding[]> {
  const { isReadOnly = false, runs } = source;
  const head = await readHead(runs.folderOf(run.id));
  if (head !== undefined && head.file !== file && head.fileStamp === (await stampIfThere(run, source)))
    return [];
  const job: Job = { kind: 'reported', run, file, indexes, isReadOnly, runsFolder: source.runs.folderOf('') };
  return (await askReader(job, run, source)) as readonly ReportedFinding[];
}

async function askReader(job: Job, run: Run, source: ResultSource, signal?: AbortSignal): Promise<unknown> {
  const fileStamp = await stampIfThere(run, source);
  const subject = artifactPath(run, 'findings', source.runs.folderOf(run.id));
  if (fileStamp === undefined) throw new AssessmentError('storage', { subject, detail: 'ENOENT' });
  const { failed } = source.memory;
  const last = failed.get(run.id);
  if (last?.fileStamp === fileStamp) throw last.error;
  try {
    return await ask(job, source, { signal, maxMs: source.maxReadMs ?? maxReadMs });
  } catch (error) {
    if (error instanceof AssessmentError && (failsAgain(error) || error.kind === 'notInTime'))
      failed.set(run.id, { fileStamp, error });
    throw error;
  }
}

const maxFollowMs = 60_000;

export async function followInWorker(
  files: readonly LocationsOfFile[],
  texts: EditorTexts,
  source: ResultSource,
): Promise<readonly (CurrentLocations | undefined)[]> {
  const keys = new Set(files.map(({ file }) => pathKey(file.file)));
  const edited = new Map([...texts.edited].filter(([key]) => keys.has(key)));
  const job: Job = {
    kind: 'follow',
    files,
    texts: { ...texts, edited },
    runsFolder: source.runs.folderOf(''),
  };
  return (await ask(job, source, { maxMs: maxFollowMs })) as readonly (CurrentLocations | undefined)[];
}

const maxOwnersMs = 10_000;
const maxExportMs = 600_000;

export async function askForOwners(files: ReadonlySet<string>, source: ResultSource): Promise<FoundOwners> {
  return (await ask({ kind: 'owners', files }, source, { maxMs: maxOwnersMs })) as FoundOwners;
}

export async function makeExport(
  request: ExportRequest,
  source: Pick<ResultSource, 'runs' | 'workerFile'>,
  signal?: AbortSignal,
): Promise<ExportedFile> {
  const job: Job = { kind: 'export', request, runsFolder: source.runs.folderOf('') };
  return (await ask(job, source, { signal, maxMs: maxExportMs })) as ExportedFile;
}

function ask(
  job: Job,
  { workerFile }: Pick<ResultSource, 'workerFile'>,
  options: Pick<AskOptions, 'signal' | 'maxMs'>,
): Promise<unknown> {
  return askWorker(job, workerFile, { ...options, limitError: 'findingsTooLarge' });
}

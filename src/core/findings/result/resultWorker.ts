import { join } from 'node:path';
import type { MessagePort } from 'node:worker_threads';
import type { WorkerAnswer } from '../../askWorker.ts';
import { AssessmentError, fileError } from '../../errors.ts';
import type { Run } from '../../run/state/run.ts';
import { inParallel } from '../../yieldingWork.ts';
import type { ExportedFile, ExportRequest } from '../importExport/exportRun.ts';
import {
  type CurrentPlaces,
  type KnownTexts,
  placesInFile,
  type PlacesOfFile,
  type SeenText,
  type TextSource,
} from '../place/currentPlaces.ts';
import type { PathMapping } from '../place/mappings.ts';
import { findOwners, type FoundOwners } from '../place/owners.ts';
import {
  filesAtOnce,
  filesOf,
  type PlacedFiles,
  type PlacedFinding,
  placeFindings,
} from '../place/placement.ts';
import type { Decode } from '../place/sentFiles.ts';
import { mainPlaceOf } from '../shownFinding.ts';
import { readTrendRows } from './trendRows.ts';
import type { FoundByRun, ResultFinding, ResultHead } from './result.ts';
import { detailsOf, keepSourceOf, resultOf, type WorkOutDeps } from './workOut.ts';

/** What the worker is to do with the results of runs. */
export type ResultJob =
  /** Sends the result, where its findings are now. Answers with `PlacedFacts`. */
  | {
      readonly kind: 'read';
      readonly run: Run;
      /** Undefined: places are as they were reported, and owners are not looked up. */
      readonly placing: Placing | undefined;
    }
  /** Answers with the current places of each file. */
  | { readonly kind: 'place'; readonly files: readonly PlacesOfFile[]; readonly texts: KnownTexts }
  /** Keeps the sent texts, and saves the result. */
  | { readonly kind: 'save'; readonly run: Run }
  /** Answers with `DetailsByIndex`. */
  | { readonly kind: 'details'; readonly run: Run; readonly indexes: ReadonlySet<number> }
  | { readonly kind: 'trend'; readonly rows: readonly Run[] }
  /** Answers with an `ExportedFile`. */
  | { readonly kind: 'export'; readonly request: ExportRequest };

/** What the places of findings depend on, besides the result and the files on the disk. */
export interface Placing {
  /** By `pathKey` of a target's folder. */
  readonly mappings: Readonly<Record<string, readonly PathMapping[]>>;
  /** Undefined: places are as they were reported, and no file is read. */
  readonly texts?: KnownTexts | undefined;
}

/** What is known once all findings of a run are placed. */
export interface PlacedFacts extends Omit<PlacedFiles, 'seen'>, FoundOwners {
  /** How many findings of removed runs are not reported. */
  readonly removed: number;
}

/** A finding by its position in the result: findings that are not reported follow the others. */
export type PlacedAt = readonly [at: number, placed: PlacedFinding];

/** Starts the worker for a job. */
export interface ResultStart extends Pick<WorkOutDeps, 'runsFolder' | 'runs' | 'isReadOnly' | 'tooLarge'> {
  readonly job: ResultJob;
}

/** From the worker. */
export type ResultMessage =
  | WorkerAnswer
  /** The run whose findings file is read; undefined when no file is read any more. */
  | { readonly reading: string | undefined }
  /** How many runs are done. */
  | { readonly done: number }
  /** A file that is not UTF-8, which the host decodes. */
  | { readonly decode: Uint8Array; readonly file: string; readonly id: number }
  | { readonly head: ResultHead }
  | { readonly placed: readonly PlacedAt[] }
  /** The text of a file that is seen for the first time. */
  | { readonly seen: readonly [key: string, text: SeenText] };

/** To the worker: the text of a file, or none if it cannot be decoded; or that it may send the next piece. It sends one piece at a time. */
export type ResultReply = { readonly id: number; readonly text: string | undefined } | 'next';

/** In characters: the extension host must take a message over in a few milliseconds. */
const maxPieceLength = 256 * 1024;
/** Characters that stand for what a finding takes besides its places. */
const overheadLength = 500;

/** The worker's part. */
export async function performJob(port: MessagePort, { job, ...start }: ResultStart): Promise<void> {
  const send = (message: ResultMessage, memory: ArrayBuffer[] = []): void =>
    port.postMessage(message, memory);
  const { decode, mayGoOn } = listen(port, send);
  const onReading = (runId: string): void => send({ reading: runId });
  const deps: WorkOutDeps = { ...start, decode, onReading, recent: new Map() };
  try {
    const value = await perform(job, deps, send, mayGoOn);
    // A file is transferred, not copied.
    send({ value }, job.kind === 'export' ? [(value as ExportedFile).content.buffer] : []);
  } catch (error) {
    const known = error instanceof AssessmentError ? error : fileError(error);
    if (known === undefined) throw error;
    send({ error: known.kind, data: known.data });
  }
}

async function perform(
  job: ResultJob,
  deps: WorkOutDeps,
  send: (message: ResultMessage) => void,
  mayGoOn: () => Promise<undefined>,
): Promise<unknown> {
  switch (job.kind) {
    case 'read': {
      const { run, placing } = job;
      const result = await resultOf(run, deps);
      send({ head: result.head });
      return placeResult(run, result.read(), placing, deps, async (message) => {
        send(message);
        await mayGoOn();
      });
    }
    case 'place': {
      const source = textSource(job.texts, deps);
      const places: CurrentPlaces[] = [];
      await inParallel(job.files.entries(), filesAtOnce, async ([at, each]) => {
        places[at] = await placesInFile(each, source);
      });
      return places;
    }
    case 'save':
      try {
        await keepSourceOf(job.run, deps);
      } finally {
        await resultOf(job.run, deps);
      }
      return undefined;
    case 'details':
      return detailsOf(job.run, job.indexes, deps);
    case 'trend':
      return readTrendRows(job.rows, deps, (done) => send({ done }));
    case 'export': {
      // Loaded here, so that no other job loads it.
      const { exportRun } = await import('../importExport/exportRun.ts');
      return exportRun(job.request, {
        detailsOf: async (run, indexes) => {
          try {
            return await detailsOf(run, indexes, deps);
          } catch (error) {
            // Findings of earlier runs that can no longer be read have their summaries.
            if (run.id === job.request.source.run.id || !(error instanceof AssessmentError)) throw error;
            return new Map();
          } finally {
            send({ reading: undefined });
          }
        },
        runFolderOf: (id) => join(deps.runsFolder, id),
      });
    }
  }
}

/** Places what a result reports, and what only earlier runs report, as far as these runs are still here. */
async function placeResult(
  run: Run,
  { findings, absent }: FoundByRun,
  placing: Placing | undefined,
  deps: WorkOutDeps,
  send: (message: ResultMessage) => Promise<void>,
): Promise<PlacedFacts> {
  let texts = placing?.texts;
  const positions = new Map([...findings, ...absent].map((each, at) => [each, at]));
  const mainFiles = new Set<string>();
  const onPlaced = async (placed: readonly PlacedFinding[]): Promise<void> => {
    for (const { found, places } of placed) {
      const main = mainPlaceOf({ finding: found.finding, places });
      if (main !== undefined) mainFiles.add(main.file);
    }
    const sent = placed.map((each): PlacedAt => [positions.get(each.found) ?? 0, each]);
    for (const piece of piecesOf(sent)) await send({ placed: piece });
  };
  const place = async (of: Run, found: readonly ResultFinding[]): Promise<PlacedFiles> => {
    const files = filesOf(of, join(deps.runsFolder, of.id), found, placing?.mappings ?? {});
    const placed = await placeFindings(files, found, texts && textSource(texts, deps), onPlaced);
    texts &&= { ...texts, seen: placed.seen };
    return placed;
  };
  const { missing, changed } = await place(run, findings);
  const missingOfAll = new Set(missing);
  let removed = 0;
  const judged = absent.filter(({ verdict }) => verdict !== undefined);
  for (const [id, found] of Map.groupBy(judged, (each) => each.run)) {
    const earlier = deps.runs.find((each) => each.id === id);
    if (earlier === undefined) removed += found.length;
    else for (const name of (await place(earlier, found)).missing) missingOfAll.add(name);
  }
  for (const [key, seen] of texts?.seen ?? [])
    if (placing?.texts?.seen.get(key) !== seen) await send({ seen: [key, seen] });
  const found = await findOwners(placing === undefined ? new Set() : mainFiles);
  return { missing: missingOfAll, changed, removed, ...found };
}

function textSource(texts: KnownTexts, { runsFolder, decode }: WorkOutDeps): TextSource {
  return { ...texts, runFolderOf: (id) => join(runsFolder, id), decode };
}

function* piecesOf(placed: readonly PlacedAt[]): Generator<readonly PlacedAt[], void> {
  let piece: PlacedAt[] = [];
  let length = 0;
  for (const each of placed) {
    piece.push(each);
    for (const { path, snippet = '', label = '' } of each[1].found.finding.places)
      length += path.length + snippet.length + label.length;
    length += overheadLength;
    if (length < maxPieceLength) continue;
    yield piece;
    piece = [];
    length = 0;
  }
  if (piece.length > 0) yield piece;
}

/** Receives the host's replies. */
function listen(
  port: MessagePort,
  send: (message: ResultMessage) => void,
): { readonly decode: Decode; readonly mayGoOn: () => Promise<undefined> } {
  const texts = new Map<number, (text: string | undefined) => void>();
  let goOn: (value: undefined) => void = () => undefined;
  port.on('message', (reply: ResultReply) => {
    if (reply === 'next') goOn(undefined);
    else texts.get(reply.id)?.(reply.text);
  });
  let lastId = 0;
  return {
    decode: async (content, file) => {
      lastId += 1;
      const answered = Promise.withResolvers<string | undefined>();
      texts.set(lastId, answered.resolve);
      send({ decode: content, file, id: lastId });
      const text = await answered.promise;
      if (text === undefined) throw new Error('The file cannot be decoded.');
      return text;
    },
    mayGoOn: () => {
      const allowed = Promise.withResolvers<undefined>();
      goOn = allowed.resolve;
      return allowed.promise;
    },
  };
}

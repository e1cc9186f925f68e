import type { MessagePort } from 'node:worker_threads';
import type { WorkerAnswer } from '../../askWorker.ts';
import { AssessmentError, fileError } from '../../errors.ts';
import type { Finding } from '../finding.ts';
import type { Run } from '../../run/state/run.ts';
import type { Decode } from '../place/sentFiles.ts';
import { readTrendRows } from './trendRows.ts';
import { lengthOf } from '../parse/parse.ts';
import type { ResultFinding, ResultHead } from './result.ts';
import type { SavedResult } from './resultFile.ts';
import { comparedWith, keepSourceOf, readIfPossible, resultOf, type WorkOutDeps } from './workOut.ts';

/** What the worker is to do with the results of runs. */
export type ResultJob =
  /** Sends the result, or the one compared with a run that a person chose. */
  | { readonly kind: 'read'; readonly run: Run; readonly compareWith: Run | undefined }
  /** Keeps the sent texts, and saves the result. */
  | { readonly kind: 'save'; readonly run: Run }
  /** Answers with findings by their `Finding.index`, as far as they can be read. */
  | {
      readonly kind: 'texts';
      readonly wanted: readonly { readonly run: Run; readonly indexes: readonly number[] }[];
    }
  | { readonly kind: 'trend'; readonly rows: readonly Run[] };

/** Starts the worker for a job. */
export interface ResultStart extends Pick<WorkOutDeps, 'runsFolder' | 'runs' | 'isReadOnly' | 'tooLarge'> {
  readonly job: ResultJob;
}

/** From the worker. */
export type ResultMessage =
  | WorkerAnswer
  | { readonly reading: string }
  /** How many runs are done. */
  | { readonly done: number }
  /** A file that is not UTF-8, which the host decodes. */
  | { readonly decode: Uint8Array; readonly file: string; readonly id: number }
  | { readonly head: ResultHead }
  | { readonly findings: readonly ResultFinding[] };

/** To the worker: the text of a file, or none if it cannot be decoded; or that it may send the next findings. */
export type ResultReply = { readonly id: number; readonly text: string | undefined } | 'next';

/** In characters: the extension host must take a message over in a few milliseconds. */
const maxPieceLength = 256 * 1024;

/** The worker's part. */
export async function performJob(port: MessagePort, { job, ...start }: ResultStart): Promise<void> {
  const send = (message: ResultMessage): void => port.postMessage(message);
  const { decode, mayGoOn } = listen(port, send);
  const onReading = (runId: string): void => send({ reading: runId });
  const deps: WorkOutDeps = { ...start, decode, onReading, recent: new Map() };
  try {
    send({ value: await perform(job, deps, send, mayGoOn) });
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
      const { run, compareWith } = job;
      const result = compareWith ? await comparedWith(run, compareWith, deps) : await resultOf(run, deps);
      send({ head: result.head });
      for (const piece of piecesOf(result)) {
        send({ findings: piece });
        await mayGoOn();
      }
      return undefined;
    }
    case 'save':
      try {
        await keepSourceOf(job.run, deps);
      } finally {
        await resultOf(job.run, deps);
      }
      return undefined;
    case 'texts': {
      const found: Finding[][] = [];
      for (const { run, indexes } of job.wanted) {
        const reported = [...((await readIfPossible(run, deps))?.read() ?? [])].filter(
          (each) => each.run === run.id,
        );
        found.push(reported.flatMap(({ finding }) => (indexes.includes(finding.index) ? [finding] : [])));
      }
      return found;
    }
    case 'trend':
      return readTrendRows(job.rows, deps, (done) => send({ done }));
  }
}

function* piecesOf({ read }: SavedResult): Generator<readonly ResultFinding[], void> {
  let piece: ResultFinding[] = [];
  let length = 0;
  for (const each of read()) {
    piece.push(each);
    length += lengthOf(each.finding);
    if (length < maxPieceLength) continue;
    yield piece;
    piece = [];
    length = 0;
  }
  yield piece;
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

import { readFileSync, statSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import type { WorkerAnswer } from '../../askWorker.ts';
import { AssessmentError, type ErrorData, type ErrorKind } from '../../errors.ts';
import { type ArtifactStart, toFeatures } from '../../features/features.ts';
import { listProgress } from '../../features/scanProgress.ts';
import { readJson } from '../../json.ts';
import type { Finding } from '../finding.ts';
import { type LinesStart, readLines } from '../importExport/sarif/lineHash.ts';
import { type Cut, parseFindings } from './parse.ts';

/** What a parsing worker starts with: the file's path, or its content. */
export interface ParseStart {
  readonly source: string | Uint8Array;
  readonly runId: string;
  readonly maxBytes: number;
}

/** What it answers, each time it is asked. */
export type ParseAnswer =
  | { readonly kind: 'findings'; readonly findings: readonly Finding[] }
  | { readonly kind: 'end'; readonly cut: Cut | undefined }
  | { readonly kind: 'failed'; readonly error: ErrorKind; readonly data: ErrorData };

/** Letters of one answer: taking it over has to be a matter of milliseconds. */
const answerLength = 256 * 1024;
/** Letters of all answers: what a file says once may be repeated in each of many places. */
const maxLength = 256 * 1024 * 1024;

/** The findings of one file, in pieces as the other side takes them over. */
function* answersTo(start: ParseStart): Generator<ParseAnswer, undefined> {
  try {
    const { findings, cut } = parseFindings(textOf(start), start);
    let piece: Finding[] = [];
    let pieceLength = 0;
    let length = 0;
    for (const finding of findings) {
      piece.push(finding);
      pieceLength += lengthOf(finding);
      if (pieceLength < answerLength) continue;
      length += pieceLength;
      if (length > maxLength) throw new AssessmentError('findingsTooLarge');
      yield { kind: 'findings', findings: piece };
      piece = [];
      pieceLength = 0;
    }
    yield { kind: 'findings', findings: piece };
    yield { kind: 'end', cut };
  } catch (error) {
    if (!(error instanceof AssessmentError)) throw error;
    yield { kind: 'failed', error: error.kind, data: error.data };
  }
}

function textOf({ source, maxBytes }: ParseStart): string {
  const bytes = typeof source === 'string' ? statSync(source).size : source.byteLength;
  if (bytes > maxBytes) throw new AssessmentError('findingsTooLarge', { limit: maxBytes, actual: bytes });
  return typeof source === 'string' ? readFileSync(source, 'utf8') : new TextDecoder().decode(source);
}

function lengthOf({ title, description, recommendation, blocks, places, raw = '' }: Finding): number {
  const texts = [title, description, recommendation, raw, ...blocks.map(({ text }) => text)];
  const placeTexts = places.flatMap(({ path, snippet = '', label = '' }) => [path, snippet, label]);
  return [...texts, ...placeTexts].reduce((sum, { length }) => sum + length + 16, 0);
}

/** What an artifact of a blackbox run holds. */
function readArtifact({ role, path }: ArtifactStart): WorkerAnswer {
  try {
    const value = readJson(readFileSync(path, 'utf8'));
    return { value: role === 'features' ? toFeatures(value) : listProgress(value) };
  } catch (error) {
    if (!(error instanceof AssessmentError)) throw error;
    return { error: error.kind, data: error.data };
  }
}

if (parentPort !== null) {
  const port = parentPort;
  const start = workerData as ParseStart | ArtifactStart | LinesStart;
  if ('files' in start) port.postMessage({ value: readLines(start) } satisfies WorkerAnswer);
  else if ('role' in start) port.postMessage(readArtifact(start));
  else {
    const answers = answersTo(start);
    port.on('message', () => {
      const { value } = answers.next();
      if (value !== undefined) port.postMessage(value);
    });
  }
}

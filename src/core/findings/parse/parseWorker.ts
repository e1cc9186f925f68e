import { readFileSync, statSync } from 'node:fs';
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import type { WorkerAnswer } from '../../askWorker.ts';
import { AssessmentError, type ErrorData, type ErrorKind } from '../../errors.ts';
import { type ArtifactStart, toFeatures } from '../../features/features.ts';
import { listProgress } from '../../features/scanProgress.ts';
import { readJson } from '../../json.ts';
import type { Finding } from '../finding.ts';
import type { ImportedFile, ImportStart } from '../importExport/readContent.ts';
import { type LinesStart, readLines } from '../importExport/sarif/lineHash.ts';
import { type Cut, lengthOf, maxFindingsBytes, parseFindings } from './parse.ts';

/** What a parsing worker starts with to read a findings file. */
export interface ParseStart {
  readonly file: string;
  readonly runId: string;
}

/** What it answers, each time it is asked. */
export type ParseAnswer =
  | { readonly kind: 'findings'; readonly findings: readonly Finding[] }
  | { readonly kind: 'end'; readonly cut: Cut | undefined }
  | { readonly kind: 'failed'; readonly error: ErrorKind; readonly data: ErrorData };

/** Letters of one answer: taking it over has to be a matter of milliseconds. */
const answerLength = 256 * 1024;

/** The findings of one file, in pieces as the other side takes them over. */
function* answersTo(start: ParseStart): Generator<ParseAnswer, undefined> {
  try {
    const { findings, cut } = parseFindings(textOf(start), start);
    let piece: Finding[] = [];
    let pieceLength = 0;
    for (const finding of findings) {
      piece.push(finding);
      pieceLength += lengthOf(finding);
      if (pieceLength < answerLength) continue;
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

function textOf({ file }: ParseStart): string {
  const { size } = statSync(file);
  if (size > maxFindingsBytes)
    throw new AssessmentError('findingsTooLarge', { limit: maxFindingsBytes, actual: size });
  return readFileSync(file, 'utf8');
}

/** What an artifact of a blackbox run holds. */
function readArtifact({ role, path }: ArtifactStart): unknown {
  const value = readJson(readFileSync(path, 'utf8'));
  return role === 'features' ? toFeatures(value) : listProgress(value);
}

/** What an untrusted file holds. */
async function readImported({ content }: ImportStart): Promise<ImportedFile> {
  const { readContent } = await import('../importExport/readContent.ts'); // no other start needs it
  return readContent(content);
}

/** Answers once. */
async function answer(port: MessagePort, start: ArtifactStart | ImportStart | LinesStart): Promise<void> {
  const send = (value: WorkerAnswer, memory: ArrayBuffer[] = []): void => port.postMessage(value, memory);
  try {
    if ('role' in start) send({ value: readArtifact(start) });
    else if ('files' in start) send({ value: readLines(start) });
    else {
      const value = await readImported(start);
      const memory = Array.from(value.files.values(), ({ buffer }) => buffer);
      send({ value }, memory);
    }
  } catch (error) {
    if (!(error instanceof AssessmentError)) throw error;
    send({ error: error.kind, data: error.data });
  }
}

if (parentPort !== null) {
  const port = parentPort;
  const start = workerData as ParseStart | ArtifactStart | ImportStart | LinesStart;
  if ('file' in start) {
    const answers = answersTo(start);
    port.on('message', () => {
      const { value } = answers.next();
      if (value !== undefined) port.postMessage(value);
    });
  } else void answer(port, start);
}

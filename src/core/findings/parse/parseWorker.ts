import { readFileSync, statSync } from 'node:fs';
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import type { WorkerAnswer } from '../../askWorker.ts';
import { AssessmentError, type ErrorData, type ErrorKind } from '../../errors.ts';
import type { ArtifactStart } from '../../features/features.ts';
import { readJson } from '../../json.ts';
import type { CompareStart } from '../drift/compareLines.ts';
import type { Finding } from '../finding.ts';
import type { ImportedFile, ImportStart } from '../importExport/readContent.ts';
import type { LinesStart } from '../importExport/sarif/lineHash.ts';
import type { OwnersStart } from '../view/ownerRules.ts';
import { type Cut, lengthOf, listFindings, maxFindingsBytes } from './parse.ts';

/** Starts the worker to read a findings file. */
export interface ParseStart {
  readonly file: string;
  readonly runId: string;
}

/** One answer to each message. */
export type ParseAnswer =
  | { readonly kind: 'findings'; readonly findings: readonly Finding[] }
  | { readonly kind: 'end'; readonly cut: Cut | undefined }
  | { readonly kind: 'failed'; readonly error: ErrorKind; readonly data: ErrorData };

/** In characters: the extension host must take an answer over in a few milliseconds. */
const maxAnswerLength = 256 * 1024;

function* answersTo(start: ParseStart): Generator<ParseAnswer, undefined> {
  try {
    const { findings, cut } = listFindings(textOf(start), start);
    let piece: Finding[] = [];
    let pieceLength = 0;
    for (const finding of findings) {
      piece.push(finding);
      pieceLength += lengthOf(finding);
      if (pieceLength < maxAnswerLength) continue;
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

type Job = ArtifactStart | CompareStart | ImportStart | LinesStart | OwnersStart;

/** Does any other job. Its modules are loaded here, so that reading findings, which a person waits for, need not load them. */
async function perform(start: Job): Promise<unknown> {
  if ('owners' in start) {
    const { findOwnersIn } = await import('../view/ownerRules.ts');
    return findOwnersIn(start);
  }
  if ('before' in start) {
    const { compareTexts } = await import('../drift/compareLines.ts');
    return compareTexts(start);
  }
  if ('files' in start) {
    const { readLines } = await import('../importExport/sarif/lineHash.ts');
    return readLines(start);
  }
  if ('content' in start) {
    const { readContent } = await import('../importExport/readContent.ts');
    return readContent(start.content);
  }
  const value = readJson(readFileSync(start.path, 'utf8'));
  if (start.role === 'features') {
    const { toFeatures } = await import('../../features/features.ts');
    return toFeatures(value);
  }
  const { listProgress } = await import('../../features/scanProgress.ts');
  return listProgress(value);
}

async function answer(port: MessagePort, start: Job): Promise<void> {
  const send = (value: WorkerAnswer, memory: ArrayBuffer[] = []): void => port.postMessage(value, memory);
  try {
    const value = await perform(start);
    const memory = 'content' in start ? memoryOf(value as ImportedFile) : [];
    send({ value }, memory);
  } catch (error) {
    if (!(error instanceof AssessmentError)) throw error;
    send({ error: error.kind, data: error.data });
  }
}

/** Memory that is transferred, not copied. */
function memoryOf({ files }: ImportedFile): ArrayBuffer[] {
  return Array.from(files.values(), ({ buffer }) => buffer);
}

if (parentPort !== null) {
  const port = parentPort;
  const start = workerData as ParseStart | Job;
  if ('file' in start) {
    const answers = answersTo(start);
    let { value } = answers.next();
    port.on('message', () => {
      if (value === undefined) return;
      port.postMessage(value);
      // The next answer is read while the host takes this one over.
      ({ value } = answers.next());
    });
  } else void answer(port, start);
}

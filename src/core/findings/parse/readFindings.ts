import { hash } from 'node:crypto';
import { readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod/mini';
import { AssessmentError } from '../../errors.ts';
import { markOf, readIfThere, writeFileAtomic } from '../../files.ts';
import { artifactPath, keptArtifact, type Run } from '../../run/state/run.ts';
import { maxFindingsBytes, type ParsedFindings, parseFindings } from './parseFindings.ts';

/** How long a findings file may take to be shown or imported. */
export const maxReadMs = 60_000;

/** In a run's folder, while a worker reads its findings file, and after one that did not answer. */
const noteName = 'reading-findings.json';

/** `at` is the time of the last start, in wall-clock milliseconds. */
const noteSchema = z.object({ mark: z.string(), starts: z.number(), at: z.number() });

/** A worker that twice gave no answer, for example since it ended the process, is not started a third time. */
const maxStarts = 2;

export interface FindingsFile extends ParsedFindings {
  /** The first 16 hex digits of its SHA-256. */
  readonly file: string;
}

/** Changes with the findings file of a run; undefined without one. */
export async function findingsMarkOf(run: Run, runFolder: string): Promise<string | undefined> {
  const file = keptArtifact(run, 'findings')?.file;
  return file && markOf(join(runFolder, file));
}

/** Reads the findings file of a run, which takes time and memory: only in a worker. Throws `findingsTooLarge`, `malformedFindings`, or the system's error. */
export async function readFindings(run: Run, runFolder: string): Promise<FindingsFile> {
  const path = artifactPath(run, 'findings', runFolder);
  const { size } = await stat(path);
  if (size > maxFindingsBytes)
    throw new AssessmentError('findingsTooLarge', { limit: maxFindingsBytes, actual: size });
  const content = await readFile(path);
  const file = hash('sha256', content, 'hex').slice(0, 16);
  return { ...parseFindings(content.toString('utf8')), file };
}

/**
 * Has a worker read the findings file of a run, which has this `mark`. A file that was too large is not read again until it changes, or `allowReading` is
 * called. Throws `findingsTooLarge`, and what `read` throws. `isReadOnly`: nothing is noted.
 */
export async function withReadingNote<T>(
  runFolder: string,
  mark: string,
  isReadOnly: boolean,
  read: () => Promise<T>,
): Promise<T> {
  const { starts, at } = await lastStart(runFolder, mark);
  if (starts >= maxStarts) throw new AssessmentError('findingsTooLarge');
  if (isReadOnly) return read();
  const note = async (count: number, now: number): Promise<void> => {
    const text = JSON.stringify({ mark, starts: count, at: now });
    // Where nothing can be written, each start is the first.
    await writeFileAtomic(join(runFolder, noteName), text).catch(() => undefined);
  };
  // One that started a moment ago may still be reading, in another window.
  const isUnderWay = Math.abs(Date.now() - at) < maxReadMs;
  if (!isUnderWay) await note(starts + 1, Date.now());
  try {
    const value = await read();
    await allowReading(runFolder);
    return value;
  } catch (error) {
    const kind = error instanceof AssessmentError ? error.kind : undefined;
    if (kind === 'findingsTooLarge') await note(maxStarts, 0);
    else if (kind !== 'workerCrashed' && kind !== 'notInTime') await allowReading(runFolder);
    throw error;
  }
}

/** How often workers have started to read a findings file with this mark, and gave no answer. */
async function lastStart(
  runFolder: string,
  mark: string,
): Promise<Pick<z.infer<typeof noteSchema>, 'starts' | 'at'>> {
  const text = await readIfThere(join(runFolder, noteName));
  try {
    const note = noteSchema.safeParse(JSON.parse(text ?? 'null')).data;
    return note?.mark === mark ? note : { starts: 0, at: 0 };
  } catch (error) {
    if (error instanceof SyntaxError) return { starts: 0, at: 0 };
    throw error;
  }
}

/** Lets a findings file that was too large be read again. */
export async function allowReading(runFolder: string): Promise<void> {
  await rm(join(runFolder, noteName), { force: true });
}

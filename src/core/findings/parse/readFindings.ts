import { hash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { AssessmentError } from '../../errors.ts';
import { readIfThere, toMark, writeFileAtomic } from '../../files.ts';
import { type Details, type Finding, splitReported } from '../finding.ts';
import { type Cut, maxFindingsBytes, parseFindings } from './parse.ts';

/** A findings file that takes longer to be shown or imported counts as too large. */
export const maxReadMs = 60_000;

/** In a run's folder: holds the mark of a findings file that was too large. */
const noteName = 'findings-too-large';

/** Changes with the findings file of a run. Throws the system's error. */
export function findingsMarkOf(runFolder: string): string {
  return toMark(statSync(fileIn(runFolder), { bigint: true }));
}

export interface FindingsFile {
  readonly findings: readonly Finding[];
  /** By `Finding.index`. */
  readonly details: ReadonlyMap<number, Details>;
  readonly cut: Cut | undefined;
  /** Its SHA-256, shortened. */
  readonly file: string;
}

/**
 * Reads the findings file of a run, which takes time and memory: only in a worker. A file that was `findingsTooLarge` is not read again until it changes, or
 * `allowReading` is called. Throws `findingsTooLarge`, `malformedFindings` or the system's error. `isReadOnly`: nothing is noted.
 */
export async function readFindings(
  runFolder: string,
  { runId, isReadOnly }: { readonly runId: string; readonly isReadOnly: boolean },
): Promise<FindingsFile> {
  await refuseTooLarge(runFolder);
  try {
    const content = contentOf(fileIn(runFolder));
    const file = hash('sha256', content, 'hex').slice(0, 16);
    const { findings: reported, cut } = parseFindings(content.toString('utf8'), { runId });
    const split = reported.map(splitReported);
    const details = new Map(split.map((each) => [each.finding.index, each.details]));
    return { findings: split.map(({ finding }) => finding), details, cut, file };
  } catch (error) {
    const isTooLarge = error instanceof AssessmentError && error.kind === 'findingsTooLarge';
    if (isTooLarge && !isReadOnly) await noteTooLarge(runFolder);
    throw error;
  }
}

/** Throws `findingsTooLarge` for a findings file that was noted as such. */
export async function refuseTooLarge(runFolder: string): Promise<void> {
  const noted = await readIfThere(join(runFolder, noteName));
  if (noted !== undefined && noted === findingsMarkOf(runFolder))
    throw new AssessmentError('findingsTooLarge');
}

/** Notes that a findings file is too large, for example since a worker ran out of memory. */
export async function noteTooLarge(runFolder: string): Promise<void> {
  await writeFileAtomic(join(runFolder, noteName), findingsMarkOf(runFolder));
}

/** Lets a findings file that was too large be read again. */
export async function allowReading(runFolder: string): Promise<void> {
  await rm(join(runFolder, noteName), { force: true });
}

function contentOf(file: string): Buffer {
  const { size } = statSync(file);
  if (size > maxFindingsBytes)
    throw new AssessmentError('findingsTooLarge', { limit: maxFindingsBytes, actual: size });
  return readFileSync(file);
}

function fileIn(runFolder: string): string {
  return join(runFolder, 'findings.json');
}

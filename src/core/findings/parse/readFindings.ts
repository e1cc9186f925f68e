import { hash } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { AssessmentError } from '../../errors.ts';
import { fileStampOf } from '../../files.ts';
import { artifactPath, keptArtifact, type Run } from '../../run/state/run.ts';
import { maxFindingsBytes, type ParsedFindings, parseFindings } from './parseFindings.ts';

export const maxReadMs = 60_000;

export interface FindingsFile extends ParsedFindings {
  readonly file: string;
}

export async function findingsStampOf(run: Run, runFolder: string): Promise<string | undefined> {
  const file = keptArtifact(run, 'findings')?.file;
  return file && fileStampOf(join(runFolder, file));
}

export async function readFindings(run: Run, runFolder: string): Promise<FindingsFile> {
  const path = artifactPath(run, 'findings', runFolder);
  const { size } = await stat(path);
  if (size > maxFindingsBytes)
    throw new AssessmentError('findingsTooLarge', { limit: maxFindingsBytes, actual: size });
  const content = await readFile(path);
  const file = hash('sha256', content, 'hex').slice(0, 16);
  return { ...parseFindings(content.toString('utf8')), file };
}

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { AssessmentError } from '../errors.ts';
import { type Failure, type Run, toFailure } from '../run/run.ts';
import type { FindingName } from './compare.ts';
import type { Finding } from './finding.ts';
import type { ShownPlace } from './findingStore.ts';
import { fingerprintsOf } from './fingerprint.ts';
import type { PathMapping } from './locate.ts';
import { type Located, locateFindings } from './locateFindings.ts';
import { type Notice, parseFindingsInSlices } from './parse.ts';
import { RunPlaces } from './runPlaces.ts';

/** A run's findings file as read, with the file's own order. */
export interface ReadRun {
  readonly notices: readonly Notice[];
  readonly findings: readonly {
    readonly finding: Finding;
    readonly fingerprint: string;
    readonly places: readonly ShownPlace[];
  }[];
  readonly places: RunPlaces;
}

type MappingOf = (folder: string) => readonly PathMapping[];

/** Reads a run's findings and finds their places here; `textOf` gives the text of a file that is being edited. Throws `malformedFindings`, or the system's error. */
export async function readRun(
  run: Run,
  runFolder: string,
  deps: { mappingOf: MappingOf; textOf: (file: string) => string | undefined },
): Promise<ReadRun> {
  const { findings, notices, located } = await readNames(run, runFolder, deps.mappingOf);
  const places = new RunPlaces(runFolder, located);
  const placed = await places.placesOf(findings, deps.textOf);
  const fingerprints = fingerprintsOf(findings, located.subjects);
  return {
    notices,
    places,
    findings: findings.map((finding, at) => ({
      finding,
      fingerprint: fingerprints[at] ?? '',
      places: placed[at] ?? [],
    })),
  };
}

/** The names of a run's findings, without a look into the files. Throws as `readRun` does. */
export async function readFindingNames(
  run: Run,
  runFolder: string,
  mappingOf: MappingOf,
): Promise<readonly FindingName[]> {
  const { findings, located } = await readNames(run, runFolder, mappingOf);
  return fingerprintsOf(findings, located.subjects).map((fingerprint, at) => ({
    folder: located.subjects[at]?.folder,
    fingerprint,
  }));
}

/** Why a run could not be read, as it is kept and shown. */
export function readFailure(error: unknown): Failure {
  return toFailure(
    error instanceof AssessmentError
      ? error
      : new AssessmentError('storage', { detail: String(error) }, { cause: error }),
  );
}

async function readNames(
  run: Run,
  runFolder: string,
  mappingOf: MappingOf,
): Promise<{ findings: readonly Finding[]; notices: readonly Notice[]; located: Located }> {
  const text = await readFile(join(runFolder, 'findings.json'), 'utf8');
  const { findings, notices } = await parseFindingsInSlices(text, { runId: run.id });
  return { findings, notices, located: await locateFindings(run, runFolder, findings, mappingOf) };
}

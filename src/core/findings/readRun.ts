import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { AssessmentError } from '../errors.ts';
import { type Failure, type Run, toFailure } from '../run/run.ts';
import type { FindingName } from './compare.ts';
import type { Decode } from './place/decodeText.ts';
import type { Finding, Place } from './finding.ts';
import type { ShownPlace } from './shownFinding.ts';
import { fingerprintsOf } from './fingerprint.ts';
import type { PathMapping } from './place/locate.ts';
import { locateFindings } from './place/locateFindings.ts';
import { type Cut, parseFindingsInSlices } from './parse/parse.ts';
import { RunPlaces } from './place/runPlaces.ts';
import { readSentFiles } from './place/sentFiles.ts';
import { inSlices } from './slices.ts';
import { createSubjectOf, type SentOfRun, type Subject, subjectsOf } from './place/subjects.ts';

/** A run's findings file as read, with the file's own order. */
export interface ReadRun {
  readonly cut: Cut | undefined;
  readonly findings: readonly {
    readonly finding: Finding;
    readonly folder: string | undefined;
    readonly fingerprint: string;
    readonly places: readonly ShownPlace[];
  }[];
  readonly places: RunPlaces;
}

/** Reads a run's findings and finds their places here; `textOf` gives the text of a file that is being edited, `decode` that of one which is not UTF-8, and `former` are the places as they were known so far. Throws `malformedFindings`, or the system's error. */
export async function readRun(
  run: Run,
  runFolder: string,
  {
    mappingOf,
    textOf,
    decode,
  }: {
    mappingOf: (folder: string) => readonly PathMapping[];
    textOf: (file: string) => string | undefined;
    decode: Decode;
  },
  former?: RunPlaces,
): Promise<ReadRun> {
  const { findings, cut, subjects, ...facts } = await readSubjects(run, runFolder);
  const located = await locateFindings(run, findings, { ...facts, mappingOf });
  const places = new RunPlaces(runFolder, located, decode, former);
  // Names are made while files are read.
  const [placed, fingerprints] = await Promise.all([
    places.placesOf(findings, textOf),
    inSlices(fingerprintsOf(findings, subjects)),
  ]);
  return {
    cut,
    places,
    findings: findings.map((finding, at) => ({
      finding,
      folder: subjects[at]?.folder,
      fingerprint: fingerprints[at] ?? '',
      places: placed[at] ?? [],
    })),
  };
}

/** The names of a run's findings, without a look at their files. Throws as `readRun` does. */
export async function readFindingNames(run: Run, runFolder: string): Promise<readonly FindingName[]> {
  const { findings, subjects } = await readSubjects(run, runFolder);
  const fingerprints = await inSlices(fingerprintsOf(findings, subjects));
  return fingerprints.map((fingerprint, at) => ({
    folder: subjects[at]?.folder,
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

async function readSubjects(
  run: Run,
  runFolder: string,
): Promise<{
  findings: readonly Finding[];
  cut: Cut | undefined;
  sent: SentOfRun;
  subjectOf: (place: Place) => Subject;
  subjects: readonly Subject[];
}> {
  const text = await readFile(join(runFolder, 'findings.json'), 'utf8');
  const { findings, cut } = await parseFindingsInSlices(text, { runId: run.id });
  const sent = await Promise.all(run.targets.map((_, index) => readSentFiles(runFolder, index)));
  const subjectOf = createSubjectOf(run, sent);
  return { findings, cut, sent, subjectOf, subjects: await subjectsOf(findings, subjectOf) };
}

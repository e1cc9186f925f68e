import { setImmediate } from 'node:timers/promises';
import { AssessmentError } from '../errors.ts';
import { type Failure, type Run, toFailure } from '../run/state/run.ts';
import { type FindingName, runIdOf } from './compare.ts';
import type { Decode } from './place/decodeText.ts';
import type { Finding } from './finding.ts';
import type { ShownPlace } from './shownFinding.ts';
import { identitiesOf } from './identity.ts';
import { locateFindings } from './place/locateFindings.ts';
import type { PathMapping } from './place/pathMappings.ts';
import { createResolver, type Resolver, type SentOfRun, type Subject } from './place/resolver.ts';
import type { Cut } from './parse/parse.ts';
import { readFindings } from './parse/readFindings.ts';
import { RunPlaces } from './place/runPlaces.ts';
import { readSentFiles } from './place/sentFiles.ts';
import { inSlices } from '../yieldingWork.ts';

const chunk = 1_000;

/** A run's findings file as read, with the file's own order. */
export interface ReadRun {
  readonly cut: Cut | undefined;
  readonly findings: readonly (FindingName & {
    readonly finding: Finding;
    readonly places: readonly ShownPlace[];
  })[];
  readonly places: RunPlaces;
}

/** Reads a run's findings and finds their places here; `textOf` gives the text of a file that is being edited, `decode` that of one which is not UTF-8, and `former` are the places as they were known so far. Throws what `readFindings` throws. */
export async function readRun(
  run: Run,
  runFolder: string,
  {
    mappingOf,
    textOf,
    decode,
    workerFile,
  }: {
    mappingOf: (folder: string) => readonly PathMapping[];
    textOf: (file: string) => string | undefined;
    decode: Decode;
    workerFile: string | URL;
  },
  former?: RunPlaces,
): Promise<ReadRun> {
  const { findings, cut, names, ...facts } = await readNames(run, runFolder, { workerFile, mappingOf });
  const located = await locateFindings(run, findings, facts);
  const places = new RunPlaces(runFolder, located, decode, former);
  const placed = await places.placesOf(findings, textOf);
  return {
    cut,
    places,
    findings: names.map((name, at) => ({ ...name, places: placed[at] ?? [] })),
  };
}

/** The names of a run's findings, without a look at their files; undefined when not all of them are known. Throws as `readRun` does. */
export async function readFindingNames(
  run: Run,
  runFolder: string,
  workerFile: string | URL,
): Promise<readonly FindingName[] | undefined> {
  const { names, cut } = await readNames(run, runFolder, { workerFile });
  return cut === undefined ? names : undefined;
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
  {
    workerFile,
    mappingOf,
  }: { workerFile: string | URL; mappingOf?: (folder: string) => readonly PathMapping[] },
): Promise<{
  findings: readonly Finding[];
  cut: Cut | undefined;
  sent: SentOfRun;
  resolver: Resolver;
  names: readonly (FindingName & { readonly finding: Finding })[];
}> {
  const { findings, cut } = await readFindings(runFolder, { runId: run.id, workerFile });
  const sent = await Promise.all(run.targets.map((_, index) => readSentFiles(runFolder, index)));
  const places = findings.flatMap((finding) => finding.places);
  const resolver = createResolver({ targets: run.targets, sent, places, mappingOf });
  const subjects = await subjectsOf(findings, resolver);
  const identities = await inSlices(identitiesOf(findings, subjects, runIdOf(run) ?? run.id));
  const names = findings.flatMap((finding, at) => {
    const identity = identities[at];
    return identity === undefined ? [] : [{ finding, folder: subjects[at]?.folder, identity }];
  });
  return { findings, cut, sent, resolver, names };
}

/** What findings are about, one for each; other work goes on meanwhile. */
async function subjectsOf(findings: readonly Finding[], resolver: Resolver): Promise<readonly Subject[]> {
  const subjects: Subject[] = [];
  for (let start = 0; start < findings.length; start += chunk) {
    const some = findings.slice(start, start + chunk);
    subjects.push(
      ...(await Promise.all(some.map(({ places: [place] }) => resolver.subjectOf(place ?? { path: '' })))),
    );
    await setImmediate();
  }
  return subjects;
}

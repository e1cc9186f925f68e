import { setImmediate } from 'node:timers/promises';
import { readScanProgress } from '../../features/scanProgress.ts';
import type { RunStore } from '../../run/disk/runStore.ts';
import { type Run, runIdOf } from '../../run/state/run.ts';
import { inSlices } from '../../yieldingWork.ts';
import type { Finding } from '../finding.ts';
import { identitiesOf, type Identity } from '../identity.ts';
import type { Cut } from '../parse/parse.ts';
import { readFindings } from '../parse/readFindings.ts';
import { type MappingMemory, mappingsOf } from '../place/mappings.ts';
import { createResolver, type Resolver, type SentPath } from '../place/resolver.ts';
import { readSent, type RunSource } from '../place/sentFiles.ts';

export interface RunFinding {
  readonly finding: Finding;
  /** Equal code in two folders makes two findings. */
  readonly folder: string | undefined;
  readonly identity: Identity;
  readonly source: RunSource;
}

export interface FindingsOfRun {
  readonly source: RunSource;
  readonly cut: Cut | undefined;
  /** In the order of the file. */
  readonly findings: readonly RunFinding[];
}

export interface FindingsSource {
  readonly runs: Pick<RunStore, 'folderOf'>;
  readonly mappings: MappingMemory;
  /** The entry of the parsing worker. */
  readonly workerFile: string | URL;
  /** True: write nothing. */
  readonly isReadOnly?: boolean | undefined;
}

const findingsAtOnce = 1_000;

/** Throws what `readFindings` throws. */
export async function readFindingsOfRun(
  run: Run,
  { runs, mappings, workerFile, isReadOnly }: FindingsSource,
): Promise<FindingsOfRun> {
  const runFolder = runs.folderOf(run.id);
  const [{ findings, cut }, sent] = await Promise.all([
    readFindings(runFolder, { workerFile, isReadOnly, runId: run.id }),
    readSent(run, runFolder),
  ]);
  const places = findings.flatMap((finding) => finding.places);
  const mappingOf = (folder: string): ReturnType<typeof mappingsOf> => mappingsOf(mappings, folder);
  const resolver = createResolver({ targets: run.targets, sent, places, mappingOf });
  const isBlackbox = run.workflow === 'blackbox-assessment';
  const progress = isBlackbox ? await readScanProgress(run, runFolder, workerFile) : undefined;
  const source = { run, runFolder, sent, resolver, progress };
  const sentPaths = await sentPathsOf(findings, resolver);
  const identities = await inSlices(identitiesOf(findings, sentPaths, runIdOf(run) ?? run.id));
  const identified = findings.flatMap((finding, at) => {
    const identity = identities[at];
    return identity === undefined ? [] : [{ finding, folder: sentPaths[at]?.folder, identity, source }];
  });
  return { source, cut, findings: identified };
}

async function sentPathsOf(findings: readonly Finding[], resolver: Resolver): Promise<readonly SentPath[]> {
  const sentPaths: SentPath[] = [];
  for (let start = 0; start < findings.length; start += findingsAtOnce) {
    const some = findings.slice(start, start + findingsAtOnce);
    sentPaths.push(
      ...(await Promise.all(some.map(({ places: [place] }) => resolver.sentPath(place ?? { path: '' })))),
    );
    await setImmediate();
  }
  return sentPaths;
}

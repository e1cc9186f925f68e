import type { Log, Region } from 'sarif';
import { type Run, runIdOf } from '../../../run/state/run.ts';
import { mainLocationsOf, type Location } from '../../finding.ts';
import { readUploaded } from '../../location/uploadedFiles.ts';
import type { DetailedFinding, ShownFinding, ShownRun } from '../../shownFinding.ts';
import { isClosed, needsNote } from '../../triage/triage.ts';
import type { AssessedLocation, AssessedLocations } from './assessedLocations.ts';
import { type ExportTool, locationIn, type LogFolder, sourceRoot, toLog } from './sarif.ts';

/** GitHub documents these limits in “SARIF support for code scanning”. */
export const codeScanningLimits = { gzippedBytes: 10_000_000, shownResults: 5_000 } as const;

/** GitHub closes as fixed all findings that an upload does not list. */
export interface Upload {
  readonly listed: readonly ShownFinding[];
  readonly closed: readonly ShownFinding[];
}

export function chooseForUpload({ shown, absent = [] }: ShownRun): Upload {
  const open = absent.filter(({ triage }) => !isClosed(triage.state));
  return {
    listed: [
      ...shown.filter(({ triage }) => !needsNote(triage.state)),
      ...open.filter(({ verdict }) => verdict !== 'codeChanged'),
    ],
    closed: open.filter(({ verdict }) => verdict === 'codeChanged'),
  };
}

export interface AssessedRepository {
  readonly root: string;
  readonly folders: readonly LogFolder[];
  readonly uri?: string | undefined;
  readonly commit?: string | undefined;
}

interface CodeScanningSource {
  readonly source: ShownRun;
  readonly listed: readonly DetailedFinding[];
  readonly assessed: AssessedLocations;
  readonly repository: AssessedRepository;
  readonly mainFile: AssessedLocation;
}

const firstLine: Region = { startLine: 1, startColumn: 1, endLine: 1, endColumn: 2 };

/** GitHub requires a file in the repository and a region for each result. */
export function toCodeScanning(
  { source, listed, assessed, repository, mainFile }: CodeScanningSource,
  tool: ExportTool,
): Log {
  const { run } = source;
  const { folders, uri, commit } = repository;
  const inMainFile: Location = { path: mainFile.path };
  const locations = new Map([...assessed, [inMainFile, mainFile]]);
  const mains = new Set([
    inMainFile,
    ...listed.flatMap(({ finding }) => mainLocationsOf(finding).slice(0, 1)),
  ]);
  const locate = (location: Location) => {
    const found = locations.get(location);
    const artifactLocation = locationIn(folders, found);
    // A further location without a line isn't useful, so it is omitted.
    const region = found?.region ?? (mains.has(location) ? firstLine : undefined);
    return artifactLocation && region && { artifactLocation, region };
  };
  const all = listed.map((shown) => {
    const { finding, details } = shown;
    const [main] = mainLocationsOf(finding);
    if (main !== undefined && locate(main) !== undefined) return shown;
    const note = 'This finding names no file of this repository, so it is shown at this file.';
    const description = `${details.description}\n\n${note}`.trim();
    return {
      ...shown,
      finding: { ...finding, locations: [inMainFile, ...finding.locations] },
      details: { ...details, description },
    };
  });
  const names = folders.map(({ name }) => name.replaceAll('/', '-')).join('+');
  const ofRun = {
    automationDetails: { id: ['whitebox', run.workflow, names, runIdOf(run) ?? run.id].join('/') },
    versionControlProvenance:
      uri === undefined
        ? undefined
        : [{ repositoryUri: uri, revisionId: commit, mappedTo: { uriBaseId: sourceRoot } }],
  };
  return toLog(source, tool, { all, assessed: locations, locate, ofRun });
}

/**
 * Returns the file at which findings without a file in the repository are shown: a README at the
 * top of a folder, else the first path. If no path is known, it is `README.md`.
 */
export async function readMainFile(
  run: Run,
  { folders }: AssessedRepository,
  runFolder: string,
): Promise<AssessedLocation> {
  const names = new Set(folders.map(({ folder }) => folder));
  const uploaded = (await readUploaded(run, runFolder)).flatMap((files) => [...(files?.values() ?? [])]);
  const files = uploaded.filter(({ folder }) => names.has(folder));
  files.sort((one, other) => (one.path < other.path ? -1 : 1));
  const main = files.find(({ path }) => /^readme(?:\.\w+)?$/i.test(path)) ?? files[0];
  return main ?? { folder: folders[0]?.folder ?? '', path: 'README.md' };
}

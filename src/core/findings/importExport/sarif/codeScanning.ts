import { readdir } from 'node:fs/promises';
import type { Location, Log, Result } from 'sarif';
import { isSamePath, pathInside } from '../../../paths.ts';
import { type Run, runIdOf } from '../../../run/state/run.ts';
import { flowOf, isLiveFinding, mainPlacesOf, type Place } from '../../finding.ts';
import { readSent } from '../../place/sentFiles.ts';
import type { DetailedFinding, ShownFinding, ShownRun } from '../../shownFinding.ts';
import { isSettled, needsNote } from '../../triage/triage.ts';
import type { AssessedPlace, AssessedPlaces, Region } from './assessedPlaces.ts';
import { cweReference, groupByRule, toLevel, toRuleId } from './rules.ts';
import { type ExportTool, sourceRoot, toArtifacts, toFlowAndRelated, toLog } from './sarif.ts';
import { escapeMessage, withoutUndefined, toMessage, toRelativeUri } from './sarifText.ts';

/** Limits that GitHub documents in “SARIF support for code scanning”. */
export const codeScanningLimits = { gzippedBytes: 10_000_000, shownResults: 5_000 } as const;

/** GitHub shows no further related places of a result. */
const maxPlaces = 100;

/** GitHub closes as fixed what an upload does not list. */
export interface Upload {
  readonly listed: readonly ShownFinding[];
  readonly closed: readonly ShownFinding[];
}

/** An absent finding is listed too, unless a person settled it or its code changed. */
export function chooseForUpload({ shown, absent = [] }: ShownRun): Upload {
  const unsettled = absent.filter(({ triage }) => !isSettled(triage.state));
  return {
    listed: [
      ...shown.filter(({ triage }) => !needsNote(triage.state)),
      ...unsettled.filter(({ verdict }) => verdict !== 'codeChanged'),
    ],
    closed: unsettled.filter(({ verdict }) => verdict === 'codeChanged'),
  };
}

/** A repository and its assessed folders; `path` is from its root, and empty for the root itself. */
export interface AssessedRepository {
  readonly root: string;
  readonly folders: readonly { readonly folder: string; readonly name: string; readonly path: string }[];
  readonly uri?: string | undefined;
  readonly commit?: string | undefined;
}

export interface CodeScanningSource {
  readonly source: ShownRun;
  readonly listed: readonly DetailedFinding[];
  readonly assessed: AssessedPlaces;
  readonly repository: AssessedRepository;
  /** What `readMainFile` returns. */
  readonly mainFile: AssessedPlace;
}

/** A place with a path from the root of the repository. */
interface RepositoryPlace extends Pick<AssessedPlace, 'path' | 'sha256' | 'hash'> {
  readonly region: Region;
}

interface Placed {
  readonly shown: DetailedFinding;
  readonly main: RepositoryPlace;
  /** Whether `main` stands for the repository, since the finding names no file of it. */
  readonly isElsewhere: boolean;
  /** Those with a line. */
  readonly places: ReadonlyMap<Place, RepositoryPlace>;
}

/** GitHub requires a file and a region for each result, and matches alerts by the line's hash. */
export function toCodeScanning(given: CodeScanningSource, tool: ExportTool): Log {
  const { source, listed, repository } = given;
  const { folders, uri, commit } = repository;
  const { run } = source;
  const findings = listed.map(({ finding }) => finding);
  const placed = listed.map((shown) => place(shown, given));
  const hashes = hashesOf(placed);
  const ruleIds = [...groupByRule(findings).keys()];
  const names = folders.map(({ name }) => name.replaceAll('/', '-')).join('+');
  return toLog(source, findings, tool, {
    automationDetails: { id: ['whitebox', run.workflow, names, runIdOf(run) ?? run.id].join('/') },
    ...(uri !== undefined && {
      versionControlProvenance: [
        {
          repositoryUri: uri,
          ...withoutUndefined({ revisionId: commit }),
          mappedTo: { uriBaseId: sourceRoot },
        },
      ],
    }),
    artifacts: toArtifacts(
      placed
        .filter(({ shown }) => shown.run.id === run.id)
        .flatMap(({ main, places }) => [main, ...places.values()])
        .map(({ path, sha256 }) => ({ location: toArtifactLocation(path), sha256 })),
    ),
    results: placed.map((each, at) => toResult(each, hashes[at] ?? '', ruleIds)),
  });
}

const firstLine: Region = { startLine: 1, startColumn: 1, endLine: 1, endColumn: 2 };

function place(
  shown: DetailedFinding,
  { source, assessed, repository, mainFile }: CodeScanningSource,
): Placed {
  const { finding } = shown;
  const inRepository = (each: AssessedPlace | undefined): RepositoryPlace | undefined => {
    const base = repository.folders.find(({ folder }) => isSamePath(folder, each?.folder));
    return (
      each && base && { ...each, path: joinPath(base.path, each.path), region: each.region ?? firstLine }
    );
  };
  const places = new Map<Place, RepositoryPlace>();
  for (const each of finding.places.slice(0, maxPlaces)) {
    const found = assessed.get(each);
    const there = found?.region && inRepository(found);
    if (there !== undefined) places.set(each, there);
  }
  const [first] = mainPlacesOf(finding);
  const targetFile = isLiveFinding(finding) ? (shown.run.targetFile ?? source.run.targetFile) : undefined;
  const own = inRepository(first && assessed.get(first)) ?? targetFileOf(targetFile, repository);
  const main = own ?? inRepository(mainFile) ?? { path: mainFile.path, region: firstLine };
  return { shown, main, isElsewhere: own === undefined, places };
}

function targetFileOf(
  file: string | undefined,
  { root, folders }: AssessedRepository,
): RepositoryPlace | undefined {
  if (file === undefined) return undefined;
  for (const { folder, path } of [...folders, { folder: root, path: '' }]) {
    const inFolder = pathInside(folder, file);
    if (inFolder !== undefined) return { path: joinPath(path, inFolder), region: firstLine };
  }
  return undefined;
}

function joinPath(base: string, path: string): string {
  return base === '' ? path : `${base}/${path}`;
}

const mainFiles = [
  /^readme(?:\.\w+)?$/i,
  /^package\.json$/,
  /^(?:pyproject\.toml|go\.mod|Cargo\.toml|composer\.json|Gemfile)$/,
  /^(?:pom\.xml|build\.gradle(?:\.kts)?)$/,
];

/** The file that best stands for the repository, among the files sent or, if those are unknown, the present ones. */
export async function readMainFile(
  run: Run,
  { root, folders }: AssessedRepository,
  runFolder: string,
): Promise<AssessedPlace> {
  const sent = await readSent(run, runFolder);
  const files: AssessedPlace[] = [];
  for (const { folder } of folders) {
    const sentFiles = sent[run.targets.findIndex((target) => target.folder === folder)];
    const paths = sentFiles === undefined ? await namesIn(folder) : [...sentFiles.keys()];
    for (const path of paths.sort()) files.push({ folder, path, sha256: sentFiles?.get(path)?.sha256 });
  }
  const main = mainFiles.flatMap((pattern) => files.find(({ path }) => pattern.test(path)) ?? [])[0];
  return main ?? files[0] ?? { folder: root, path: 'README.md' };
}

async function namesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  return entries.filter((entry) => entry.isFile()).map(({ name }) => name);
}

/** GitHub merges results with the same rule, file, and hash, so a hash that two results of a rule share is replaced by the fingerprint. */
function hashesOf(placed: readonly Placed[]): readonly string[] {
  const keys = placed.map(({ shown, main }) => `${toRuleId(shown.finding)}\0${main.hash ?? ''}`);
  const results = Map.groupBy(keys, (key) => key);
  const counts = new Map<string, number>();
  return placed.map(({ shown, main }, at) => {
    if (main.hash !== undefined && results.get(keys[at] ?? '')?.length === 1) return main.hash;
    const digits = shown.fingerprint.replace(/^\d+:/, '').slice(0, 16);
    // Similar findings may share the fingerprint, too.
    const key = `${toRuleId(shown.finding)}\0${digits}`;
    const count = (counts.get(key) ?? 0) + 1;
    counts.set(key, count);
    return `${digits}:${String(count)}`;
  });
}

function toResult(
  { shown, main, isElsewhere, places }: Placed,
  hash: string,
  ruleIds: readonly string[],
): Result {
  const { finding, details, fingerprint } = shown;
  const ruleId = toRuleId(finding);
  const [first, ...further] = mainPlacesOf(finding);
  const related = finding.places.filter(
    (each) => further.includes(each) || each.role === 'evidence' || each.role === 'related',
  );
  const isPlaced = (each: Place): boolean => places.has(each);
  const locate = (each: Place): Location => toLocation(places.get(each) ?? main, each.label);
  const note = isElsewhere
    ? '\n\nThis finding names no file of this repository, so it is shown at this file.'
    : '';
  return {
    ruleId,
    ruleIndex: ruleIds.indexOf(ruleId),
    level: toLevel(finding.severity),
    message: { text: `${toMessage(finding, details)}${note}` },
    locations: [toLocation(main, isElsewhere ? undefined : first?.label)],
    ...toFlowAndRelated(flowOf(finding).filter(isPlaced), related.filter(isPlaced), locate),
    partialFingerprints: {
      primaryLocationLineHash: hash,
      'whiteboxFinding/v1': fingerprint,
    },
    taxa: finding.cwes.map(cweReference),
  };
}

function toLocation({ path, region }: RepositoryPlace, label: string | undefined): Location {
  return {
    physicalLocation: { artifactLocation: toArtifactLocation(path), region: { ...region } },
    ...(label !== undefined && label !== '' && { message: { text: escapeMessage(label) } }),
  };
}

function toArtifactLocation(path: string): { uri: string; uriBaseId: string } {
  return { uri: toRelativeUri(path), uriBaseId: sourceRoot };
}

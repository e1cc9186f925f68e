import type { Log } from 'sarif';
import { isSamePath } from '../../../paths.ts';
import { type Run, runIdOf } from '../../../run/state/run.ts';
import { mainPlacesOf } from '../../finding.ts';
import { readSent, type SentFile } from '../../place/sentFiles.ts';
import type { DetailedFinding, ShownFinding, ShownRun } from '../../shownFinding.ts';
import { isSettled, needsNote } from '../../triage/triage.ts';
import type { AssessedPlace, AssessedPlaces, Region } from './assessedPlaces.ts';
import { toRuleId } from './rules.ts';
import {
  type ExportTool,
  labelled,
  sourceRoot,
  toArtifacts,
  toLog,
  toRelativeUri,
  toResults,
  withoutUndefined,
} from './sarif.ts';

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

const firstLine: Region = { startLine: 1, startColumn: 1, endLine: 1, endColumn: 2 };

/** GitHub requires one file and region for each result, and matches alerts by the line's hash. */
export function toCodeScanning(
  { source, listed, assessed, repository, mainFile }: CodeScanningSource,
  tool: ExportTool,
): Log {
  const { run } = source;
  const { folders, uri, commit } = repository;
  /** Undefined outside the repository. */
  const toPhysical = (found: AssessedPlace | undefined) => {
    const base = folders.find(({ folder }) => isSamePath(folder, found?.folder));
    if (found === undefined || base === undefined) return undefined;
    const artifactLocation = { uri: toRelativeUri(`${base.path}/${found.path}`), uriBaseId: sourceRoot };
    return { artifactLocation, region: { ...(found.region ?? firstLine) } };
  };
  const rows = listed.map((shown) => {
    const places = shown.finding.places.slice(0, maxPlaces);
    const [main] = mainPlacesOf({ places });
    const found = main && assessed.get(main);
    const isHere = toPhysical(found) !== undefined;
    const others = places.map((place) => assessed.get(place)).filter((each) => each?.region !== undefined);
    const first = isHere ? found : mainFile;
    return { shown: { ...shown, finding: { ...shown.finding, places } }, main, first, isHere, others };
  });
  const hashes = hashesOf(rows.map(({ shown, first }) => ({ ...shown, hash: first?.hash })));
  const results = toResults(
    rows.map(({ shown }) => shown),
    (place) => {
      const found = assessed.get(place);
      const there = found?.region && toPhysical(found);
      return there && labelled(place, there);
    },
  ).map((result, at) => {
    const { shown, main, first, isHere = false } = rows[at] ?? {};
    const note = isHere
      ? ''
      : `\n\nThis finding names no file of this repository, so it is shown at this file.`;
    return {
      ...result,
      message: { text: `${result.message.text ?? ''}${note}` },
      locations: [labelled(isHere && main ? main : {}, toPhysical(first) ?? {})],
      partialFingerprints: {
        primaryLocationLineHash: hashes[at] ?? '',
        'whiteboxFinding/v1': shown?.fingerprint ?? '',
      },
    };
  });
  const files = rows
    .filter(({ shown }) => shown.run.id === run.id)
    .flatMap(({ first, others }) => [first, ...others])
    .flatMap((found) => {
      const location = toPhysical(found)?.artifactLocation;
      return location === undefined ? [] : [{ location, sha256: found?.sha256 }];
    });
  const names = folders.map(({ name }) => name.replaceAll('/', '-')).join('+');
  return toLog(source, listed, tool, {
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
    artifacts: toArtifacts(files),
    results,
  });
}

/** GitHub merges results with the same rule, file, and hash, so a hash that two results of a rule share is replaced by the fingerprint. */
function hashesOf(results: readonly (ShownFinding & Pick<AssessedPlace, 'hash'>)[]): readonly string[] {
  const keyOf = ({ finding, hash = '' }: (typeof results)[number]): string => `${toRuleId(finding)}\0${hash}`;
  const alike = Map.groupBy(results, keyOf);
  const counts = new Map<string, number>();
  return results.map((result) => {
    if (result.hash !== undefined && alike.get(keyOf(result))?.length === 1) return result.hash;
    const hash = result.fingerprint.replace(/^\d+:/, '').slice(0, 16);
    // Similar findings may share the fingerprint, too.
    const key = keyOf({ ...result, hash });
    const count = (counts.get(key) ?? 0) + 1;
    counts.set(key, count);
    return `${hash}:${String(count)}`;
  });
}

const mainFiles = [/^readme(?:\.\w+)?$/i, /^package\.json$/];

/** The file that stands for the repository, among the files sent. */
export async function readMainFile(
  run: Run,
  { folders }: AssessedRepository,
  runFolder: string,
): Promise<AssessedPlace> {
  const sent = await readSent(run, runFolder);
  const files = folders.flatMap(({ folder }): readonly AssessedPlace[] => {
    const inFolder =
      sent[run.targets.findIndex((target) => target.folder === folder)] ?? new Map<string, SentFile>();
    return [...inFolder].map(([path, { sha256 }]) => ({ folder, path, sha256 }));
  });
  files.sort((one, other) => (one.path < other.path ? -1 : 1));
  const main = mainFiles.flatMap((pattern) => files.find(({ path }) => pattern.test(path)) ?? [])[0];
  return main ?? files[0] ?? { folder: folders[0]?.folder ?? '', path: 'README.md' };
}

import type { Location, Log, Result, Run as SarifRun } from 'sarif';
import { runIdOf } from '../../../run/state/run.ts';
import { flowOf, mainPlacesOf, type Place } from '../../finding.ts';
import type { ShownFinding, ShownRun } from '../../shownFinding.ts';
import { isSettled, needsNote } from '../../triage/triage.ts';
import type { ResultInRepository, ResultPlace } from './placeResults.ts';
import { cweReference, groupByRule, toLevel, toRuleId } from './rules.ts';
import { type ExportTool, sourceRoot, toFlowAndRelated, toLog } from './sarif.ts';
import { escapeMessage, withoutUndefined, toMessage, toRelativeUri } from './sarifText.ts';

/** Limits that GitHub documents in “SARIF support for code scanning”. */
export const codeScanningLimits = {
  gzippedBytes: 10_000_000,
  results: 25_000,
  shownResults: 5_000,
} as const;

const maxSteps = 1_000;
const maxRelated = 100;

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

export interface UploadTarget {
  /** Of the assessed folders in the repository. */
  readonly names: readonly string[];
  readonly uri?: string | undefined;
  readonly commit?: string | undefined;
}

/** GitHub requires a file and a region for each result, and matches alerts by the line's hash. */
export function toCodeScanning(
  source: ShownRun,
  placed: readonly ResultInRepository[],
  { names, uri, commit }: UploadTarget,
  tool: ExportTool,
): Log {
  const { run } = source;
  const findings = placed.map(({ shown }) => shown.finding);
  const hashes = hashesOf(placed);
  const ruleIds = [...groupByRule(findings).keys()];
  const folder = names.map((name) => name.replaceAll('/', '-')).join('+');
  const results = placed.map((each, at) => toResult(each, hashes[at] ?? '', ruleIds));
  return toLog(source, findings, tool, {
    automationDetails: { id: ['whitebox', run.workflow, folder, runIdOf(run) ?? run.id].join('/') },
    ...(uri !== undefined && {
      versionControlProvenance: [
        {
          repositoryUri: uri,
          ...withoutUndefined({ revisionId: commit }),
          mappedTo: { uriBaseId: sourceRoot },
        },
      ],
    }),
    artifacts: artifactsOf(
      results,
      placed.filter(({ shown }) => shown.run.id === run.id),
    ),
    results,
  });
}

/** GitHub merges results with the same rule, file, and hash, so a hash that two results of a rule share is replaced by the fingerprint. */
function hashesOf(placed: readonly ResultInRepository[]): readonly string[] {
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

/** The files that results name, with the hashes of this run: an earlier run may have been sent other bytes. */
function artifactsOf(
  results: readonly Result[],
  placed: readonly ResultInRepository[],
): NonNullable<SarifRun['artifacts']> {
  const named = new Set(
    results.flatMap(({ locations = [], relatedLocations = [], codeFlows = [] }) => {
      const steps = codeFlows.flatMap(({ threadFlows }) => threadFlows.flatMap((flow) => flow.locations));
      return [...locations, ...relatedLocations, ...steps.flatMap(({ location }) => location ?? [])].map(
        ({ physicalLocation }) => physicalLocation?.artifactLocation?.uri,
      );
    }),
  );
  const hashes = new Map(
    placed
      .flatMap(({ main, others }) => [main, ...others.values()])
      .flatMap(({ path, sha256 }) => (sha256 === undefined ? [] : [[path, sha256] as const])),
  );
  return [...hashes]
    .map(([path, sha256]) => ({ location: toArtifactLocation(path), hashes: { 'sha-256': sha256 } }))
    .filter(({ location }) => named.has(location.uri));
}

function toResult(
  { shown, main, isElsewhere, others }: ResultInRepository,
  hash: string,
  ruleIds: readonly string[],
): Result {
  const { finding, details, fingerprint } = shown;
  const ruleId = toRuleId(finding);
  const [first, ...further] = mainPlacesOf(finding);
  const flow = flowOf(finding).filter((place) => others.has(place));
  const related = [
    ...further,
    ...finding.places.filter(({ role }) => role === 'evidence' || role === 'related'),
  ].filter((place) => others.has(place));
  const locate = (place: Place): Location => toLocation(others.get(place) ?? main, place.label);
  const note = isElsewhere
    ? '\n\nThis finding names no file of this repository, so it is shown at this file.'
    : '';
  return {
    ruleId,
    ruleIndex: ruleIds.indexOf(ruleId),
    level: toLevel(finding.severity),
    message: { text: `${toMessage(finding, details)}${note}` },
    locations: [toLocation(main, isElsewhere ? undefined : first?.label)],
    ...toFlowAndRelated(flow.slice(0, maxSteps), related.slice(0, maxRelated), locate),
    partialFingerprints: {
      primaryLocationLineHash: hash,
      'whiteboxFinding/v1': fingerprint,
    },
    taxa: finding.cwes.map(cweReference),
  };
}

function toLocation({ path, region }: ResultPlace, label: string | undefined): Location {
  return {
    physicalLocation: { artifactLocation: toArtifactLocation(path), region: { ...region } },
    ...(label !== undefined && label !== '' && { message: { text: escapeMessage(label) } }),
  };
}

function toArtifactLocation(path: string): { uri: string; uriBaseId: string } {
  return { uri: toRelativeUri(path), uriBaseId: sourceRoot };
}

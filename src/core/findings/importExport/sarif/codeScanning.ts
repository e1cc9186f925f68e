import type { Location, Log, Result, Run as SarifRun } from 'sarif';
import { runIdOf } from '../../../run/state/run.ts';
import { flowOf, type Place } from '../../finding.ts';
import type { ShownFinding, ShownRun } from '../../shownFinding.ts';
import { isSettled, needsNote } from '../../triage/triage.ts';
import { mainPlacesOf, type PlacedFinding, type ResultPlace } from './placeResults.ts';
import { cweReference, groupByRule, toLevel, toRuleId } from './rules.ts';
import { type ExportTool, sourceRoot, toLog } from './sarif.ts';
import { escaped, known, toMessage, toRelativeUri } from './sarifText.ts';

/** What GitHub accepts of a file, and shows of it ("SARIF support for code scanning"). */
export const codeScanningLimits = {
  gzippedBytes: 10_000_000,
  results: 25_000,
  shownResults: 5_000,
} as const;

/** GitHub shows so many steps, and so many places, of a result. */
const maxSteps = 1_000;
const maxRelated = 100;

/** What an upload lists, and what GitHub closes because the upload does not list it. */
export interface Upload {
  readonly listed: readonly ShownFinding[];
  readonly closed: readonly ShownFinding[];
}

/** Chooses the findings for GitHub, which closes as fixed what an upload does not list: absent ones stay in unless a person settled them or their code changed. */
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

/** The repository that a file is uploaded to. */
export interface UploadTarget {
  /** The names of the assessed folders in it. */
  readonly names: readonly string[];
  readonly uri?: string | undefined;
  readonly commit?: string | undefined;
}

/** Findings in the form that GitHub's code scanning accepts: each in a file, with a region and the hash that its alert is matched by. */
export function toCodeScanning(
  source: ShownRun,
  placed: readonly PlacedFinding[],
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
        { repositoryUri: uri, ...known({ revisionId: commit }), mappedTo: { uriBaseId: sourceRoot } },
      ],
    }),
    artifacts: artifactsOf(
      results,
      placed.filter(({ shown }) => shown.run.id === run.id),
    ),
    results,
  });
}

/** GitHub takes two results with the same rule, file and hash for one: a hash that two results of a rule share gives way to our fingerprint. */
function hashesOf(placed: readonly PlacedFinding[]): readonly string[] {
  const keys = placed.map(({ shown, main }) => `${toRuleId(shown.finding)}\0${main.hash ?? ''}`);
  const results = Map.groupBy(keys, (key) => key);
  const counts = new Map<string, number>();
  return placed.map(({ shown, main }, at) => {
    if (main.hash !== undefined && results.get(keys[at] ?? '')?.length === 1) return main.hash;
    const digits = shown.identity.fingerprint.replace(/^\d+:/, '').slice(0, 16);
    // Findings that nothing distinguishes share the fingerprint, too.
    const key = `${toRuleId(shown.finding)}\0${digits}`;
    const count = (counts.get(key) ?? 0) + 1;
    counts.set(key, count);
    return `${digits}:${String(count)}`;
  });
}

/** The files that results name, as this run was sent them: an earlier run may have been sent other bytes. */
function artifactsOf(
  results: readonly Result[],
  placed: readonly PlacedFinding[],
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
  { shown, main, isElsewhere, others }: PlacedFinding,
  hash: string,
  ruleIds: readonly string[],
): Result {
  const { finding, identity } = shown;
  const ruleId = toRuleId(finding);
  const [own, ...further] = mainPlacesOf(shown);
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
    message: { text: `${toMessage(finding)}${note}` },
    locations: [toLocation(main, isElsewhere ? undefined : own?.label)],
    ...(flow.length > 0 && {
      codeFlows: [
        {
          threadFlows: [
            {
              locations: flow
                .slice(0, maxSteps)
                .map((place) => ({ kinds: [place.role ?? 'step'], location: locate(place) })),
            },
          ],
        },
      ],
    }),
    ...(related.length > 0 && {
      relatedLocations: related
        .slice(0, maxRelated)
        .map((place, index) => ({ id: index + 1, ...locate(place) })),
    }),
    partialFingerprints: {
      primaryLocationLineHash: hash,
      'whiteboxFinding/v1': identity.fingerprint,
    },
    taxa: finding.cwes.map(cweReference),
  };
}

function toLocation({ path, region }: ResultPlace, label: string | undefined): Location {
  return {
    physicalLocation: { artifactLocation: toArtifactLocation(path), region: { ...region } },
    ...(label !== undefined && label !== '' && { message: { text: escaped(label) } }),
  };
}

function toArtifactLocation(path: string): { uri: string; uriBaseId: string } {
  return { uri: toRelativeUri(path), uriBaseId: sourceRoot };
}

/** The texts of a log, in the order of its members. */
export function textsOf(log: Log): readonly string[] {
  const texts: string[] = [];
  mapTexts(log, (text) => {
    texts.push(text);
    return text;
  });
  return texts;
}

/** The log with other texts in the places of its own, in the order of `textsOf`. */
export function withTexts(log: Log, texts: readonly string[]): Log {
  let at = 0;
  return mapTexts(log, (text) => texts[at++] ?? text) as Log;
}

const uris = ['uri', 'repositoryUri', 'helpUri'];

function mapTexts(value: unknown, map: (text: string) => string, name = ''): unknown {
  if (typeof value === 'string') return uris.includes(name) ? mapUri(value, map) : map(value);
  if (Array.isArray(value)) return value.map((each: unknown) => mapTexts(each, map, name));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, mapTexts(each, map, key)]));
}

/** A URI by the text that it encodes. */
function mapUri(uri: string, map: (text: string) => string): string {
  const text = decodeURIComponent(uri);
  const mapped = map(text);
  if (mapped === text) return uri;
  return mapped.includes('://') ? encodeURI(mapped) : toRelativeUri(mapped);
}

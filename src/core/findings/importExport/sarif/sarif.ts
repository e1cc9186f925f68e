import type { Artifact, ArtifactLocation, Location, Log, Notification, Result, Run as SarifRun } from 'sarif';
import { isSamePath } from '../../../paths.ts';
import { coverageOf } from '../../../upload/choose/coverage.ts';
import { runIdOf } from '../../../run/state/run.ts';
import { hasAllFindings } from '../../chooseRun.ts';
import { isReported, type Verdict } from '../../result/result.ts';
import { type Finding, flowOf, mainPlacesOf, type Place, toPlainFinding } from '../../finding.ts';
import type { DetailedFinding, DetailedRun, ShownRun } from '../../shownFinding.ts';
import { expiryUtc, isUndecided, needsNote, type TriageDecision } from '../../triage/triage.ts';
import { inEnglish, isInPart, zeroFindings } from '../../view/zeroFindings.ts';
import type { AssessedPlaces } from './assessedPlaces.ts';
import {
  escapeMessage,
  groupByRule,
  securityScore,
  toDescriptor,
  toLevel,
  toMessage,
  toRuleId,
} from './rules.ts';

/*
 * Both forms of SARIF 2.1.0 say what was assessed: places and hashes are those of the sent text. This form has everything about a run's findings, and paths
 * from the assessed folder; with several folders, each is a folder below the base. `codeScanning` has what GitHub accepts, and paths from the root of a
 * repository. Sections are those of the standard.
 */

export interface ExportTool {
  readonly name: string;
  readonly version: string;
}

export const sourceRoot = '%SRCROOT%';

/** A log with everything about a run's findings; the same findings always give the same text. */
export function toSarif(source: DetailedRun, assessed: AssessedPlaces, tool: ExportTool): Log {
  const { run, shown, absent = [] } = source;
  const all = [...shown, ...absent];
  // Verdicts and suppressions are on all results or on none (3.27.23 and 3.27.24).
  const hasVerdicts = all.every(({ verdict }) => verdict !== undefined);
  const hasSuppressions = all.some(({ triage }) => needsNote(triage.state));
  /** The path in the assessed folder, else as reported. Folders are those of `run`, which may be later than the finding's run. */
  const toArtifactLocation = (place: Place): ArtifactLocation => {
    const found = assessed.get(place);
    const target = found && run.targets.find(({ folder }) => isSamePath(folder, found.folder));
    if (target === undefined) return { uri: toRelativeUri(found?.path ?? place.path) };
    const prefix = run.targets.length === 1 ? '' : `${target.name}/`;
    return { uri: toRelativeUri(`${prefix}${found?.path ?? ''}`), uriBaseId: sourceRoot };
  };
  const quotes = new Map(
    all.flatMap(({ finding, details }) =>
      finding.places.map((place, at) => [place, details.places[at]?.snippet] as const),
    ),
  );
  const locate = (place: Place): Location | undefined => {
    const { startLine, endLine, startColumn, endColumn } = place;
    const snippet = quotes.get(place);
    const artifactLocation = toArtifactLocation(place);
    const text = snippet === undefined ? undefined : { text: snippet };
    const lines = withoutUndefined({ endLine, startColumn, endColumn, snippet: text });
    const region = startLine === undefined ? {} : { region: { startLine, ...lines } };
    // A path of only `..` names no file.
    return artifactLocation.uri === '' ? undefined : labelled(place, { artifactLocation, ...region });
  };
  const places = shown.flatMap(({ finding }) => finding.places);
  return toLog(source, all, tool, {
    artifacts: toArtifacts(
      places.map((place) => ({ location: toArtifactLocation(place), sha256: assessed.get(place)?.sha256 })),
    ),
    results: toResults(all, locate).map((result, at) => ({
      ...result,
      ...(all[at] && ownMembers(all[at], assessed, hasVerdicts, hasSuppressions)),
    })),
  });
}

function ownMembers(
  { finding, details, fingerprint, triage, verdict }: DetailedFinding,
  assessed: AssessedPlaces,
  hasVerdict: boolean,
  hasSuppressions: boolean,
): Partial<Result> {
  const [main] = mainPlacesOf(finding);
  const suppressions = needsNote(triage.state) ? [toSuppression(triage)] : [];
  return {
    // Only a result that is no failure may have the level `none` (3.27.10).
    ...(finding.severity === 'none' && { kind: 'informational', level: 'none' }),
    ...(finding.url !== undefined && {
      webRequest: withoutUndefined({ method: finding.method, target: finding.url }),
    }),
    partialFingerprints: withoutUndefined({
      primaryLocationLineHash: main && assessed.get(main)?.hash,
      'whiteboxFinding/v1': fingerprint,
    }),
    ...(hasVerdict && verdict !== undefined && { baselineState: toBaselineState(verdict) }),
    ...(hasSuppressions && { suppressions }),
    properties: withoutUndefined({
      'security-severity': securityScore(finding)?.toFixed(1),
      // SARIF has no members for recommendations, further prose, ratings as written, and reported paths.
      whitebox: withoutUndefined({
        finding: toPlainFinding(finding, details),
        fingerprint,
        verdict,
        triage: isUndecided(triage) ? undefined : triage,
      }),
    }),
  };
}

function toSuppression(triage: TriageDecision): NonNullable<Result['suppressions']>[number] {
  const { note: justification, until } = triage;
  const properties = until === undefined ? {} : { properties: { expiryUtc: expiryUtc(triage) } };
  return { kind: 'external', status: 'accepted', justification, ...properties };
}

/** SARIF has fewer states than we have verdicts (3.27.24). */
function toBaselineState(verdict: Verdict): NonNullable<Result['baselineState']> {
  if (!isReported(verdict)) return 'absent';
  return verdict === 'new' || verdict === 'backAgain' ? 'new' : 'unchanged';
}

/** Files with the hashes of what was sent, each once. Only of the run itself: an earlier one may have been sent other bytes. */
export function toArtifacts(
  files: readonly { readonly location: ArtifactLocation; readonly sha256: string | undefined }[],
): Artifact[] {
  const byUri = new Map<string | undefined, Artifact>();
  for (const { location, sha256 } of files)
    if (sha256 !== undefined) byUri.set(location.uri, { location, hashes: { 'sha-256': sha256 } });
  return [...byUri.values()];
}

/** The parts that every log has: the tool with its rules, the invocation, and the folders that paths are relative to. */
export function toLog(
  source: ShownRun,
  all: readonly { readonly finding: Finding }[],
  tool: ExportTool,
  members: Partial<SarifRun>,
): Log {
  const rules = [...groupByRule(all.map(({ finding }) => finding))].map(([id, group]) =>
    toDescriptor(id, group),
  );
  return {
    $schema: 'https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: { driver: { name: tool.name, semanticVersion: tool.version, rules } },
        invocations: [toInvocation(source)],
        originalUriBaseIds: {
          [sourceRoot]: { description: { text: source.run.targets.map(({ name }) => name).join(', ') } },
        },
        columnKind: 'utf16CodeUnits',
        ...members,
      },
    ],
  };
}

/** What every result has: its rule, its message, the main place, the data flow, and the other places that `locate` finds. */
export function toResults(
  all: readonly DetailedFinding[],
  locate: (place: Place) => Location | undefined,
): readonly Result[] {
  const ruleIds = [...groupByRule(all.map(({ finding }) => finding)).keys()];
  const located = (places: readonly Place[]): [Place, Location][] =>
    places.flatMap((place) => {
      const location = locate(place);
      return location === undefined ? [] : [[place, location]];
    });
  return all.map(({ finding, details }) => {
    const ruleId = toRuleId(finding);
    const [main, ...further] = mainPlacesOf(finding);
    const locations = located(flowOf(finding)).map(([{ role = 'step' }, location]) => ({
      kinds: [role],
      location,
    }));
    const isRelated = (place: Place): boolean =>
      place.role === 'evidence' || place.role === 'related' || further.includes(place);
    const related = located(finding.places.filter(isRelated));
    return {
      ruleId,
      ruleIndex: ruleIds.indexOf(ruleId),
      level: toLevel(finding.severity),
      message: { text: toMessage(finding, details) },
      locations: located(main === undefined ? [] : [main]).map(([, location]) => location),
      ...(locations.length > 0 && { codeFlows: [{ threadFlows: [{ locations }] }] }),
      ...(related.length > 0 && {
        relatedLocations: related.map(([, location], index) => ({ id: index + 1, ...location })),
      }),
    };
  });
}

export function labelled(
  { label = '' }: Pick<Place, 'label'>,
  physicalLocation: NonNullable<Location['physicalLocation']>,
): Location {
  return { physicalLocation, ...(label !== '' && { message: { text: escapeMessage(label) } }) };
}

/** What a reader has to know about all results. */
function notesOf({ run, shown, cut }: ShownRun): Notification[] {
  const notes = run.targets.flatMap(({ name, commit }): Notification[] => {
    if (commit?.dirty !== true) return [];
    const text = `${name} was assessed with uncommitted changes to commit ${commit.id}.`;
    return [{ level: 'note', message: { text: escapeMessage(text) } }];
  });
  if (shown.length > 0 || cut !== undefined) return notes;
  const text = zeroFindings(run, inEnglish);
  return [{ level: isInPart(run) ? 'warning' : 'note', message: { text } }, ...notes];
}

function toInvocation(source: ShownRun): NonNullable<SarifRun['invocations']>[number] {
  const { run, cut } = source;
  const notes = notesOf(source);
  const { dispatchedAt, exitedAt } = { dispatchedAt: undefined, exitedAt: undefined, ...run };
  const commits = run.targets.flatMap(({ name, commit }) =>
    commit === undefined ? [] : [{ folder: name, commit: commit.id, dirty: commit.dirty }],
  );
  const toText = (at: number | undefined): string | undefined =>
    at === undefined ? undefined : new Date(at).toISOString();
  return {
    executionSuccessful: hasAllFindings(run),
    ...(notes.length > 0 && { toolExecutionNotifications: notes }),
    ...withoutUndefined({ startTimeUtc: toText(dispatchedAt), endTimeUtc: toText(exitedAt) }),
    properties: withoutUndefined({
      findingsHere: cut?.shown,
      findingsInAll: cut?.total,
      coverage: coverageOf(run),
      runId: runIdOf(run),
      // `versionControlProvenance` requires the repository's URL, which may be unknown.
      commits: commits.length === 0 ? undefined : commits,
    }),
  };
}

/** A relative reference that stays below its base, percent-encoded. */
export function toRelativeUri(path: string): string {
  const parts = path.split(/[\\/]+/).filter((part) => part !== '' && part !== '.' && part !== '..');
  return parts.map((part) => encodeURIComponent(part.toWellFormed())).join('/');
}

/** SARIF's types accept no undefined members. */
export function withoutUndefined<T extends object>(
  members: T,
): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const entries = Object.entries(members).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as { [K in keyof T]?: Exclude<T[K], undefined> };
}

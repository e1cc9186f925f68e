import type { Artifact, ArtifactLocation, Location, Log, Notification, Result, Run as SarifRun } from 'sarif';
import { isSamePath } from '../../../paths.ts';
import { coverageOf } from '../../../upload/choose/coverage.ts';
import { type Run, runIdOf } from '../../../run/state/run.ts';
import { hasAllFindings } from '../../chooseRun.ts';
import { isReported, type Verdict } from '../../result/verdict.ts';
import { type Finding, flowOf, mainPlacesOf, type Place, toPlainFinding } from '../../finding.ts';
import type { DetailedFinding, DetailedRun, ShownFinding, ShownRun } from '../../shownFinding.ts';
import { expiryUtc, isUndecided, needsNote } from '../../triage/triage.ts';
import { inEnglish, isInPart, zeroFindings } from '../../view/zeroFindings.ts';
import type { AssessedPlaces } from './assessedPlaces.ts';
import {
  cweReference,
  cweTaxonomy,
  groupByRule,
  securityScore,
  toDescriptor,
  toLevel,
  toRuleId,
} from './rules.ts';
import { escapeMessage, withoutUndefined, toMessage, toRelativeUri } from './sarifText.ts';

export interface ExportTool {
  readonly name: string;
  readonly version: string;
}

interface LogFacts {
  readonly run: Run;
  readonly assessed: AssessedPlaces;
  readonly ruleIds: readonly string[];
  readonly hasVerdicts: boolean;
  readonly hasSuppressions: boolean;
}

/** A SARIF 2.1.0 log with everything about a run's findings; the same findings always give the same text. */
export function toSarif(source: DetailedRun, assessed: AssessedPlaces, tool: ExportTool): Log {
  const { run, shown, absent = [] } = source;
  const all = [...shown, ...absent];
  const findings = all.map(({ finding }) => finding);
  // Verdicts and suppressions are on all results or on none (2.1.0, 3.27.23 and 3.27.24).
  const facts = {
    run,
    assessed,
    ruleIds: [...groupByRule(findings).keys()],
    hasVerdicts: all.every(({ verdict }) => verdict !== undefined),
    hasSuppressions: all.some(({ triage }) => needsNote(triage.state)),
  };
  return toLog(source, findings, tool, {
    artifacts: toArtifacts(
      shown
        .flatMap((each) => each.finding.places.map((place) => ({ place, shown: each })))
        .map(({ place, shown: each }) => ({
          location: toArtifactLocation(place, each, facts),
          sha256: assessed.get(place)?.sha256,
        })),
    ),
    results: all.map((finding) => toResult(finding, facts)),
  });
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
  findings: readonly Finding[],
  tool: ExportTool,
  members: Partial<SarifRun>,
): Log {
  return {
    $schema: 'https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: {
          driver: {
            name: tool.name,
            semanticVersion: tool.version,
            rules: [...groupByRule(findings)].map(([id, group]) => toDescriptor(id, group)),
            supportedTaxonomies: [{ name: 'CWE', index: 0 }],
          },
        },
        invocations: [toInvocation(source)],
        originalUriBaseIds: {
          [sourceRoot]: { description: { text: source.run.targets.map(({ name }) => name).join(', ') } },
        },
        taxonomies: [cweTaxonomy(findings)],
        columnKind: 'utf16CodeUnits',
        ...members,
      },
    ],
  };
}

/** What a reader has to know about all results. */
function notesOf({ run, shown, cut }: ShownRun): Notification[] {
  const notes: Notification[] = run.targets.flatMap(({ name, commit }) =>
    commit?.dirty === true
      ? [
          {
            level: 'note',
            message: {
              text: escapeMessage(`${name} was assessed with uncommitted changes to commit ${commit.id}.`),
            },
          },
        ]
      : [],
  );
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

function toResult(shown: DetailedFinding, facts: LogFacts): Result {
  const { assessed, ruleIds, hasVerdicts, hasSuppressions } = facts;
  const { finding, details, fingerprint, triage, verdict } = shown;
  const [main] = mainPlacesOf(finding);
  const score = securityScore(finding);
  const ruleId = toRuleId(finding);
  return {
    ruleId,
    ruleIndex: ruleIds.indexOf(ruleId),
    // Only a result that is no failure may have the level `none` (2.1.0, 3.27.10).
    ...(finding.severity === 'none'
      ? { kind: 'informational', level: 'none' }
      : { level: toLevel(finding.severity) }),
    ...withoutUndefined({ rank: score === undefined ? undefined : Math.round(score * 10) }),
    message: { text: toMessage(finding, details) },
    ...toLocations(shown, facts),
    ...(finding.url !== undefined && {
      webRequest: withoutUndefined({ method: finding.method, target: finding.url }),
    }),
    partialFingerprints: withoutUndefined({
      primaryLocationLineHash: main && assessed.get(main)?.hash,
      'whiteboxFinding/v1': fingerprint,
    }),
    ...(hasVerdicts && verdict !== undefined && { baselineState: toBaselineState(verdict) }),
    taxa: finding.cwes.map(cweReference),
    ...(hasSuppressions && {
      suppressions: needsNote(triage.state)
        ? [
            {
              kind: 'external',
              status: 'accepted',
              justification: triage.note,
              ...(triage.until !== undefined && { properties: { expiryUtc: expiryUtc(triage) } }),
            },
          ]
        : [],
    }),
    properties: withoutUndefined({
      'security-severity': score?.toFixed(1),
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

/** SARIF has fewer states than we have verdicts (2.1.0, 3.27.24). */
function toBaselineState(verdict: Verdict): NonNullable<Result['baselineState']> {
  if (!isReported(verdict)) return 'absent';
  return verdict === 'new' || verdict === 'backAgain' ? 'new' : 'unchanged';
}

/** The base of relative paths; with several folders, each is a folder below it. */
export const sourceRoot = '%SRCROOT%';

/** Main locations, data flow, and related places. */
function toLocations(
  shown: ShownFinding,
  facts: LogFacts,
): Pick<Result, 'locations' | 'codeFlows' | 'relatedLocations'> {
  // A path of only `..` names no file.
  const places = shown.finding.places.filter(({ path }) => toRelativeUri(path) !== '');
  const related = (['evidence', 'related'] as const).flatMap((role) =>
    places.filter((place) => place.role === role),
  );
  const locate = (place: Place): Location => toLocation(place, shown, facts);
  return {
    locations: mainPlacesOf({ places }).map(locate),
    ...toFlowAndRelated(flowOf({ places }), related, locate),
  };
}

export function toFlowAndRelated(
  flow: readonly Place[],
  related: readonly Place[],
  locate: (place: Place) => Location,
): Pick<Result, 'codeFlows' | 'relatedLocations'> {
  const steps = flow.map((place) => ({ kinds: [place.role ?? 'step'], location: locate(place) }));
  return {
    ...(steps.length > 0 && { codeFlows: [{ threadFlows: [{ locations: steps }] }] }),
    ...(related.length > 0 && {
      relatedLocations: related.map((place, index) => ({ id: index + 1, ...locate(place) })),
    }),
  };
}

function toLocation(place: Place, shown: ShownFinding, facts: LogFacts): Location {
  const { startLine, endLine, startColumn, endColumn, snippet, label } = place;
  const text = snippet === undefined ? undefined : { text: snippet };
  return {
    physicalLocation: {
      artifactLocation: toArtifactLocation(place, shown, facts),
      ...(startLine !== undefined && {
        region: { startLine, ...withoutUndefined({ endLine, startColumn, endColumn, snippet: text }) },
      }),
    },
    ...(label !== undefined && { message: { text: escapeMessage(label) } }),
  };
}

/** The path in the assessed folder, else as reported. Folders are those of `run`, which may be later than the finding's run. */
function toArtifactLocation(
  place: Place,
  shown: ShownFinding,
  { run, assessed }: Pick<LogFacts, 'run' | 'assessed'>,
): ArtifactLocation {
  const { targets } = shown.run;
  const found = assessed.get(place);
  const target = targets[place.targetIndex ?? (targets.length === 1 ? 0 : -1)];
  const targetIn = (folder: string | undefined): Run['targets'][number] | undefined =>
    run.targets.find((each) => isSamePath(each.folder, folder));
  const base = targetIn(found?.folder) ?? targetIn(target?.folder);
  const prefix = base === undefined || run.targets.length === 1 ? '' : `${base.name}/`;
  const uri = toRelativeUri(`${prefix}${found?.path ?? place.path}`);
  return { uri, ...(base !== undefined && { uriBaseId: sourceRoot }) };
}

import type {
  Artifact,
  ArtifactLocation,
  Location as SarifLocation,
  Log,
  Notification,
  PhysicalLocation,
  Result,
  Run,
} from 'sarif';
import { isSamePath } from '../../../paths.ts';
import { coverageOf } from '../../../upload/choose/coverage.ts';
import { runIdOf } from '../../../run/state/run.ts';
import { hasAllFindings } from '../../chooseRun.ts';
import { isReported, type Verdict } from '../../result/result.ts';
import { attackPathOf, mainLocationsOf, type Location, toPlainFinding } from '../../finding.ts';
import type { DetailedFinding, DetailedRun, ShownRun } from '../../shownFinding.ts';
import { expiryUtc, isUndecided, needsNote, toDecision, type TriageDecision } from '../../triage/triage.ts';
import { inEnglish, isInPart, zeroFindings } from '../../view/zeroFindings.ts';
import type { AssessedLocation, AssessedLocations } from './assessedLocations.ts';
import { escapeMessage, securityScore, toDescriptor, toLevel, toMessage, toRuleId } from './rules.ts';

/**
 * `toSarif` and `toCodeScanning` write SARIF 2.1.0 with the locations and hashes of the uploaded
 * text. Paths of `toSarif` are relative to the assessed folder or, with several folders, begin with
 * a folder's name. `toCodeScanning` meets GitHub's requirements, with paths from the root of a
 * repository. Numbers such as 3.27.24 are sections of the standard.
 */

export interface ExportTool {
  readonly name: string;
  readonly version: string;
}

/** `path` is relative to the root of the log's paths. */
export interface LogFolder {
  readonly folder: string;
  readonly name: string;
  readonly path: string;
}

interface LogForm {
  readonly all: readonly DetailedFinding[];
  readonly assessed: AssessedLocations;
  readonly locate: (location: Location) => PhysicalLocation | undefined;
  readonly more?: (shown: DetailedFinding) => Partial<Result>;
  readonly ofRun?: Partial<Run>;
}

export const sourceRoot = '%SRCROOT%';

/** The log doesn't depend on when it is written. */
export function toSarif(source: DetailedRun, assessed: AssessedLocations, tool: ExportTool): Log {
  const { targets } = source.run;
  const all = [...source.shown, ...(source.absent ?? [])];
  // Verdicts and suppressions are on all results or on none (3.27.23 and 3.27.24).
  const hasVerdicts = all.every(({ verdict }) => verdict !== undefined);
  const hasSuppressions = all.some(({ triage }) => needsNote(triage.state));
  // A finding may be of an earlier run, but the folders of this run count.
  const folders = targets.map((target) => ({ ...target, path: targets.length === 1 ? '' : target.name }));
  const quotes = new Map(
    all.flatMap(({ finding, details }) =>
      finding.locations.map((location, at) => [location, details.locations[at]?.snippet] as const),
    ),
  );
  const locate: LogForm['locate'] = (location) => {
    const { startLine, endLine, startColumn, endColumn } = location;
    const [found, text] = [assessed.get(location), quotes.get(location)];
    const snippet = text === undefined ? undefined : { text };
    return {
      artifactLocation: locationIn(folders, found) ?? { uri: toRelativeUri(found?.path ?? location.path) },
      region: startLine === undefined ? undefined : { startLine, endLine, startColumn, endColumn, snippet },
    };
  };
  const more: LogForm['more'] = ({ finding, details, fingerprint, triage, verdict }) => ({
    // Only a result that isn't a failure may have the level `none` (3.27.10).
    ...(finding.severity === 'none' && { kind: 'informational', level: 'none' }),
    webRequest: finding.url === undefined ? undefined : { method: finding.method, target: finding.url },
    baselineState: hasVerdicts && verdict !== undefined ? toBaselineState(verdict) : undefined,
    suppressions: !hasSuppressions ? undefined : needsNote(triage.state) ? [toSuppression(triage)] : [],
    properties: {
      'security-severity': securityScore(finding)?.toFixed(1),
      // SARIF has no members for recommendations, further prose, ratings as written, or reported
      // paths.
      whitebox: {
        finding: toPlainFinding(finding, details),
        fingerprint,
        verdict,
        triage: isUndecided(triage) ? undefined : toDecision(triage),
      },
    },
  });
  return toLog(source, tool, { all, assessed, locate, more });
}

function toSuppression(triage: TriageDecision): NonNullable<Result['suppressions']>[number] {
  const properties = triage.until === undefined ? undefined : { expiryUtc: expiryUtc(triage) };
  return { kind: 'external', status: 'accepted', justification: triage.note, properties };
}

/** SARIF has fewer states than we have verdicts (3.27.24). */
function toBaselineState(verdict: Verdict): NonNullable<Result['baselineState']> {
  if (!isReported(verdict)) return 'absent';
  return verdict === 'new' || verdict === 'foundAgain' ? 'new' : 'unchanged';
}

export function locationIn(
  folders: readonly LogFolder[],
  found: AssessedLocation | undefined,
): ArtifactLocation | undefined {
  const base = found && folders.find(({ folder }) => isSamePath(folder, found.folder));
  return base && { uri: toRelativeUri(`${base.path}/${found.path}`), uriBaseId: sourceRoot };
}

export function toLog(source: ShownRun, tool: ExportTool, form: LogForm): Log {
  const { run } = source;
  const { all, assessed, locate, more } = form;
  const rules = Map.groupBy(
    all.map(({ finding }) => finding),
    toRuleId,
  );
  const ruleIds = [...rules.keys()];
  const hashes = hashesOf(all, assessed);
  const results = all.map((shown, at): Result => {
    const ruleId = toRuleId(shown.finding);
    return {
      ruleId,
      ruleIndex: ruleIds.indexOf(ruleId),
      level: toLevel(shown.finding.severity),
      message: { text: toMessage(shown.finding, shown.details) },
      ...toLocations(shown.finding, locate),
      partialFingerprints: {
        primaryLocationLineHash: hashes[at] ?? '',
        'whiteboxFinding/v1': shown.fingerprint,
      },
      ...more?.(shown),
    };
  });
  return {
    $schema: 'https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: {
          driver: {
            name: tool.name,
            semanticVersion: tool.version,
            rules: [...rules].map(([id, findings]) => toDescriptor(id, findings)),
          },
        },
        invocations: [toInvocation(source)],
        originalUriBaseIds: {
          [sourceRoot]: { description: { text: run.targets.map(({ name }) => name).join(', ') } },
        },
        columnKind: 'utf16CodeUnits',
        artifacts: artifactsOf(run.id, form),
        results,
        ...form.ofRun,
      },
    ],
  };
}

function toLocations(
  finding: DetailedFinding['finding'],
  locate: LogForm['locate'],
): Pick<Result, 'locations' | 'codeFlows' | 'relatedLocations'> {
  const toLocation = (location: Location): SarifLocation | undefined => {
    const physicalLocation = locate(location);
    const { label = '' } = location;
    const message = label === '' ? undefined : { text: escapeMessage(label) };
    // A path of only `..` names no file.
    return physicalLocation?.artifactLocation?.uri ? { physicalLocation, message } : undefined;
  };
  const [main, ...further] = mainLocationsOf(finding);
  const isRelated = (location: Location): boolean =>
    location.role === 'evidence' || location.role === 'related' || further.includes(location);
  const related = finding.locations.filter(isRelated).flatMap((location) => toLocation(location) ?? []);
  const steps = attackPathOf(finding).flatMap((location) => {
    const { role } = location;
    if (role === undefined || isRelated(location)) return [];
    const target = toLocation(location);
    return target === undefined ? [] : [{ kinds: [role], location: target }];
  });
  return {
    locations: main === undefined ? [] : [toLocation(main) ?? []].flat(),
    codeFlows: steps.length === 0 ? undefined : [{ threadFlows: [{ locations: steps }] }],
    relatedLocations:
      related.length === 0 ? undefined : related.map((each, index) => ({ id: index + 1, ...each })),
  };
}

/** An earlier run may have uploaded other bytes, so only this run counts. */
function artifactsOf(runId: string, { all, assessed, locate }: LogForm): Artifact[] {
  const files = all
    .filter(({ run }) => run.id === runId)
    .flatMap(({ finding }) => finding.locations)
    .flatMap((location): Artifact[] => {
      const [sha256, target] = [assessed.get(location)?.sha256, locate(location)?.artifactLocation];
      return sha256 && target ? [{ location: target, hashes: { 'sha-256': sha256 } }] : [];
    });
  return [...new Map(files.map((file) => [file.location?.uri, file])).values()];
}

/**
 * GitHub merges results with the same rule, file, and hash. So the fingerprint replaces a hash that
 * is missing, or that two results of a rule share.
 */
function hashesOf(all: readonly DetailedFinding[], assessed: AssessedLocations): readonly string[] {
  const rows = all.map(({ finding, fingerprint }) => {
    const [main] = mainLocationsOf(finding);
    const digits = fingerprint.replace(/^\d+:/, '').slice(0, 16);
    return { rule: toRuleId(finding), hash: main && assessed.get(main)?.hash, digits };
  });
  const byFingerprint = Map.groupBy(rows, ({ rule, hash }) => `${rule} ${hash ?? ''}`);
  const counts = new Map<string, number>();
  return rows.map(({ rule, hash, digits }) => {
    if (hash !== undefined && byFingerprint.get(`${rule} ${hash}`)?.length === 1) return hash;
    // Similar findings may share the fingerprint, too.
    const count = (counts.get(`${rule} ${digits}`) ?? 0) + 1;
    counts.set(`${rule} ${digits}`, count);
    return `${digits}:${String(count)}`;
  });
}

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

function toInvocation(source: ShownRun): NonNullable<Run['invocations']>[number] {
  const { run, cut } = source;
  const notes = notesOf(source);
  const { dispatchedAt, exitedAt } = { dispatchedAt: undefined, exitedAt: undefined, ...run };
  const commits = run.targets.flatMap(({ name, commit }) =>
    commit === undefined ? [] : [{ folder: name, commit: commit.id, dirty: commit.dirty }],
  );
  return {
    executionSuccessful: hasAllFindings(run),
    toolExecutionNotifications: notes.length === 0 ? undefined : notes,
    startTimeUtc: dispatchedAt === undefined ? undefined : new Date(dispatchedAt).toISOString(),
    endTimeUtc: exitedAt === undefined ? undefined : new Date(exitedAt).toISOString(),
    properties: {
      findingsHere: cut?.shown,
      findingsInAll: cut?.total,
      coverage: coverageOf(run),
      runId: runIdOf(run),
      // `versionControlProvenance` requires the repository's URL, which may be unknown.
      commits: commits.length === 0 ? undefined : commits,
    },
  };
}

export function toRelativeUri(path: string): string {
  const parts = path.split(/[\\/]+/).filter((part) => part !== '' && part !== '.' && part !== '..');
  return parts.map((part) => encodeURIComponent(part.toWellFormed())).join('/');
}

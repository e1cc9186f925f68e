import type { Location, Log, Result, Run as SarifRun } from 'sarif';
import { coverageOf } from '../../../run/state/coverage.ts';
import { type Run, runIdOf } from '../../../run/state/run.ts';
import { hasAllFindings } from '../../chooseRun.ts';
import { isReported, type Verdict } from '../../compare/verdict.ts';
import { type Finding, flowOf, type Place, type PlaceRole, toPlainFinding } from '../../finding.ts';
import type { ShownFinding, ShownRun } from '../../shownFinding.ts';
import { expiryUtc, isUndecided, needsNote } from '../../triage/triage.ts';
import { inEnglish, isInPart, zeroFindings } from '../../view/zeroFindings.ts';
import {
  cweReference,
  cweTaxonomy,
  groupByRule,
  securityScore,
  toDescriptor,
  toLevel,
  toRuleId,
} from './rules.ts';
import { escaped, known, toMessage, toRelativeUri } from './sarifText.ts';

/** The program that writes an export. */
export interface ExportTool {
  readonly name: string;
  readonly version: string;
}

/** What the results of a log have in common. */
interface LogFacts {
  readonly run: Run;
  readonly ruleIds: readonly string[];
  readonly hasVerdicts: boolean;
  readonly hasSuppressions: boolean;
}

/** All that is known of a run's findings as a SARIF 2.1.0 log; equal findings give equal text. */
export function toSarif(source: ShownRun, tool: ExportTool): Log {
  const { run, shown, absent = [] } = source;
  const all = [...shown, ...absent];
  const findings = all.map(({ finding }) => finding);
  // Both are on all results or on none (2.1.0, 3.27.23 and 3.27.24).
  const facts = {
    run,
    ruleIds: [...groupByRule(findings).keys()],
    hasVerdicts: all.every(({ verdict }) => verdict !== undefined),
    hasSuppressions: all.some(({ triage }) => needsNote(triage.state)),
  };
  return toLog(source, findings, tool, {
    results: all.map((each) => toResult(each, facts)),
  });
}

/** A log with what a run has in every form: the tool with the rules of these findings, how the run went, and whose folders its paths are relative to. */
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

function toInvocation({ run, shown, cut }: ShownRun): NonNullable<SarifRun['invocations']>[number] {
  const { dispatchedAt, exitedAt } = { dispatchedAt: undefined, exitedAt: undefined, ...run };
  const commits = run.targets.flatMap(({ name, commit }) =>
    commit === undefined ? [] : [{ folder: name, commit: commit.id, dirty: commit.dirty }],
  );
  const toText = (at: number | undefined): string | undefined =>
    at === undefined ? undefined : new Date(at).toISOString();
  return {
    executionSuccessful: hasAllFindings(run),
    ...(shown.length === 0 &&
      cut === undefined && {
        toolExecutionNotifications: [
          { level: isInPart(run) ? 'warning' : 'note', message: { text: zeroFindings(run, inEnglish) } },
        ],
      }),
    ...known({ startTimeUtc: toText(dispatchedAt), endTimeUtc: toText(exitedAt) }),
    properties: known({
      findingsHere: cut?.shown,
      findingsInAll: cut?.total,
      coverage: coverageOf(run),
      runId: runIdOf(run),
      // `versionControlProvenance` requires the address of the repository, which may not be known.
      commits: commits.length === 0 ? undefined : commits,
    }),
  };
}

function toResult(shown: ShownFinding, { run, ruleIds, hasVerdicts, hasSuppressions }: LogFacts): Result {
  const { finding, identity, triage, verdict } = shown;
  const { fingerprint } = identity;
  const score = securityScore(finding);
  const ruleId = toRuleId(finding);
  return {
    ruleId,
    ruleIndex: ruleIds.indexOf(ruleId),
    // A result without impact is no failure, and only such a one has the level `none` (2.1.0, 3.27.10).
    ...(finding.severity === 'none'
      ? { kind: 'informational', level: 'none' }
      : { level: toLevel(finding.severity) }),
    ...known({ rank: score === undefined ? undefined : Math.round(score * 10) }),
    message: { text: toMessage(finding) },
    ...toLocations(shown, run),
    ...(finding.url !== undefined && { webRequest: known({ method: finding.method, target: finding.url }) }),
    partialFingerprints: { 'whiteboxFinding/v1': fingerprint },
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
    properties: known({
      'security-severity': score?.toFixed(1),
      // Whole: SARIF has no members for recommendations, further prose, ratings as written and paths as reported.
      whitebox: known({
        finding: toPlainFinding(finding),
        fingerprint,
        verdict,
        triage: isUndecided(triage) ? undefined : triage,
      }),
    }),
  };
}

/** What SARIF has for a verdict, which knows no reasons (2.1.0, 3.27.24). */
function toBaselineState(verdict: Verdict): NonNullable<Result['baselineState']> {
  if (!isReported(verdict)) return 'absent';
  return verdict === 'new' || verdict === 'backAgain' ? 'new' : 'unchanged';
}

/** The name under which a SARIF file speaks of the folder that a run assessed; of several, as if one held them all. */
export const sourceRoot = '%SRCROOT%';

/** A finding's places as SARIF keeps them: where it is, how data flows to it, and what else belongs to it; folders are those of `run`, which may be a later one than the finding's own. */
function toLocations(
  shown: ShownFinding,
  run: Run,
): Pick<Result, 'locations' | 'codeFlows' | 'relatedLocations'> {
  // A path that only leads upwards names no file.
  const places = shown.finding.places.filter(({ path }) => toRelativeUri(path) !== '');
  const having = (...roles: (PlaceRole | undefined)[]): Place[] =>
    roles.flatMap((role) => places.filter((place) => place.role === role));
  const own = having(undefined);
  const flow = flowOf({ places });
  const related = having('evidence', 'related');
  const main = own.length > 0 ? own : places.slice(0, 1);
  const flowLocations = flow.map((place) => ({
    kinds: [place.role ?? 'step'],
    location: toLocation(place, shown, run),
  }));
  return {
    locations: main.map((place) => toLocation(place, shown, run)),
    ...(flow.length > 0 && { codeFlows: [{ threadFlows: [{ locations: flowLocations }] }] }),
    ...(related.length > 0 && {
      relatedLocations: related.map((place, index) => ({ id: index + 1, ...toLocation(place, shown, run) })),
    }),
  };
}

/** A place with the lines of the text that was assessed, and with its path in the workspace where it was found there. */
function toLocation(place: Place, { run: { targets }, places }: ShownFinding, run: Run): Location {
  const found = places.find(({ reported }) => reported === place);
  const target = targets[place.targetIndex ?? (targets.length === 1 ? 0 : -1)];
  const [own] = [found, target].flatMap(
    (wanted) => run.targets.find(({ folder }) => folder === wanted?.folder) ?? [],
  );
  const start = own === undefined || run.targets.length === 1 ? '' : `${own.name}/`;
  const { startLine, endLine, startColumn, endColumn, snippet, label } = place;
  const text = snippet === undefined ? undefined : { text: snippet };
  return {
    physicalLocation: {
      artifactLocation: {
        uri: toRelativeUri(`${start}${found?.path ?? place.path}`),
        ...(own !== undefined && { uriBaseId: sourceRoot }),
      },
      ...(startLine !== undefined && {
        region: { startLine, ...known({ endLine, startColumn, endColumn, snippet: text }) },
      }),
    },
    ...(label !== undefined && { message: { text: escaped(label) } }),
  };
}

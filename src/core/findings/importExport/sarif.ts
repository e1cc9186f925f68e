import type { Log, Result, Run as SarifRun } from 'sarif';
import type { ExportSource, ExportTool } from './exportSource.ts';
import type { Finding, Severity } from '../finding.ts';
import { hasAllFindings } from '../chooseRun.ts';
import type { Run } from '../../run/state/run.ts';
import type { ShownFinding } from '../shownFinding.ts';
import { toPlainFinding } from './plainFinding.ts';
import { sarifPlaces, sourceRoot } from './sarifPlaces.ts';
import { createRules, cweReference, cweTaxonomy, type Rules, toScoreText } from './sarifRules.ts';
import { securityScore } from './securityScore.ts';
import { isUndecided, needsNote } from '../triage/triage.ts';

/** A run's findings as a SARIF 2.1.0 log; equal findings give equal text. */
export function toSarif(source: ExportSource, tool: ExportTool): Log {
  const { run, shown, fixed } = source;
  const all = [...shown, ...(fixed ?? [])];
  const rules = createRules(all.map(({ finding }) => finding));
  return {
    $schema: 'https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: {
          driver: {
            name: tool.name,
            semanticVersion: tool.version,
            rules: rules.descriptors,
            supportedTaxonomies: [{ name: 'CWE', index: 0 }],
          },
        },
        invocations: [toInvocation(source)],
        originalUriBaseIds: Object.fromEntries(
          run.targets.map(({ name }, index) => [sourceRoot(run, index), { description: { text: name } }]),
        ),
        taxonomies: [cweTaxonomy(all.flatMap(({ finding }) => finding.cwes))],
        columnKind: 'utf16CodeUnits',
        results: [
          ...shown.map((each) => ({
            ...toResult(each, rules, run),
            ...(fixed === undefined || each.change === undefined ? {} : { baselineState: each.change }),
          })),
          ...(fixed ?? []).map((each) => ({
            ...toResult(each, rules, run),
            baselineState: 'absent' as const,
          })),
        ],
      },
    ],
  };
}

function toInvocation({ run, cut }: ExportSource): NonNullable<SarifRun['invocations']>[number] {
  const { dispatchedAt, exitedAt } = { dispatchedAt: undefined, exitedAt: undefined, ...run };
  const commits = run.targets.flatMap(({ name, commit }) =>
    commit === undefined ? [] : [{ folder: name, commit: commit.id, dirty: commit.dirty }],
  );
  return {
    executionSuccessful: hasAllFindings(run),
    ...(dispatchedAt === undefined ? {} : { startTimeUtc: new Date(dispatchedAt).toISOString() }),
    ...(exitedAt === undefined ? {} : { endTimeUtc: new Date(exitedAt).toISOString() }),
    properties: {
      ...(cut === undefined ? {} : { findingsHere: cut.shown, findingsInAll: cut.total }),
      ...('runId' in run && run.runId !== undefined ? { runId: run.runId } : {}),
      // Not in versionControlProvenance, which wants the repository's address: nobody here knows it.
      ...(commits.length === 0 ? {} : { commits }),
    },
  };
}

function toResult(shown: ShownFinding, rules: Rules, run: Run): Result {
  const { finding, identity, triage } = shown;
  const { fingerprint } = identity;
  const score = securityScore(finding);
  return {
    ...rules.of(finding),
    level: toLevel(finding.severity),
    ...(score === undefined ? {} : { rank: Math.round(score * 10) }),
    message: { text: toMessage(finding) },
    ...sarifPlaces(shown, run),
    partialFingerprints: { 'whiteboxFinding/v1': fingerprint },
    taxa: finding.cwes.map(cweReference),
    ...(needsNote(triage.state)
      ? { suppressions: [{ kind: 'external', status: 'accepted', justification: triage.note }] }
      : {}),
    properties: {
      ...(score === undefined ? {} : { 'security-severity': toScoreText(score) }),
      // Whole: SARIF has no home for recommendations, further prose, ratings as written and paths as told.
      whitebox: {
        finding: toPlainFinding(finding),
        fingerprint,
        ...(isUndecided(triage) ? {} : { triage }),
      },
    },
  };
}

function toLevel(severity: Severity): NonNullable<Result['level']> {
  switch (severity) {
    case 'critical':
    case 'high':
      return 'error';
    case 'medium':
    case 'unrated':
      return 'warning';
    case 'low':
      return 'note';
    case 'none':
      return 'none';
  }
}

/** Title and description; what SARIF would take for a link (3.11.6) stays text. */
function toMessage({ id, title, description }: Finding): string {
  const text = title === '' ? id : title;
  const rest = description === '' || description === title ? '' : `\n\n${description}`;
  return `${text}${rest}`.replaceAll('](', ']\\(');
}

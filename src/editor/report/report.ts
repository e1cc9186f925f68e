import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { AssessmentError } from '../../core/errors.ts';
import { countVerdicts, isReported } from '../../core/findings/compare/verdict.ts';
import type { FindingStore } from '../../core/findings/findingStore.ts';
import type { ShownFinding, ShownPlace, ShownRun } from '../../core/findings/shownFinding.ts';
import { placeLinks } from '../../core/findings/place/runPlaces.ts';
import { SEVERITIES } from '../../core/findings/finding.ts';
import type { ReportContent } from '../../core/report/protocol.ts';
import { coverageOf } from '../../core/run/state/coverage.ts';
import { elapsedMs, type Run, runIdOf, titleOf } from '../../core/run/state/run.ts';
import type { RunStore } from '../../core/run/disk/runStore.ts';
import {
  countFindings,
  describeCoverage,
  describeZero,
  formatDuration,
  formatNumber,
  formatTime,
} from '../formats.ts';
import { visibleLine } from '../../core/visibleText.ts';
import { commitLabel, severityLabel, stateLabel, verdictHeading } from '../labels.ts';
import { placeNow, revealPlace } from '../findings/code/goToFinding.ts';
import { findInRun } from '../findings/findingArguments.ts';
import { DocumentPanels, type PanelDeps, type PanelDocument } from './documentPanels.ts';

/** A larger report is opened as text. */
const maxReportBytes = 20_000_000;

/** The panels of runs' reports, one for each run. */
export function registerReports(
  deps: PanelDeps & { runs: RunStore; findings: FindingStore },
): DocumentPanels<Run> {
  const { runs } = deps;
  return new DocumentPanels<Run>({
    ...deps,
    viewType: 'whitebox.report',
    panels: 'onePerDocument',
    load: () => runs.reload(),
    find: (id) => runs.get(id),
    toDocument: (run) => toReport(run, deps),
    onDidChange: (refresh) => runs.onDidChange(({ id }) => refresh(id)),
  });
}

/** A run's report as the panel shows it: the downloaded Markdown with a summary of what is known here, and links to the code. */
export function toReport(run: Run, deps: { runs: RunStore; findings: FindingStore }): PanelDocument {
  let linked: readonly ShownFinding[] = [];
  let places: readonly ShownPlace[] = [];
  return {
    id: run.id,
    title: vscode.l10n.t('Report: {0}', titleOf(run)),
    load: async () => {
      const file = join(deps.runs.folderOf(run.id), 'report.md');
      const { size } = await stat(file);
      if (size > maxReportBytes) throw new AssessmentError('reportTooLarge', { subject: file, actual: size });
      const markdown = await readFile(file, 'utf8');
      const read = await deps.findings.read(run);
      const links = placeLinks(read.shown);
      linked = read.shown;
      places = [...links.values()];
      return toContent(run, markdown, read, [...links.keys()]);
    },
    openPlace: async (index) => {
      const place = places[index];
      const then = linked.find((shown) => place !== undefined && shown.places.includes(place));
      if (place === undefined || then === undefined) return;
      const current = await findInRun(run, then.finding.index, deps.findings);
      await revealPlace(placeNow(place, then, current));
    },
  };
}

function toContent(
  run: Run,
  markdown: string,
  { shown, cut, failure, absent = [], baseline, baselineCut }: ShownRun,
  labels: readonly string[],
): ReportContent {
  const t = vscode.l10n.t;
  const coverage = coverageOf(run);
  const runId = runIdOf(run);
  const commits = run.targets.flatMap(({ commit }) => (commit === undefined ? [] : [commitLabel(commit)]));
  return {
    parts: [{ markdown }],
    title: titleOf(run),
    facts: [
      { label: t('State'), value: stateLabel(run) },
      ...(run.state === 'imported'
        ? [{ label: t('Source'), value: t('Imported from {0}', run.importedFrom) }]
        : [
            {
              label: t('Started'),
              value: formatTime('dispatchedAt' in run ? (run.dispatchedAt ?? run.createdAt) : run.createdAt),
            },
            { label: t('Duration'), value: formatDuration(elapsedMs(run, run.createdAt)) },
          ]),
      ...(coverage === undefined ? [] : [{ label: t('Source'), value: describeCoverage(coverage) }]),
      ...(commits.length === 0 ? [] : [{ label: t('Commit'), value: commits.join(', ') }]),
      ...(runId === undefined ? [] : [{ label: t('Run ID'), value: visibleLine(runId) }]),
      ...(failure === undefined
        ? []
        : [{ label: t('Findings'), value: t('unknown: the findings file is missing or can’t be read') }]),
      ...(cut === undefined
        ? []
        : [
            {
              label: t('Findings'),
              value: t('the {0} most severe of {1}', formatNumber(cut.shown), countFindings(cut.total)),
            },
          ]),
    ],
    // Unreadable findings are not counted as none.
    severities: (failure === undefined ? SEVERITIES : []).map((severity) => ({
      severity,
      label: severityLabel(severity),
      count: shown.filter(({ finding }) => finding.severity === severity).length,
    })),
    ...(failure === undefined && shown.length === 0 ? { noFindings: describeZero(run) } : {}),
    ...(baseline === undefined ? {} : { changes: toChanges(baseline, [...shown, ...absent], baselineCut) }),
    places: labels.map((label, index) => ({ index, label })),
    language: run.language === 'japanese' ? 'ja' : 'en',
  };
}

function toChanges(
  baseline: Run,
  shown: readonly ShownFinding[],
  baselineCut: ShownRun['baselineCut'],
): NonNullable<ReportContent['changes']> {
  return {
    label: vscode.l10n.t('Since the run of {0}', formatTime(baseline.createdAt)),
    // What the run before did not report either is no change since then.
    counts: countVerdicts(shown.filter(({ verdict, run }) => isReported(verdict) || run.id === baseline.id))
      // Beside a run that was cut, nobody knows what is new.
      .filter(({ verdict, count }) => count > 0 || (verdict === 'new' && baselineCut === undefined))
      .map(({ verdict, count }) => ({ label: verdictHeading(verdict), count })),
  };
}

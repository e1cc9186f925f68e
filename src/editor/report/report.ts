import { readFile, stat } from 'node:fs/promises';
import * as vscode from 'vscode';
import { AssessmentError } from '../../core/errors.ts';
import { countVerdicts, isReported } from '../../core/findings/result/result.ts';
import type { FindingStore } from '../../core/findings/findingStore.ts';
import type { ShownFinding, ShownLocation, ShownRun } from '../../core/findings/shownFinding.ts';
import { locationLinks } from '../../core/findings/view/findingMarkdown.ts';
import { SEVERITIES } from '../../core/findings/finding.ts';
import type { ReportContent } from '../../core/report/protocol.ts';
import { coverageOf } from '../../core/upload/choose/coverage.ts';
import { artifactPath, elapsedMs, type Run, runIdOf } from '../../core/run/state/run.ts';
import type { RunStore } from '../../core/run/disk/runStore.ts';
import {
  countFindings,
  describeCoverage,
  describeZero,
  formatDuration,
  formatList,
  formatNumber,
  formatTime,
} from '../formats.ts';
import { visibleLine } from '../../core/visibleText.ts';
import { commitLabel, runStateLabel, titleOf } from '../runs/runLabels.ts';
import { severityLabel, verdictHeading } from '../findingLabels.ts';
import { currentLocationOf, revealLocation } from '../findings/code/goToFinding.ts';
import { findInRun, readRun } from '../findings/findingArguments.ts';
import { DocumentPanels, type PanelDeps, type PanelDocument } from './documentPanels.ts';

const t = vscode.l10n.t;

const maxReportBytes = 20_000_000;

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
    onDidChange: (refresh) => runs.onDidChange((changed) => changed.forEach(({ id }) => refresh(id))),
  });
}

export function toReport(run: Run, deps: { runs: RunStore; findings: FindingStore }): PanelDocument {
  let linked: readonly ShownFinding[] = [];
  let locations: readonly ShownLocation[] = [];
  return {
    id: run.id,
    title: t('Report: {0}', titleOf(run)),
    load: async () => {
      const file = artifactPath(run, 'report', deps.runs.folderOf(run.id));
      const { size } = await stat(file);
      if (size > maxReportBytes) throw new AssessmentError('reportTooLarge', { subject: file, actual: size });
      const markdown = await readFile(file, 'utf8');
      const read = await readRun(run, deps.findings);
      const links = locationLinks(read.shown);
      linked = read.shown;
      locations = [...links.values()];
      return toContent(run, markdown, read, [...links.keys()]);
    },
    openLocation: async (index) => {
      const location = locations[index];
      const finding = linked.find((shown) => location !== undefined && shown.locations.includes(location));
      if (location === undefined || finding === undefined) return;
      const current = await findInRun(run, finding.name, deps.findings);
      await revealLocation(currentLocationOf(location, finding, current));
    },
  };
}

function toContent(run: Run, markdown: string, read: ShownRun, labels: readonly string[]): ReportContent {
  const { shown, failure, absent = [], baseline, baselineCut } = read;
  return {
    parts: [{ markdown }],
    title: titleOf(run),
    facts: factsOf(run, read),
    // If the findings can't be read, their number is unknown, so no counts are shown.
    severities: (failure === undefined ? SEVERITIES : []).map((severity) => ({
      severity,
      label: severityLabel(severity),
      count: shown.filter(({ finding }) => finding.severity === severity).length,
    })),
    ...(failure === undefined && shown.length === 0 ? { noFindings: describeZero(run) } : {}),
    ...(baseline === undefined ? {} : { changes: toChanges(baseline, [...shown, ...absent], baselineCut) }),
    locations: labels.map((label, index) => ({ index, label })),
    language: run.language === 'japanese' ? 'ja' : 'en',
  };
}

function factsOf(run: Run, { cut, failure }: ShownRun): ReportContent['facts'] {
  const facts: { label: string; value: string }[] = [];
  const add = (label: string, value: string): void => void facts.push({ label, value });
  add(t('State'), runStateLabel(run));
  if (run.state === 'imported') add(t('Source'), t('Imported from {0}', run.importedFrom));
  else {
    const startedAt = 'dispatchedAt' in run ? run.dispatchedAt : undefined;
    add(t('Started'), formatTime(startedAt ?? run.createdAt));
    add(t('Duration'), formatDuration(elapsedMs(run, run.createdAt)));
  }
  const coverage = coverageOf(run);
  if (coverage !== undefined) add(t('Source'), describeCoverage(coverage));
  const commits = run.targets.flatMap(({ commit }) => (commit === undefined ? [] : [commitLabel(commit)]));
  if (commits.length > 0) add(t('Commit'), formatList(commits));
  const runId = runIdOf(run);
  if (runId !== undefined) add(t('Run ID'), visibleLine(runId));
  if (failure !== undefined) add(t('Findings'), t('unknown: the findings file is missing or can’t be read'));
  if (cut !== undefined)
    add(t('Findings'), t('the {0} most severe of {1}', formatNumber(cut.shown), countFindings(cut.total)));
  return facts;
}

function toChanges(
  baseline: Run,
  shown: readonly ShownFinding[],
  baselineCut: ShownRun['baselineCut'],
): NonNullable<ReportContent['changes']> {
  return {
    label: t('Since the run from {0}', formatTime(baseline.createdAt)),
    // A finding that the baseline did not report either is not a change.
    counts: countVerdicts(shown.filter(({ verdict, run }) => isReported(verdict) || run.id === baseline.id))
      // If the baseline's findings were cut, it is unknown which are new.
      .filter(({ verdict, count }) => count > 0 || (verdict === 'new' && baselineCut === undefined))
      .map(({ verdict, count }) => ({ label: verdictHeading(verdict), count })),
  };
}

import * as vscode from 'vscode';
import { hasFindings, isOfSameFolders } from '../../core/findings/chooseRun.ts';
import {
  countTrend,
  type Limitation,
  maxTrendRuns,
  runsOfTrend,
  type TracedRuns,
  traceTrend,
  type TrendRow,
} from '../../core/findings/result/trend.ts';
import type { ResultSource } from '../../core/findings/result/readResult.ts';
import type { TriageStore } from '../../core/findings/triage/triageStore.ts';
import type { ReportContent, TrendContent } from '../../core/report/protocol.ts';
import type { RunStore } from '../../core/run/disk/runStore.ts';
import { foldersOfRuns, type Run } from '../../core/run/state/run.ts';
import { compact, countFindings, formatList, formatNumber, formatTime } from '../formats.ts';
import { severityLabel } from '../findingLabels.ts';
import { withProgress } from '../progress.ts';
import { pickRun } from '../runs/pickRun.ts';
import { DocumentPanels, type PanelDeps, type PanelDocument } from './documentPanels.ts';
import { titleOf } from '../runs/runLabels.ts';

const t = vscode.l10n.t;

type TrendDeps = PanelDeps &
  ResultSource & {
    readonly runs: RunStore;
    readonly triage: TriageStore;
  };

/** Without `traced`, as in a restored panel, the findings are read. */
interface Trend {
  readonly run: Run;
  readonly traced?: TracedRuns;
}

export class TrendPanels extends DocumentPanels<Trend> {
  readonly #deps: TrendDeps;

  constructor(deps: TrendDeps) {
    super({
      ...deps,
      viewType: 'whitebox.trend',
      panels: 'onePerDocument',
      load: () => deps.runs.reload(),
      find: (id) => {
        const run = deps.runs.get(id);
        return run && { run };
      },
      toDocument: (trend) => toTrend(trend, deps),
      onDidChange: (refresh) => deps.triage.onDidChange(() => refresh()),
    });
    this.#deps = deps;
  }

  async showTrend(chosen: Run | undefined): Promise<void> {
    const { runs } = this.#deps;
    const none = t(
      'To show a trend, you need a run whose findings file is on this machine. Imported findings don’t count.',
    );
    const tracked = runs.all().filter((run) => hasFindings(run) && run.state !== 'imported');
    const latest = tracked.filter((run) => tracked.find((other) => isOfSameFolders(other, run)) === run);
    const candidates = chosen === undefined ? latest : tracked.filter(({ id }) => id === chosen.id);
    const run = await pickRun(candidates, t('Show Trend'), none);
    if (run !== undefined) this.open({ run, traced: await trace(run, this.#deps) });
  }
}

export function toTrend({ run, traced }: Trend, deps: TrendDeps): PanelDocument {
  const { triage } = deps;
  let known = traced;
  return {
    id: run.id,
    title: titleFor(run),
    load: async () => {
      known ??= await trace(run, deps);
      await triage.load(foldersOfRuns(known.map((each) => each.run)));
      return toContent(run, countTrend(known, triage));
    },
  };
}

function trace(run: Run, deps: TrendDeps): Thenable<TracedRuns> {
  const runs = runsOfTrend(deps.runs.all(), run);
  return withProgress(t('Reading the findings…'), (report, signal) =>
    traceTrend(runs, deps, {
      onRun: (done) => report(`${formatNumber(done)}/${formatNumber(runs.length)}`),
      signal,
    }),
  );
}

function titleFor(run: Run): string {
  return t('Trend: {0}', titleOf(run));
}

function toContent(run: Run, rows: readonly TrendRow[]): ReportContent {
  return {
    parts: [],
    title: titleFor(run),
    facts: [],
    severities: [],
    trend: {
      notes: compact(
        t('The counts use today’s triage decisions. Imported findings don’t count.'),
        t('An open finding that a run doesn’t report is still counted until you close it.'),
        rows.length >= maxTrendRuns && t('Only the newest {0} runs are counted.', formatNumber(maxTrendRuns)),
      ),
      headings: [
        t('Run'),
        t('Reported'),
        t('Of these, closed'),
        t('Not reported, cause unknown'),
        t('Not reported, code changed or pair tested again'),
      ],
      legend: t('Findings by run'),
      rows: rows.map(toRow),
    },
    locations: [],
    language: vscode.env.language,
  };
}

function toRow(row: TrendRow): TrendContent['rows'][number] {
  const { run, limitations, reported, unexplained, review: changed } = row;
  const closed = reported.reduce((sum, { closed }) => sum + closed, 0);
  const total = reported.reduce((sum, { count }) => sum + count, 0);
  const bySeverity = reported
    .filter(({ count }) => count > 0)
    .map(({ severity, count }) => `${severityLabel(severity)}: ${formatNumber(count)}`);
  const isUnreadable = limitations.some(({ kind }) => kind === 'unreadable');
  const segments: TrendContent['rows'][number]['segments'] = [
    ...reported.map(({ severity, count, closed }) => ({
      kind: severity,
      label: severityLabel(severity),
      count: count - closed,
    })),
    { kind: 'closed', label: t('Closed'), count: closed },
    { kind: 'unexplained', label: t('Not reported, cause unknown'), count: unexplained },
    { kind: 'review', label: t('Not reported, code changed or pair tested again'), count: changed },
  ];
  return {
    label: compact(formatTime(run.createdAt), run.label).join(' · '),
    notes: limitations.map(limitationLabel),
    counts: isUnreadable
      ? ['–', '–', '–', '–']
      : [
          [formatNumber(total), ...(total === 0 ? [] : [`(${formatList(bySeverity)})`])].join(' '),
          ...[closed, unexplained, changed].map(formatNumber),
        ],
    segments: segments.filter(({ count }) => count > 0),
  };
}

function limitationLabel(limitation: Limitation): string {
  switch (limitation.kind) {
    case 'endedEarly':
      return t('Ended early and may not have assessed everything.');
    case 'onePair':
      return t('Tested only one pair.');
    case 'unreadable':
      return t('The findings file can’t be read.');
    case 'cut': {
      const { shown, total } = limitation.cut;
      return t('Only the {0} most severe of {1} are counted.', formatNumber(shown), countFindings(total));
    }
    case 'fewerFolders':
      return t('Covers {0} of {1} folders.', limitation.folders, limitation.of);
  }
}

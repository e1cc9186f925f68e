import * as vscode from 'vscode';
import { AssessmentError } from '../../core/errors.ts';
import { hasFindings, runsBefore } from '../../core/findings/chooseRun.ts';
import type { FindingStore } from '../../core/findings/findingStore.ts';
import type { Run } from '../../core/run/state/run.ts';
import { nameOf } from '../runs/runLabels.ts';
import { focusView } from '../../lazyView.ts';
import { withLateProgress } from '../progress.ts';
import { pickRun } from '../runs/pickRun.ts';
import { showInformation } from '../showMessage.ts';
import type { FindingStores } from './findingArguments.ts';
import { showRunsAction } from '../errors/errorActions.ts';

const t = vscode.l10n.t;

export async function compareRuns(
  selected: readonly Run[],
  { findings, runs }: FindingStores,
): Promise<void> {
  const none = t(
    'To compare two runs, both must have findings and must have assessed the same folders or target URLs.',
  );
  if (!selected.every(hasFindings)) {
    await showInformation(none, showRunsAction());
    return;
  }
  const all = runs.all().filter(hasFindings);
  const [first, second] = all.filter(({ id }) => selected.some((run) => run.id === id));
  const comparable = all.filter((candidate) => runsBefore(all, candidate).length > 0);
  const run = first ?? (await pickRun(comparable, t('Compare Runs: Which Run?'), none));
  if (run === undefined) return;
  const earlier = runsBefore(all, run);
  const candidates = second === undefined ? earlier : earlier.filter(({ id }) => id === second.id);
  const baseline = await pickRun(candidates, t('Compare with Which Earlier Run?'), none);
  if (baseline === undefined) return;
  await showComparison(run, baseline, findings);
  await focusView('findings');
}

async function showComparison(run: Run, baseline: Run, findings: FindingStore): Promise<void> {
  try {
    const title = t('Comparing the runs…');
    await withLateProgress(title, (signal) => findings.showComparison(run, baseline, signal));
  } catch (error) {
    if (!(error instanceof AssessmentError)) throw error;
    const unread = [run, baseline].find(({ id }) => error.data.subject === id);
    if (unread === undefined) throw error;
    throw new AssessmentError(error.kind, { ...error.data, subject: nameOf(unread) }, { cause: error });
  }
}

export async function showAllFindings({ findings }: FindingStores): Promise<void> {
  const comparison = findings.comparison();
  if (comparison !== undefined) await findings.show(comparison.run);
}

import * as vscode from 'vscode';
import { AssessmentError } from '../core/errors.ts';
import { runsBefore } from '../core/findings/compare.ts';
import type { FindingStore } from '../core/findings/findingStore.ts';
import { hasFindings } from '../core/findings/folderRuns.ts';
import type { Run } from '../core/run/run.ts';
import type { RunStore } from '../core/run/runStore.ts';
import { nameOf } from './labels.ts';
import { pickRun } from './pickRun.ts';
import { runOf } from './runCommands.ts';

/** What comparing runs works with. */
export interface CompareDeps {
  readonly findings: FindingStore;
  readonly runs: RunStore;
}

/** Shows what is new, fixed and unchanged from one run to a later one of the same folders: the runs a menu was called on, else those that a person picks. */
export async function compareRuns(args: readonly unknown[], { findings, runs }: CompareDeps): Promise<void> {
  const t = vscode.l10n.t;
  const nodes = Array.isArray(args[1]) && args[1].length > 1 ? (args[1] as unknown[]) : [args[0]];
  const called = new Set(nodes.flatMap((node) => runOf(node, runs)?.id ?? []));
  const [first, second] = runs.all().filter(({ id }) => called.has(id));
  const all = runs.all().filter(hasFindings);
  const none = t('Two runs can be compared when both have findings and assessed the same folders.');
  const later = all.filter((each) => runsBefore(all, each).length > 0);
  const run = first ?? (await pickRun(later, t('Compare Runs: Which Run?'), none));
  if (run === undefined) return;
  const earlier = runsBefore(all, run);
  const candidates = second === undefined ? earlier : earlier.filter(({ id }) => id === second.id);
  const baseline = await pickRun(candidates, t('Compare with Which Run Before?'), none);
  if (baseline === undefined) return;
  await showComparison(run, baseline, findings);
  await vscode.commands.executeCommand('whitebox.findings.focus');
}

async function showComparison(run: Run, baseline: Run, findings: FindingStore): Promise<void> {
  try {
    await findings.showComparison(run, baseline);
  } catch (error) {
    const unread = [run, baseline].find(
      ({ id }) => error instanceof AssessmentError && error.data.subject === id,
    );
    if (unread === undefined || !(error instanceof AssessmentError)) throw error;
    const data = { ...error.data, subject: nameOf(unread) };
    throw new AssessmentError(error.kind, data, { cause: error });
  }
}

/** Shows a run's findings again in the place of a comparison. */
export async function showAllFindings({ findings }: CompareDeps): Promise<void> {
  const comparison = findings.comparison();
  if (comparison === undefined) return;
  await findings.show(comparison.run);
}

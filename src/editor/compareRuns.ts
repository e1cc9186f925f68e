import * as vscode from 'vscode';
import { AssessmentError } from '../core/errors.ts';
import type { FindingStore } from '../core/findings/findingStore.ts';
import { hasFindings } from '../core/findings/folderRuns.ts';
import { type Run, titleOf } from '../core/run/run.ts';
import type { RunStore } from '../core/run/runStore.ts';
import { formatTime } from './formats.ts';
import { commitLabel } from './labels.ts';
import { runOf } from './runCommands.ts';
import { showInformation } from './showMessage.ts';

/** What comparing runs works with. */
export interface CompareDeps {
  readonly findings: FindingStore;
  readonly runs: RunStore;
}

/** Shows what is new, fixed and unchanged from one run to a later one of the same folders: the runs a menu was called on, else those that a person picks. */
export async function compareRuns(args: readonly unknown[], { findings, runs }: CompareDeps): Promise<void> {
  const t = vscode.l10n.t;
  const nodes = Array.isArray(args[1]) && args[1].length > 1 ? (args[1] as unknown[]) : [args[0]];
  const [first, second] = nodes.flatMap((node) => runOf(node, runs) ?? []).sort(newestFirst);
  const all = runs.all().filter(hasFindings).sort(newestFirst);
  const isLater = (each: Run): boolean => before(each, all).length > 0;
  const run = first ?? (await pickRun(t('Compare Runs: Which Run?'), all.filter(isLater)));
  if (run === undefined) return;
  const earlier = before(run, all);
  const candidates = second === undefined ? earlier : earlier.filter(({ id }) => id === second.id);
  const baseline = await pickRun(t('Compare with Which Run Before?'), candidates);
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
    // People know runs by their time.
    const data = { ...error.data, subject: formatTime(unread.createdAt) };
    throw new AssessmentError(error.kind, data, { cause: error });
  }
}

/** Shows a run's findings again in the place of a comparison. */
export async function showAllFindings({ findings }: CompareDeps): Promise<void> {
  const comparison = findings.comparison();
  if (comparison === undefined) return;
  await findings.show(comparison.run);
}

/** The only one, or which a person picks; undefined, said so, when there is none. */
async function pickRun(title: string, candidates: readonly Run[]): Promise<Run | undefined> {
  if (candidates.length === 0) {
    const message = vscode.l10n.t(
      'Two runs can be compared when both have findings and assessed the same folders.',
    );
    void showInformation(message);
  }
  if (candidates.length <= 1) return candidates[0];
  const items = candidates.map((run) => ({
    label: formatTime(run.createdAt),
    description: [
      titleOf(run),
      ...run.targets.flatMap(({ commit }) => (commit === undefined ? [] : [commitLabel(commit)])),
    ].join(' · '),
    run,
  }));
  return (await vscode.window.showQuickPick(items, { title }))?.run;
}

/** The runs before one, of the same folders, the latest first. */
function before(run: Run, all: readonly Run[]): Run[] {
  const folders = foldersOf(run);
  return all.filter(
    (each) => each.id !== run.id && newestFirst(run, each) < 0 && foldersOf(each) === folders,
  );
}

function foldersOf({ targets }: Run): string {
  return JSON.stringify([...new Set(targets.map(({ folder }) => folder))].sort());
}

function newestFirst(one: Run, other: Run): number {
  return other.createdAt - one.createdAt || (one.id < other.id ? 1 : -1);
}

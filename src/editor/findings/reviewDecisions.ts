import { basename } from 'node:path';
import * as vscode from 'vscode';
import type { FindingStore } from '../../core/findings/findingStore.ts';
import type { ShownFinding } from '../../core/findings/shownFinding.ts';
import { asOf, dayAfter } from '../../core/findings/triage/triage.ts';
import type { NewDecision, TriageStore } from '../../core/findings/triage/triageStore.ts';
import { clip, visibleLine } from '../../core/visibleText.ts';
import { formatNumber, moreLabel } from '../formats.ts';
import { decisionLabel } from '../findingLabels.ts';
import { showInformation } from '../showMessage.ts';
import { subjectLabel } from './triage.ts';

const t = vscode.l10n.t;

export interface SharedDecisionDeps {
  readonly triage: TriageStore;
  readonly findings: FindingStore;
}

interface Row extends vscode.QuickPickItem {
  readonly act?: () => unknown;
  readonly reject?: () => Promise<void>;
}

const maxListed = 500;
const maxTextLength = 200;

/**
 * A decision's row is active at first, so pressing Enter at once accepts nothing. The row names the
 * finding that *Accept* changes, whatever the decision's file says. A decision without a finding
 * here can't be accepted.
 */
export async function reviewSharedDecisions(argument: unknown, deps: SharedDecisionDeps): Promise<void> {
  const { findings } = deps;
  const shared = [...findings.sharedDecisions(await findings.latestFindings())];
  const chosen = shared.find(([folder]) => folder === argument) ?? (await pickShared(shared));
  if (chosen === undefined) return;
  const [folder, decisions] = chosen;
  const pick = vscode.window.createQuickPick<Row>();
  pick.title = t('Review Shared Decisions: {0}', basename(folder));
  pick.placeholder = t('A decision hides nothing until you accept it.');
  pick.matchOnDescription = true;
  pick.matchOnDetail = true;
  pick.items = rowsOf(folder, decisions, deps);
  pick.activeItems = pick.items.filter(({ reject }) => reject !== undefined).slice(0, 1);
  const act = await new Promise<Row['act']>((resolve) => {
    pick.onDidAccept(() => resolve(pick.selectedItems[0]?.act));
    pick.onDidTriggerItemButton(({ item: { reject } }) =>
      resolve(async () => {
        await reject?.();
        if (decisions.length > 1) await reviewSharedDecisions(folder, deps);
      }),
    );
    pick.onDidHide(() => resolve(undefined));
    pick.show();
  });
  pick.dispose();
  await act?.();
}

type Decisions = readonly NewDecision<ShownFinding>[];
type Shared = readonly [folder: string, decisions: Decisions];

async function pickShared(shared: readonly Shared[]): Promise<Shared | undefined> {
  if (shared.length === 0)
    void showInformation(t('The folders with findings contain no new triage decisions by other people.'));
  if (shared.length <= 1) return shared[0];
  const items = shared.map((each) => ({
    label: basename(each[0]),
    description: t('New: {0}', formatNumber(each[1].filter(({ about }) => about !== undefined).length)),
    each,
  }));
  return (await vscode.window.showQuickPick(items, { title: t('Review Shared Decisions') }))?.each;
}

function rowsOf(folder: string, decisions: Decisions, { triage }: SharedDecisionDeps): Row[] {
  const { matched = [], unmatched = [] } = Object.groupBy(decisions, ({ about }) =>
    about === undefined ? 'unmatched' : 'matched',
  );
  const listed = [...matched, ...unmatched].slice(0, maxListed);
  const icon = (name: string) => ({ iconPath: new vscode.ThemeIcon(name) });
  const accept: Row = {
    ...icon('check'),
    label: t('Accept'),
    description: t('The decisions below that have a finding apply on this machine.'),
    ...(triage.isNewHere(folder) && {
      detail: t('After a container is rebuilt, your own earlier decisions are also listed below.'),
    }),
    act: () => triage.accept(folder, listed),
  };
  const reject: Row = {
    ...icon('close'),
    label: t('Reject'),
    description: t('The decisions below hide nothing on this machine. Their files don’t change.'),
    act: () => triage.reject(folder, listed),
  };
  const today = dayAfter(Date.now());
  const rows = listed.map((decision) => ({
    ...rowOf(decision, today),
    buttons: [{ ...icon('close'), tooltip: t('Reject') }],
    reject: () => triage.reject(folder, [decision]),
  }));
  const more = decisions.length - listed.length;
  const separator = (label: string) => ({ label, kind: vscode.QuickPickItemKind.Separator });
  return [
    ...(matched.length > 0 ? [accept] : []),
    reject,
    ...(matched.length > 0 ? [separator(t('New: {0}', formatNumber(matched.length)))] : []),
    ...rows.slice(0, matched.length),
    ...(unmatched.length > 0 ? [separator(t('No finding: {0}', formatNumber(unmatched.length)))] : []),
    ...rows.slice(matched.length),
    ...(more > 0 ? [{ label: moreLabel(more) }] : []),
  ];
}

function rowOf({ path, entry, about }: NewDecision<ShownFinding>, today: string): Row {
  const decision = {
    label: decisionLabel(asOf(entry, today)),
    detail: visibleLine(clip(entry.note, maxTextLength)),
  };
  if (about === undefined)
    return {
      ...decision,
      description: visibleLine(basename(path)),
      act: () => vscode.window.showTextDocument(vscode.Uri.file(path)),
    };
  return {
    ...decision,
    label: `${decision.label} — ${subjectLabel([about])}`,
    description: visibleLine(about.locations[0]?.path ?? about.finding.locations[0]?.path ?? ''),
    act: () => vscode.commands.executeCommand('whitebox.showFindingDetails', { shown: about }),
  };
}

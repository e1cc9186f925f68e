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
import { toArgument } from './findingArguments.ts';
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

/** Lists the new decisions of others that came with a folder: a person accepts or rejects them. A first Enter accepts nothing. */
export async function reviewSharedDecisions(argument: unknown, deps: SharedDecisionDeps): Promise<void> {
  const shared = [...deps.findings.sharedDecisions()];
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
        if (deps.findings.sharedDecisions().has(folder)) await reviewSharedDecisions(folder, deps);
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
    description: t('New: {0}', formatNumber(each[1].length)),
    each,
  }));
  return (await vscode.window.showQuickPick(items, { title: t('Review Shared Decisions') }))?.each;
}

function rowsOf(folder: string, decisions: Decisions, { triage }: SharedDecisionDeps): Row[] {
  const listed = decisions.slice(0, maxListed);
  const icon = (name: string) => ({ iconPath: new vscode.ThemeIcon(name) });
  const accept: Row = {
    ...icon('check'),
    label: t('Accept'),
    description: t('The decisions below apply on this machine.'),
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
  const more = decisions.length - listed.length;
  return [
    accept,
    reject,
    { label: t('New: {0}', formatNumber(decisions.length)), kind: vscode.QuickPickItemKind.Separator },
    ...proposalRows(listed).map((row, at) => ({
      ...row,
      reject: () => triage.reject(folder, listed.slice(at, at + 1)),
    })),
    ...(more > 0 ? [{ label: moreLabel(more) }] : []),
  ];
}

/** A row names the finding that *Accept* applies the decision to: its file may claim a different one. */
function proposalRows(listed: Decisions): readonly Row[] {
  const today = dayAfter(Date.now());
  const buttons = [{ iconPath: new vscode.ThemeIcon('close'), tooltip: t('Reject') }];
  return listed.map(({ path, entry, about }) => {
    const subject =
      about === undefined
        ? t(
            'no matching finding (named “{0}” in the decision file)',
            visibleLine(clip(entry.title, maxTextLength)),
          )
        : subjectLabel([about]);
    return {
      label: `${decisionLabel(asOf(entry, today))} — ${subject}`,
      description: visibleLine(about?.places[0]?.path ?? clip(entry.path, maxTextLength)),
      detail: visibleLine(clip(entry.note, maxTextLength)),
      buttons,
      act: () =>
        about === undefined
          ? vscode.window.showTextDocument(vscode.Uri.file(path))
          : vscode.commands.executeCommand('whitebox.showFindingDetails', toArgument(about)),
    };
  });
}

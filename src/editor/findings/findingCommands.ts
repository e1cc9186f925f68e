import * as vscode from 'vscode';
import type { ShownFinding } from '../../core/findings/shownFinding.ts';
import { type ConfirmDeps, confirmLive } from '../blackbox/confirmLive.ts';
import { copyUrl, openUrl } from '../blackbox/findingUrl.ts';
import { copyFindings, fixWithAgent } from '../agents/agentHandOff.ts';
import { openAsAssessed } from './code/asAssessed.ts';
import { showAttackPath } from './code/attackPath.ts';
import { type CompareDeps, showAllFindings } from './compareRuns.ts';
import type { DocumentPanels } from '../report/documentPanels.ts';
import { findingOf, type FindingSources, findingsOf, sayNoFinding } from './findingArguments.ts';
import { showFindingJson } from './rawFindings.ts';
import { filterFindings, type Filtering, groupFindings } from './tree/filtering.ts';
import { shareFinding } from './shareFinding.ts';
import { setTriage, subjectLabel, type TriageDeps } from './setTriage.ts';

/** What commands on findings and on their view need. */
export interface FindingCommandDeps extends TriageDeps, CompareDeps, FindingSources, ConfirmDeps {
  readonly details: DocumentPanels<ShownFinding>;
  readonly filtering: Filtering;
}

/** The handlers of the Findings view's commands, by id. */
export function createFindingCommands(
  deps: FindingCommandDeps,
): readonly (readonly [string, (...args: unknown[]) => Promise<unknown>])[] {
  const { findings, filtering } = deps;
  return [
    ['whitebox.filterFindings', () => filterFindings(filtering, findings)],
    ['whitebox.groupFindings', () => groupFindings(filtering)],
    ['whitebox.showAllFindings', () => showAllFindings(deps)],
    ['whitebox.clearFilters', () => filtering.filterBy({})],
    [
      'whitebox.setTriage',
      async (...args) => {
        const shown = await subjectsOf(args, deps);
        if (shown !== undefined) await setTriage(shown, deps);
      },
    ],
    [
      'whitebox.copyFinding',
      async (...args) => {
        const shown = await subjectsOf(args, deps);
        if (shown !== undefined) await copyFindings(shown);
      },
    ],
    [
      'whitebox.fixWithAgent',
      async (...args) => {
        const shown = await subjectsOf(args, deps);
        if (shown !== undefined) await fixWithAgent(shown);
      },
    ],
    ['whitebox.showFindingJson', onOne(showFindingJson, deps)],
    ['whitebox.confirmLive', onOne((shown) => confirmLive(shown, deps), deps)],
    ['whitebox.copyUrl', onOne(copyUrl, deps)],
    ['whitebox.openUrl', onOne(openUrl, deps)],
    ['whitebox.shareFinding', onOne(shareFinding, deps)],
    ['whitebox.showAttackPath', onOne((shown) => showAttackPath(shown, findings), deps)],
    ['whitebox.openAsAssessed', onOne((shown) => openAsAssessed(shown, deps), deps)],
  ];
}

/** A command on the finding that it is called on. */
function onOne(
  act: (shown: ShownFinding) => Promise<unknown>,
  deps: FindingSources,
): (...args: unknown[]) => Promise<void> {
  return async (...args) => {
    const shown = findingOf(args, deps);
    if (shown === undefined) sayNoFinding();
    else await act(shown);
  };
}

/** The findings that a person means, undefined when they cancel. From the palette, asks which: the one whose details have the focus, one of those at the cursor, or those selected in the view. */
async function subjectsOf(
  args: readonly unknown[],
  deps: FindingCommandDeps,
): Promise<readonly ShownFinding[] | undefined> {
  const t = vscode.l10n.t;
  const given = findingsOf(args, deps);
  if (args[0] !== undefined) return given;
  const selected = deps.findingsView.visible ? findingsOf([{ kind: 'selection' }], deps) : [];
  if (selected.length > 0 && given.every((shown) => selected.includes(shown))) return selected;
  const items = given.map((shown) => ({
    label: subjectLabel([shown]),
    description: deps.details.active() === undefined ? t('at the cursor') : t('in the details'),
    shown: [shown],
  }));
  if (selected.length > 0)
    items.push({
      label: subjectLabel(selected),
      description: t('selected in the Findings view'),
      shown: [...selected],
    });
  if (items.length <= 1) return given;
  return (await vscode.window.showQuickPick(items, { title: t('Which Findings?') }))?.shown;
}

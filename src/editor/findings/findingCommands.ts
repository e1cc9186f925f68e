import * as vscode from 'vscode';
import { isLiveFinding } from '../../core/findings/finding.ts';
import type { DetailedFinding, ShownFinding } from '../../core/findings/shownFinding.ts';
import { checkWhetherFixed } from '../agents/checkWhetherFixed.ts';
import { type ConfirmDeps, confirmLive } from '../blackbox/confirmLive.ts';
import type { DocumentPanels } from '../report/documentPanels.ts';
import { askInDialog, showInformation } from '../showMessage.ts';
import type { BranchComparison } from './changedOnBranch.ts';
import { showFindingJson } from './findingDetails.ts';
import { openAsAssessed } from './code/asAssessed.ts';
import { showAttackPath } from './code/attackPath.ts';
import type { TextSources } from './code/fileTexts.ts';
import { createFindingNavigation, revealFinding } from './code/goToFinding.ts';
import { showAllFindings } from './compareRuns.ts';
import {
  findingOf,
  type FindingSources,
  type FindingStores,
  findingsOf,
  showNoFinding,
} from './findingArguments.ts';
import { mapFindingPaths } from './mapPaths.ts';
import { copyFindings, fixWithAgent, shareFinding } from './shareFindings.ts';
import { reviewSharedDecisions, type SharedDecisionDeps } from './reviewDecisions.ts';
import type { Filtering } from './tree/filtering.ts';
import { filterFindings, groupFindings } from './tree/filterPicks.ts';
import { extendAcceptance, setTriage, subjectLabel, type TriageDeps } from './triage.ts';

const t = vscode.l10n.t;

export interface FindingCommandDeps
  extends TriageDeps, FindingStores, TextSources, FindingSources, ConfirmDeps, SharedDecisionDeps {
  readonly details: DocumentPanels<ShownFinding>;
  readonly filtering: Filtering;
  readonly branch: BranchComparison;
  readonly secretWorkerFile: string;
}

type Handler = (...args: unknown[]) => unknown;

export function createFindingCommands(deps: FindingCommandDeps): Readonly<Record<string, Handler>> {
  const { findings, filtering, branch } = deps;
  const goToFinding = createFindingNavigation(deps.displayed);
  const onOne =
    (act: (shown: ShownFinding) => unknown): Handler =>
    async (...args) => {
      const shown = findingOf(args, deps);
      if (shown === undefined) showNoFinding();
      else await act(shown);
    };
  const onDetailed = (act: (shown: DetailedFinding) => unknown): Handler =>
    onOne(async (shown) => {
      const [detailed] = await findings.withDetails([shown]);
      await act(detailed);
    });
  const onAll =
    (act: (shown: readonly ShownFinding[]) => unknown): Handler =>
    async (...args) => {
      const shown = await chooseFindings(args, deps);
      if (shown?.length === 0) showNoFinding();
      else if (shown !== undefined) await act(shown);
    };
  return {
    'whitebox.filterFindings': () => filterFindings(filtering, findings, branch),
    'whitebox.showChangedOnBranch': () => branch.turnOn(),
    'whitebox.showUnchanged': () => branch.turnOff(),
    'whitebox.groupFindings': () => groupFindings(filtering),
    'whitebox.showAllFindings': () => showAllFindings(deps),
    'whitebox.clearFilters': () => filtering.filterBy({}),
    'whitebox.mapFindingPaths': () => mapFindingPaths(findings),
    'whitebox.nextFinding': () => goToFinding(1),
    'whitebox.previousFinding': () => goToFinding(-1),
    'whitebox.revealFinding': (...args) => revealFinding(findingOf(args, deps)),
    'whitebox.showFindingDetails': onOne((shown) => deps.details.open(shown)),
    'whitebox.setTriage': onAll((shown) => setTriage(shown, deps)),
    'whitebox.extendAcceptance': onAll((shown) => extendAcceptance(shown, deps)),
    'whitebox.reviewSharedDecisions': (folder) => reviewSharedDecisions(folder, deps),
    'whitebox.copyFinding': onAll(async (shown) => copyFindings(await findings.withDetails(shown), deps)),
    'whitebox.fixWithAgent': onAll(async (shown) => fixWithAgent(await findings.withDetails(shown), deps)),
    'whitebox.checkWhetherFixed': onDetailed((shown) => checkWhetherFixed(shown, deps)),
    'whitebox.showFindingJson': onOne(showFindingJson),
    'whitebox.confirmLive': onOne((shown) =>
      isLiveFinding(shown.finding) ? showAlreadyLive() : confirmLive(shown, deps),
    ),
    'whitebox.copyUrl': onOne(copyUrl),
    'whitebox.openUrl': onOne(openUrl),
    'whitebox.shareFinding': onDetailed((shown) => shareFinding(shown, deps)),
    'whitebox.showAttackPath': onOne((shown) => showAttackPath(shown, findings)),
    'whitebox.openAsAssessed': onOne((shown) => openAsAssessed(shown, deps)),
  };
}

async function chooseFindings(
  args: readonly unknown[],
  deps: FindingCommandDeps,
): Promise<readonly ShownFinding[] | undefined> {
  const found = findingsOf(args, deps);
  if (args[0] !== undefined) return found;
  const selected = deps.findingsView.visible ? findingsOf([{ kind: 'selection' }], deps) : [];
  if (selected.length > 0 && found.every((shown) => selected.includes(shown))) return selected;
  const items = found.map((shown) => ({
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
  if (items.length <= 1) return found;
  return (await vscode.window.showQuickPick(items, { title: t('Which Findings?') }))?.shown;
}

function showAlreadyLive(): void {
  void showInformation(
    t('This finding is from a live application. “Confirm Live…” is for findings in code.'),
  );
}

async function copyUrl({ finding: { url } }: ShownFinding): Promise<void> {
  if (url === undefined) showNoUrl();
  else await vscode.env.clipboard.writeText(url);
}

function showNoUrl(): void {
  void showInformation(t('This finding has no URL.'));
}

/** The URL is part of the finding, so it is untrusted. */
export async function openUrl({ finding: { url } }: ShownFinding): Promise<void> {
  if (url === undefined) {
    showNoUrl();
    return;
  }
  const address = URL.parse(url);
  if (address === null) {
    void showInformation(t('The finding’s URL is incomplete: {0}', url));
    return;
  }
  const open = t('Open in Browser');
  const detail = t(
    'This URL comes from the finding. Opening it sends a request from your browser and may repeat the attack.',
  );
  const question = t('Open this URL? {0}', address.href);
  if ((await askInDialog({ question, detail }, open)) !== open) return;
  // The URL is passed as text: `openExternal` takes only a `Uri`, which encodes `=` and `&` of a
  // query (microsoft/vscode#85930).
  await vscode.commands.executeCommand('vscode.open', address.href);
}

import { basename, join } from 'node:path';
import * as vscode from 'vscode';
import type { FindingStore } from '../../core/findings/findingStore.ts';
import { isSameFinding } from '../../core/findings/identity.ts';
import { decisionFolders } from '../../core/findings/shownFinding.ts';
import {
  type Answer,
  type Proposal,
  withAnswers,
  withoutAccepted,
} from '../../core/findings/triage/acceptance.ts';
import type { SharedDecisions, TriageStore } from '../../core/findings/triage/triageStore.ts';
import type { Clock, Logger } from '../../core/ports.ts';
import { clip, visibleLine } from '../../core/visibleText.ts';
import { describeError } from '../errors/messages.ts';
import { remotesOf } from '../folders.ts';
import { formatNumber, moreLabel } from '../formats.ts';
import { triageLabel } from '../labels.ts';
import { showError, showInformation } from '../showMessage.ts';
import { toArgument } from './findingArguments.ts';
import { subjectLabel } from './triage.ts';

const t = vscode.l10n.t;

export interface SharedDecisionDeps {
  readonly triage: TriageStore;
  readonly findings: FindingStore;
  readonly clock: Clock;
}

interface Row extends vscode.QuickPickItem {
  readonly act?: () => unknown;
  readonly refuse?: () => Promise<void>;
}

const maxListed = 500;
const maxTextLength = 200;

/** Lists the decisions that came with a folder: a person accepts, refuses or resets them. A first Enter accepts nothing. */
export async function reviewSharedDecisions(argument: unknown, deps: SharedDecisionDeps): Promise<void> {
  const shared = deps.triage.shared();
  const folder =
    typeof argument === 'string' && shared.has(argument)
      ? argument
      : await pickShared([...shared].filter(hasAny));
  const decisions = folder === undefined ? undefined : shared.get(folder);
  if (folder === undefined || decisions === undefined) return;
  const pick = vscode.window.createQuickPick<Row>();
  pick.title = t('Review Shared Decisions: {0}', basename(folder));
  pick.placeholder = t('A decision hides nothing until you accept it.');
  pick.matchOnDescription = true;
  pick.matchOnDetail = true;
  pick.items = await rowsOf(folder, decisions, deps);
  pick.activeItems = pick.items.filter(({ refuse }) => refuse !== undefined).slice(0, 1);
  const act = await new Promise<Row['act']>((resolve) => {
    pick.onDidAccept(() => resolve(pick.selectedItems[0]?.act));
    pick.onDidTriggerItemButton(({ item: { refuse } }) =>
      resolve(async () => {
        await refuse?.();
        if ((deps.triage.shared().get(folder)?.proposals ?? []).length > 0)
          await reviewSharedDecisions(folder, deps);
      }),
    );
    pick.onDidHide(() => resolve(undefined));
    pick.show();
  });
  pick.dispose();
  await act?.();
}

async function pickShared(
  shared: readonly (readonly [string, SharedDecisions])[],
): Promise<string | undefined> {
  if (shared.length === 0)
    void showInformation(t('The folders with findings contain no triage decisions by other people.'));
  if (shared.length <= 1) return shared[0]?.[0];
  const items = shared.map(([folder, { proposals }]) => ({
    label: basename(folder),
    description: t('New: {0}', formatNumber(proposals.length)),
    folder,
  }));
  return (await vscode.window.showQuickPick(items, { title: t('Review Shared Decisions') }))?.folder;
}

function hasAny([, { proposals, acceptance }]: readonly [string, SharedDecisions]): boolean {
  return proposals.length > 0 || answeredIn(acceptance).length > 0 || acceptance.laterFrom !== undefined;
}

function answeredIn({ answers }: SharedDecisions['acceptance']): readonly Answer[] {
  return [...answers.values()].filter(({ as }) => as !== 'made');
}

async function rowsOf(
  folder: string,
  { path, proposals, acceptance }: SharedDecisions,
  deps: SharedDecisionDeps,
): Promise<Row[]> {
  const { triage, clock } = deps;
  const listed = proposals.slice(0, maxListed);
  const answer = (as: Answer['as'], chosen: readonly Proposal[], origin?: string): Promise<void> =>
    triage.answer(folder, (known) => {
      const digests = chosen.map(({ digest }) => digest);
      const next = withAnswers(known, digests, { as, at: clock.now() });
      return origin === undefined ? next : { ...next, laterFrom: origin };
    });
  const [remote] = await remotesOf(folder);
  const icon = (name: string) => ({ iconPath: new vscode.ThemeIcon(name) });
  const accept: Row = {
    ...icon('check'),
    label: t('Accept'),
    description: t('The decisions below apply on this machine.'),
    act: () => answer('accepted', listed),
  };
  const acceptLater: Row = {
    ...icon('check-all'),
    label: t('Accept These and Later Ones'),
    detail: t('Later decisions apply while the Git remote is {0}.', remote ?? ''),
    act: () => answer('accepted', listed, remote),
  };
  const refuse: Row = {
    ...icon('close'),
    label: t('Reject'),
    description: t('The decisions below hide nothing on this machine. Their files don’t change.'),
    act: () => answer('refused', listed),
  };
  const answered = answeredIn(acceptance);
  const counts = [
    t('Accepted: {0}', formatNumber(answered.filter(({ as }) => as === 'accepted').length)),
    t('Rejected: {0}', formatNumber(answered.filter(({ as }) => as === 'refused').length)),
  ];
  const { laterFrom } = acceptance;
  if (laterFrom !== undefined) counts.push(t('Later decisions from {0} accepted', laterFrom));
  const reset: Row = {
    ...icon('discard'),
    label: t('Reset Answers'),
    description: counts.join(' · '),
    detail: t(
      'All decisions by others become new again and hide nothing. Later ones are no longer accepted automatically.',
    ),
    act: () => triage.answer(folder, withoutAccepted),
  };
  const more = proposals.length - listed.length;
  const answers = [accept, ...(remote === undefined ? [] : [acceptLater]), refuse];
  return [
    ...(listed.length > 0 ? answers : []),
    ...(answered.length > 0 || laterFrom !== undefined ? [reset] : []),
    { label: t('New: {0}', formatNumber(proposals.length)), kind: vscode.QuickPickItemKind.Separator },
    ...proposalRows(folder, path, listed, deps).map((row, at) => ({
      ...row,
      refuse: () => answer('refused', listed.slice(at, at + 1)),
    })),
    ...(more > 0 ? [{ label: moreLabel(more) }] : []),
  ];
}

/** A row names the finding that the decision would apply to: its file may claim a different one. */
function proposalRows(
  folder: string,
  path: string,
  listed: readonly Proposal[],
  { findings }: SharedDecisionDeps,
): readonly Row[] {
  const identified = [...findings.all(), ...findings.absent()]
    .filter((shown) => decisionFolders(shown).includes(folder))
    .flatMap((shown) => [shown.identity, ...(shown.sameAs ?? [])].map((identity) => ({ shown, identity })));
  const byFingerprint = Map.groupBy(identified, ({ identity }) => identity.fingerprint);
  const buttons = [{ iconPath: new vscode.ThemeIcon('close'), tooltip: t('Reject') }];
  return listed.map(({ file, entry }) => {
    const candidates = byFingerprint.get(entry.identity.fingerprint) ?? [];
    const same = candidates.filter(({ identity }) => isSameFinding(identity, entry.identity));
    const shown = [...new Set(same.map((candidate) => candidate.shown))];
    const [first] = shown;
    const subject =
      first === undefined
        ? t(
            'no matching finding (named “{0}” in the decision file)',
            visibleLine(clip(entry.identity.title, maxTextLength)),
          )
        : subjectLabel(shown);
    return {
      label: `${triageLabel(entry.state)} — ${subject}`,
      description: visibleLine(first?.places[0]?.path ?? clip(entry.path, maxTextLength)),
      detail: visibleLine(clip(entry.note, maxTextLength)),
      buttons,
      act: () =>
        first === undefined
          ? vscode.window.showTextDocument(vscode.Uri.file(join(path, file)))
          : vscode.commands.executeCommand('whitebox.showFindingDetails', toArgument(first)),
    };
  });
}

/** Accepts new decisions in folders whose later decisions a person accepted, if the git remote is the same. */
export function acceptLaterDecisions(
  { triage, clock }: Pick<SharedDecisionDeps, 'triage' | 'clock'>,
  log: Logger,
): vscode.Disposable {
  const accept = async (): Promise<void> => {
    for (const [folder, { proposals, acceptance }] of triage.shared()) {
      const { laterFrom } = acceptance;
      if (laterFrom === undefined || proposals.length === 0 || !vscode.workspace.isTrusted) continue;
      if ((await remotesOf(folder))[0] !== laterFrom) continue;
      let arrived: readonly string[] = [];
      await triage.answer(folder, (known) => {
        // Another window may have accepted or reset them.
        if (known.laterFrom === laterFrom)
          arrived = proposals.map(({ digest }) => digest).filter((digest) => !known.answers.has(digest));
        return withAnswers(known, arrived, { as: 'accepted', at: clock.now() });
      });
      if (arrived.length > 0) void showArrived(folder, arrived.length);
    }
  };
  const run = (): void => {
    accept().catch((error: unknown) => {
      log.error(`Later decisions could not be accepted: ${String(error)}`);
      void showError(describeError(error).message);
    });
  };
  return vscode.Disposable.from(
    triage.onDidChange(run),
    // VS Code's git extension may learn the folder's remote late.
    vscode.window.onDidChangeWindowState(run),
  );
}

async function showArrived(folder: string, count: number): Promise<void> {
  const name = basename(folder);
  const command = 'whitebox.reviewSharedDecisions';
  const message =
    count === 1
      ? t(
          '1 new triage decision came with the folder “{0}”. It applies because you chose to accept later decisions.',
          name,
        )
      : t(
          '{0} new triage decisions came with the folder “{1}”. They apply because you chose to accept later decisions.',
          count,
          name,
        );
  await showInformation(message, { title: t('Review Shared Decisions…'), command, arguments: [folder] });
}

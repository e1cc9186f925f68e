import * as vscode from 'vscode';
import { fenceData } from '../../core/findings/importExport/toolAnswers.ts';
import { findingMarkdown, type FindingWords } from '../../core/findings/view/findingMarkdown.ts';
import type { ShownFinding } from '../../core/findings/shownFinding.ts';
import { countFindings } from '../formats.ts';
import { blockLabel, driftLabel, severityLabel, triageLabel } from '../labels.ts';
import { showInformation } from '../showMessage.ts';

const openChat = 'workbench.action.chat.open';

/** Copies findings to the clipboard as Markdown. */
export async function copyFindings(shown: readonly ShownFinding[]): Promise<void> {
  await vscode.env.clipboard.writeText(findingsMarkdown(shown));
  const message = vscode.l10n.t('{0} copied as Markdown.', countFindings(shown.length));
  vscode.window.setStatusBarMessage(message, 5_000);
}

/** Writes a request about findings into the chat, where a person reads and sends it; without a chat, copies it to the clipboard. */
export async function fixWithAgent(shown: readonly ShownFinding[]): Promise<void> {
  const t = vscode.l10n.t;
  const request = [
    t(
      'Fix the vulnerabilities described below. Check each in the code first; if it is none, say so and change nothing. Keep the change small, and keep the tests green.',
    ),
    fenceData(findingsMarkdown(shown)),
  ].join('\n\n');
  if (await hasChat()) {
    await vscode.commands.executeCommand(openChat, { query: request, isPartialQuery: true, mode: 'agent' });
    return;
  }
  await vscode.env.clipboard.writeText(request);
  void showInformation(
    t('There is no chat in this editor. The request is on the clipboard: paste it into your agent.'),
  );
}

/** Chat comes with an extension and can be switched off; its command may exist without it. */
async function hasChat(): Promise<boolean> {
  if (vscode.workspace.getConfiguration('chat').get<boolean>('disableAIFeatures', false)) return false;
  return (await vscode.commands.getCommands(true)).includes(openChat);
}

/** Findings as Markdown that is safe to paste. */
export function findingsMarkdown(shown: readonly ShownFinding[]): string {
  const t = vscode.l10n.t;
  const words: FindingWords = {
    severity: t('Severity'),
    place: t('Place'),
    feature: t('Feature'),
    perspective: t('Perspective'),
    drift: t('Code since the scan'),
    otherPlaces: t('Other places'),
    triage: t('Triage'),
    description: t('Description'),
    severityOf: severityLabel,
    triageOf: triageLabel,
    driftOf: driftLabel,
    blockOf: blockLabel,
  };
  return shown.map((each) => findingMarkdown(each, words)).join('\n');
}

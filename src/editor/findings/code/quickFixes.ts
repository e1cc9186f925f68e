import * as vscode from 'vscode';
import type { ShownFinding } from '../../../core/findings/shownFinding.ts';
import { clip } from '../../../core/visibleText.ts';
import { titleOfFinding } from '../../findingLabels.ts';
import { toAddress, toArgument } from '../findingArguments.ts';
import type { DisplayedFindings } from './displayedFindings.ts';

const t = vscode.l10n.t;

const maxFindings = 5;
const maxTitleLength = 80;

export function registerQuickFixes(displayed: DisplayedFindings): vscode.Disposable {
  return vscode.languages.registerCodeActionsProvider(
    { scheme: 'file' },
    {
      provideCodeActions: (document, range, context) =>
        displayed
          .at(document.uri, range)
          .slice(0, maxFindings)
          .flatMap((shown) => actionsFor(shown, context.diagnostics)),
    },
    { providedCodeActionKinds: [vscode.CodeActionKind.QuickFix] },
  );
}

function actionsFor(shown: ShownFinding, diagnostics: readonly vscode.Diagnostic[]): vscode.CodeAction[] {
  const title = clip(titleOfFinding(shown.finding), maxTitleLength);
  const address = toAddress(shown).toString();
  const ofFinding = diagnostics.filter(
    ({ code }) => typeof code === 'object' && code.target.toString() === address,
  );
  const action = (label: string, command: string): vscode.CodeAction => {
    const fix = new vscode.CodeAction(label, vscode.CodeActionKind.QuickFix);
    fix.command = { title: label, command, arguments: [toArgument(shown)] };
    fix.diagnostics = ofFinding;
    return fix;
  };
  return [
    action(t('Show Details: {0}', title), 'whitebox.showFindingDetails'),
    action(t('Set Triage State: {0}', title), 'whitebox.setTriage'),
    action(t('Copy as Markdown: {0}', title), 'whitebox.copyFinding'),
    action(t('Fix with AI Agent: {0}', title), 'whitebox.fixWithAgent'),
  ];
}

import * as vscode from 'vscode';
import type { ShownFinding } from '../../../core/findings/shownFinding.ts';
import { clip } from '../../../core/findings/parse/prose.ts';
import { toAddress } from './findingAddress.ts';
import { toArgument } from '../findingArguments.ts';
import type { FindingsByFile } from './findingsByFile.ts';
import { titleOfFinding } from '../../labels.ts';

const maxFindings = 5;
const maxTitleLength = 80;

/** Offers what can be done about a finding where the cursor is on its code: at the lightbulb, in the hover, in Problems. */
export function provideCodeActions(byFile: FindingsByFile): vscode.Disposable {
  return vscode.languages.registerCodeActionsProvider(
    { scheme: 'file' },
    {
      provideCodeActions: (document, range, context) =>
        byFile
          .at(document.uri, range)
          .slice(0, maxFindings)
          .flatMap((shown) => actionsOf(shown, context.diagnostics)),
    },
    { providedCodeActionKinds: [vscode.CodeActionKind.QuickFix] },
  );
}

function actionsOf(shown: ShownFinding, diagnostics: readonly vscode.Diagnostic[]): vscode.CodeAction[] {
  const t = vscode.l10n.t;
  const title = clip(titleOfFinding(shown.finding), maxTitleLength);
  const address = toAddress(shown).toString();
  const own = diagnostics.filter(
    ({ code }) => typeof code === 'object' && code.target.toString() === address,
  );
  const action = (label: string, command: string): vscode.CodeAction => {
    const made = new vscode.CodeAction(label, vscode.CodeActionKind.QuickFix);
    made.command = { title: label, command, arguments: [toArgument(shown)] };
    made.diagnostics = own;
    return made;
  };
  return [
    action(t('Show Details: {0}', title), 'whitebox.showFindingDetails'),
    action(t('Set Triage State: {0}', title), 'whitebox.setTriage'),
    action(t('Copy as Markdown: {0}', title), 'whitebox.copyFinding'),
    action(t('Fix with AI Agent: {0}', title), 'whitebox.fixWithAgent'),
  ];
}

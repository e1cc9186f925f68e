import * as vscode from 'vscode';
import { clip } from '../../../core/findings/parse/prose.ts';
import type { FindingStore } from '../../../core/findings/findingStore.ts';
import type { ShownFinding } from '../../../core/findings/shownFinding.ts';
import { escapeMarkdown, inertMarkdown } from '../../../core/findings/view/findingMarkdown.ts';
import type { Logger } from '../../../core/ports.ts';
import type { RunStore } from '../../../core/run/disk/runStore.ts';
import { blockLabel, severityLabel, titleOfFinding } from '../../labels.ts';
import { toAddress, toArgument } from '../findingArguments.ts';
import { provideAsAssessed } from './asAssessed.ts';
import { showDiagnostics } from './diagnostics.ts';
import type { DisplayedFindings } from './displayedFindings.ts';
import { watchDrift } from './driftWatch.ts';

const maxFindings = 5;
const maxTitleLength = 80;
const maxTextLength = 1_500;

/** Shows findings in the code: as problems that follow edits, in hovers and by quick fixes, and as it was assessed. */
export function showInCode({
  displayed,
  findings,
  runs,
  log,
}: {
  readonly displayed: DisplayedFindings;
  readonly findings: FindingStore;
  readonly runs: RunStore;
  readonly log: Logger;
}): vscode.Disposable {
  return vscode.Disposable.from(
    showDiagnostics(displayed, log),
    watchDrift(findings),
    registerCodeProviders(displayed),
    provideAsAssessed({ runs }),
  );
}

/** Describes findings in the hover of their code, and offers quick fixes for them: in the hover, at the lightbulb and in Problems. */
function registerCodeProviders(displayed: DisplayedFindings): vscode.Disposable {
  const selector = { scheme: 'file' };
  return vscode.Disposable.from(
    vscode.languages.registerHoverProvider(selector, {
      provideHover: (document, position) => {
        const described = displayed
          .at(document.uri, new vscode.Range(position, position))
          .filter(({ finding }) => `${finding.description}${finding.recommendation}`.trim() !== '');
        return described.length === 0
          ? undefined
          : new vscode.Hover(described.slice(0, maxFindings).map(toMarkdown));
      },
    }),
    vscode.languages.registerCodeActionsProvider(
      selector,
      {
        provideCodeActions: (document, range, context) =>
          displayed
            .at(document.uri, range)
            .slice(0, maxFindings)
            .flatMap((shown) => actionsFor(shown, context.diagnostics)),
      },
      { providedCodeActionKinds: [vscode.CodeActionKind.QuickFix] },
    ),
  );
}

/** The texts of the findings file are untrusted: no link, image, HTML or command in them is active. */
function toMarkdown({ finding }: ShownFinding): vscode.MarkdownString {
  const { description, recommendation } = finding;
  const parts = [
    `**${escapeMarkdown(`${severityLabel(finding.severity)}: ${titleOfFinding(finding)}`)}**`,
    inertMarkdown(description, maxTextLength),
    ...(recommendation.trim() === ''
      ? []
      : [
          `**${escapeMarkdown(blockLabel('recommendation'))}**`,
          inertMarkdown(recommendation, maxTextLength),
        ]),
  ];
  const markdown = new vscode.MarkdownString(parts.filter((part) => part !== '').join('\n\n'));
  markdown.isTrusted = false;
  markdown.supportHtml = false;
  return markdown;
}

function actionsFor(shown: ShownFinding, diagnostics: readonly vscode.Diagnostic[]): vscode.CodeAction[] {
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

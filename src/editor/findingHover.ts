import * as vscode from 'vscode';
import type { ShownFinding } from '../core/findings/shownFinding.ts';
import { escapeMarkdown, inertMarkdown } from '../core/findings/show/inertMarkdown.ts';
import type { FindingsByFile } from './findingsByFile.ts';
import { titleOfFinding } from './labels.ts';

const maxFindings = 5;
const maxLength = 1_500;

/** Shows what to do about a finding where the pointer rests on its code. */
export function provideHovers(byFile: FindingsByFile): vscode.Disposable {
  return vscode.languages.registerHoverProvider(
    { scheme: 'file' },
    {
      provideHover: (document, position) => {
        const found = byFile.at(document.uri, new vscode.Range(position, position));
        const advice = found.filter(({ finding }) => finding.recommendation.trim() !== '');
        return advice.length === 0
          ? undefined
          : new vscode.Hover(advice.slice(0, maxFindings).map(toMarkdown));
      },
    },
  );
}

/** What the findings file says is shown, never obeyed: no link, image, HTML or command of it is alive. */
function toMarkdown({ finding }: ShownFinding): vscode.MarkdownString {
  const heading = vscode.l10n.t('Recommendation: {0}', titleOfFinding(finding));
  const advice = inertMarkdown(finding.recommendation, maxLength);
  const markdown = new vscode.MarkdownString(`**${escapeMarkdown(heading)}**\n\n${advice}`);
  markdown.isTrusted = false;
  markdown.supportHtml = false;
  return markdown;
}

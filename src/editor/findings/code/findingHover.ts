import * as vscode from 'vscode';
import type { ShownFinding } from '../../../core/findings/shownFinding.ts';
import { escapeMarkdown, inertMarkdown } from '../../../core/findings/view/inertMarkdown.ts';
import type { FindingsByFile } from './findingsByFile.ts';
import { blockLabel, severityLabel, titleOfFinding } from '../../labels.ts';

const maxFindings = 5;
const maxLength = 1_500;

/** Shows what a finding is and what to do about it where the pointer rests on its code. */
export function provideHovers(byFile: FindingsByFile): vscode.Disposable {
  return vscode.languages.registerHoverProvider(
    { scheme: 'file' },
    {
      provideHover: (document, position) => {
        const found = byFile
          .at(document.uri, new vscode.Range(position, position))
          .filter(({ finding }) => `${finding.description}${finding.recommendation}`.trim() !== '');
        return found.length === 0 ? undefined : new vscode.Hover(found.slice(0, maxFindings).map(toMarkdown));
      },
    },
  );
}

/** What the findings file says is shown, never obeyed: no link, image, HTML or command of it is alive. */
function toMarkdown({ finding }: ShownFinding): vscode.MarkdownString {
  const { description, recommendation } = finding;
  const parts = [
    `**${escapeMarkdown(`${severityLabel(finding.severity)}: ${titleOfFinding(finding)}`)}**`,
    inertMarkdown(description, maxLength),
    ...(recommendation.trim() === ''
      ? []
      : [`**${escapeMarkdown(blockLabel('recommendation'))}**`, inertMarkdown(recommendation, maxLength)]),
  ];
  const markdown = new vscode.MarkdownString(parts.filter((part) => part !== '').join('\n\n'));
  markdown.isTrusted = false;
  markdown.supportHtml = false;
  return markdown;
}

import * as vscode from 'vscode';
import type { ShownFinding } from '../../../core/findings/shownFinding.ts';
import { escapeMarkdown, inertMarkdown } from '../../../core/findings/view/findingMarkdown.ts';
import { blockLabel, severityLabel, titleOfFinding } from '../../labels.ts';
import type { DisplayedFindings } from './displayedFindings.ts';

const maxFindings = 5;
const maxTextLength = 1_500;

export function registerHover({ displayed }: { readonly displayed: DisplayedFindings }): vscode.Disposable {
  return vscode.languages.registerHoverProvider(
    { scheme: 'file' },
    {
      provideHover: (document, position) => {
        const described = displayed
          .at(document.uri, new vscode.Range(position, position))
          .filter(({ finding }) => `${finding.description}${finding.recommendation}`.trim() !== '');
        return described.length === 0
          ? undefined
          : new vscode.Hover(described.slice(0, maxFindings).map(toMarkdown));
      },
    },
  );
}

/** Texts of the findings file are untrusted: links, images, HTML and commands in them are inert. */
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

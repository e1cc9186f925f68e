import * as vscode from 'vscode';
import type { FindingStore } from '../../../core/findings/findingStore.ts';
import type { DetailedFinding } from '../../../core/findings/shownFinding.ts';
import { escapeMarkdown, inertMarkdown } from '../../../core/findings/view/findingMarkdown.ts';
import { blockLabel, severityLabel, titleOfFinding } from '../../findingLabels.ts';
import { compact } from '../../formats.ts';
import type { DisplayedFindings } from './displayedFindings.ts';

const maxFindings = 5;
const maxTextLength = 1_500;

export function registerHover(displayed: DisplayedFindings, findings: FindingStore): vscode.Disposable {
  return vscode.languages.registerHoverProvider(
    { scheme: 'file' },
    {
      provideHover: async (document, position) => {
        const there = displayed.at(document.uri, new vscode.Range(position, position));
        const described = (await findings.withDetails(there.slice(0, maxFindings))).filter(
          ({ details }) => `${details.description}${details.recommendation}`.trim() !== '',
        );
        return described.length === 0 ? undefined : new vscode.Hover(described.map(toMarkdown));
      },
    },
  );
}

/** The text is untrusted, so links, images, HTML, and commands are inert. */
function toMarkdown({ finding, details }: DetailedFinding): vscode.MarkdownString {
  const { description, recommendation } = details;
  const hasAdvice = recommendation.trim() !== '';
  const parts = compact(
    `**${escapeMarkdown(`${severityLabel(finding.severity)}: ${titleOfFinding(finding)}`)}**`,
    inertMarkdown(description, maxTextLength),
    hasAdvice && `**${escapeMarkdown(blockLabel('recommendation'))}**`,
    hasAdvice && inertMarkdown(recommendation, maxTextLength),
  );
  const markdown = new vscode.MarkdownString(parts.join('\n\n'));
  markdown.isTrusted = false;
  markdown.supportHtml = false;
  return markdown;
}

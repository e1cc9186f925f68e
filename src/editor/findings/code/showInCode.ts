import * as vscode from 'vscode';
import { isAbortError } from '../../../core/errors.ts';
import type { Finding, Severity } from '../../../core/findings/finding.ts';
import type { FindingStore } from '../../../core/findings/findingStore.ts';
import type { ShownFinding, ShownPlace } from '../../../core/findings/shownFinding.ts';
import { escapeMarkdown, inertMarkdown } from '../../../core/findings/view/findingMarkdown.ts';
import type { Logger } from '../../../core/ports.ts';
import type { RunStore } from '../../../core/run/disk/runStore.ts';
import { clip, visibleLine } from '../../../core/visibleText.ts';
import { inSlices } from '../../../core/yieldingWork.ts';
import { blockLabel, severityLabel, titleOfFinding } from '../../labels.ts';
import { readDisplaySettings } from '../../settings.ts';
import { toAddress, toArgument } from '../findingArguments.ts';
import { provideAsAssessed } from './asAssessed.ts';
import { type DisplayedFindings, toRange } from './displayedFindings.ts';
import { watchDrift } from './driftWatch.ts';

const maxLabelLength = 500;
const { DiagnosticSeverity } = vscode;
/** Problems does not show hints, so the mildest findings are shown as information. */
const severities: Readonly<Record<Severity, vscode.DiagnosticSeverity>> = {
  critical: DiagnosticSeverity.Error,
  high: DiagnosticSeverity.Error,
  medium: DiagnosticSeverity.Warning,
  low: DiagnosticSeverity.Information,
  none: DiagnosticSeverity.Information,
  unrated: DiagnosticSeverity.Information,
};

/** Keeps the displayed findings in the Problems panel, file by file. */
export function showDiagnostics(displayed: DisplayedFindings, log: Logger): vscode.Disposable {
  const collection = vscode.languages.createDiagnosticCollection('whitebox');
  const present = new Map<string, readonly ShownFinding[]>();
  let rendering = new AbortController();
  const render = (): void => {
    rendering.abort();
    rendering = new AbortController();
    inSlices(renderFiles(displayed, collection, present), rendering.signal).catch((error: unknown) => {
      if (!isAbortError(error)) log.error(`Findings are missing in Problems: ${String(error)}`);
    });
  };
  render();
  return vscode.Disposable.from(displayed.onDidChange(render), collection, {
    dispose: () => rendering.abort(),
  });
}

/** One call with the diagnostics of all files would silently stop at about 1,100 of them. */
function* renderFiles(
  displayed: DisplayedFindings,
  collection: vscode.DiagnosticCollection,
  present: Map<string, readonly ShownFinding[]>,
): Generator<void> {
  const wanted = readDisplaySettings().showInProblems ? displayed.byFile() : new Map<string, never>();
  for (const file of [...present.keys()]) {
    if (wanted.has(file)) continue;
    collection.delete(vscode.Uri.file(file));
    present.delete(file);
    yield;
  }
  for (const [file, shown] of wanted) {
    const before = present.get(file);
    if (before?.length === shown.length && before.every((each, at) => each === shown[at])) continue;
    collection.set(vscode.Uri.file(file), shown.flatMap(toDiagnostics));
    present.set(file, shown);
    yield;
  }
}

/** The diagnostic at a finding's main place. */
function toDiagnostics(shown: ShownFinding): vscode.Diagnostic[] {
  const {
    finding,
    places: [main, ...others],
  } = shown;
  if (main === undefined) return [];
  const diagnostic = new vscode.Diagnostic(
    toRange(main),
    messageOf(finding, main),
    severities[finding.severity],
  );
  diagnostic.source = 'Whitebox';
  diagnostic.code = { value: linkTextOf(finding), target: toAddress(shown) };
  // A line that is gone cannot be opened.
  diagnostic.relatedInformation = others
    .filter(({ drift }) => drift !== 'gone')
    .map((place) => {
      const label = clip(visibleLine(place.reported.label ?? ''), maxLabelLength);
      return new vscode.DiagnosticRelatedInformation(
        new vscode.Location(vscode.Uri.file(place.file), toRange(place)),
        label === '' ? vscode.l10n.t('Also here') : label,
      );
    });
  return [diagnostic];
}

/** What Problems shows of a finding as the link to its details. */
function linkTextOf({ cwes: [cwe], id, isIdMade }: Finding): string {
  if (cwe !== undefined) return `CWE-${String(cwe)}`;
  return isIdMade === true ? vscode.l10n.t('details') : id;
}

function messageOf(finding: Finding, main: ShownPlace): string {
  const t = vscode.l10n.t;
  const message = `${severityLabel(finding.severity)}: ${titleOfFinding(finding)}`;
  if (main.startLine === undefined) return t('{0} (line unknown)', message);
  return main.drift === 'changed' ? t('{0} (the code here has changed since the scan)', message) : message;
}

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

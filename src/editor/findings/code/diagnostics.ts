import * as vscode from 'vscode';
import { isAbortError } from '../../../core/errors.ts';
import type { Finding, Severity } from '../../../core/findings/finding.ts';
import type { ShownFinding, ShownLocation } from '../../../core/findings/shownFinding.ts';
import type { Logger } from '../../../core/ports.ts';
import { clip, visibleLine } from '../../../core/visibleText.ts';
import { inSlices } from '../../../core/yieldingWork.ts';
import { severityLabel, titleOfFinding } from '../../findingLabels.ts';
import { readDisplaySettings } from '../../settings.ts';
import { toAddress } from '../findingArguments.ts';
import { type DisplayedFindings, toRange } from './displayedFindings.ts';

const t = vscode.l10n.t;

const maxLabelLength = 500;
const { DiagnosticSeverity } = vscode;
/** Problems does not show hints, so the lowest severities are information. */
const severities: Readonly<Record<Severity, vscode.DiagnosticSeverity>> = {
  critical: DiagnosticSeverity.Error,
  high: DiagnosticSeverity.Error,
  medium: DiagnosticSeverity.Warning,
  low: DiagnosticSeverity.Information,
  none: DiagnosticSeverity.Information,
  unrated: DiagnosticSeverity.Information,
};

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

/** One call for all files would silently stop at about 1,100 diagnostics. */
function* renderFiles(
  displayed: DisplayedFindings,
  collection: vscode.DiagnosticCollection,
  present: Map<string, readonly ShownFinding[]>,
): Generator<void> {
  const toShow = readDisplaySettings().showInProblems ? displayed.byFile() : new Map<string, never>();
  for (const [key, shown] of [...present]) {
    if (toShow.has(key)) continue;
    collection.delete(fileOf(shown));
    present.delete(key);
    yield;
  }
  for (const [key, shown] of toShow) {
    const drawn = present.get(key);
    if (drawn?.length === shown.length && drawn.every((each, at) => isDrawnAs(each, shown[at]))) continue;
    collection.set(fileOf(shown), shown.flatMap(toDiagnostics));
    present.set(key, shown);
    yield;
  }
}

/** A finding and its locations are the same objects until they change. */
function isDrawnAs(drawn: ShownFinding, now: ShownFinding | undefined): boolean {
  return (
    drawn.finding === now?.finding &&
    drawn.locations.length === now.locations.length &&
    drawn.locations.every((location, at) => location === now.locations[at])
  );
}

function fileOf([shown]: readonly ShownFinding[]): vscode.Uri {
  return vscode.Uri.file(shown?.locations[0]?.file ?? '');
}

function toDiagnostics(shown: ShownFinding): vscode.Diagnostic[] {
  const { finding } = shown;
  const [main, ...others] = shown.locations;
  if (main === undefined) return [];
  const diagnostic = new vscode.Diagnostic(
    toRange(main),
    messageOf(finding, main),
    severities[finding.severity],
  );
  const [cwe] = finding.cwes;
  const linkText = cwe === undefined ? finding.id : `CWE-${String(cwe)}`;
  diagnostic.source = 'Whitebox';
  diagnostic.code = { value: linkText, target: toAddress(shown) };
  // A line that is gone can't be opened.
  diagnostic.relatedInformation = others
    .filter(({ drift }) => drift !== 'gone')
    .map((location) => {
      const label = clip(visibleLine(location.reported.label ?? ''), maxLabelLength);
      return new vscode.DiagnosticRelatedInformation(
        new vscode.Location(vscode.Uri.file(location.file), toRange(location)),
        label === '' ? t('Other location') : label,
      );
    });
  return [diagnostic];
}

function messageOf(finding: Finding, main: ShownLocation): string {
  const message = `${severityLabel(finding.severity)}: ${titleOfFinding(finding)}`;
  if (main.startLine === undefined) return t('{0} (line unknown)', message);
  return main.drift === 'changed' ? t('{0} (this code has changed since the assessment)', message) : message;
}

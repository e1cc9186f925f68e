import * as vscode from 'vscode';
import type { FindingStore, ShownFinding, ShownPlace } from '../core/findings/findingStore.ts';
import { isDisplayed } from '../core/findings/display.ts';
import type { Severity } from '../core/findings/finding.ts';
import { severityLabel } from './labels.ts';
import { toRange } from './places.ts';
import { readDisplaySettings } from './settings.ts';

/** Puts the findings that are shown into the Problems panel, file by file. */
export function showDiagnostics(findings: FindingStore): vscode.Disposable {
  const collection = vscode.languages.createDiagnosticCollection('whitebox');
  const render = (): void => {
    const { showInProblems, ...display } = readDisplaySettings();
    const byFile = new Map<string, vscode.Diagnostic[]>();
    for (const shown of showInProblems ? findings.all() : []) {
      const [main] = shown.places;
      if (main === undefined || !isDisplayed(shown, display)) continue;
      byFile.set(main.file, [...(byFile.get(main.file) ?? []), toDiagnostic(shown, main)]);
    }
    collection.clear();
    // One call for all entries silently stops at about 1,100 of them.
    for (const [file, diagnostics] of byFile) collection.set(vscode.Uri.file(file), diagnostics);
  };
  render();
  const subscription = findings.onDidChange(render);
  const settings = vscode.workspace.onDidChangeConfiguration((change) => {
    if (change.affectsConfiguration('whitebox.findings')) render();
  });
  return vscode.Disposable.from(collection, settings, { dispose: () => subscription.dispose() });
}

function toDiagnostic({ finding, places }: ShownFinding, main: ShownPlace): vscode.Diagnostic {
  const title = finding.title === '' ? finding.id : finding.title;
  const message = `${severityLabel(finding.severity)}: ${title}`;
  const diagnostic = new vscode.Diagnostic(
    toRange(main),
    main.startLine === undefined ? vscode.l10n.t('{0} (line unknown)', message) : message,
    severityOf(finding.severity),
  );
  diagnostic.source = 'Whitebox';
  diagnostic.code = finding.cwes[0] === undefined ? finding.id : `CWE-${String(finding.cwes[0])}`;
  diagnostic.relatedInformation = places.slice(1).map((place) => {
    const location = new vscode.Location(vscode.Uri.file(place.file), toRange(place));
    return new vscode.DiagnosticRelatedInformation(location, place.told.label ?? vscode.l10n.t('Also here'));
  });
  return diagnostic;
}

/** Problems does not show hints, so the mildest findings are informations. */
function severityOf(severity: Severity): vscode.DiagnosticSeverity {
  switch (severity) {
    case 'critical':
    case 'high':
      return vscode.DiagnosticSeverity.Error;
    case 'medium':
      return vscode.DiagnosticSeverity.Warning;
    case 'low':
    case 'none':
    case 'unrated':
      return vscode.DiagnosticSeverity.Information;
  }
}

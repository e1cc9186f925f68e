import * as vscode from 'vscode';
import { isDisplayed } from '../../../core/findings/view/display.ts';
import type { Finding, Severity } from '../../../core/findings/finding.ts';
import type { FindingStore } from '../../../core/findings/findingStore.ts';
import type { FindingsChange, ShownFinding, ShownPlace } from '../../../core/findings/shownFinding.ts';
import { ProblemFiles } from '../../../core/findings/view/problemFiles.ts';
import { problemsByFile } from '../../../core/findings/view/problems.ts';
import { clip } from '../../../core/findings/parse/prose.ts';
import { visibleLine } from '../../../core/visibleText.ts';
import type { Logger } from '../../../core/ports.ts';
import { toAddress } from './findingAddress.ts';
import { severityLabel, titleOfFinding } from '../../labels.ts';
import { toRange } from './places.ts';
import { readDisplaySettings } from '../../settings.ts';

const maxLabelLength = 500;

/** Keeps the findings that are shown in the Problems panel, file by file. */
export function showDiagnostics(deps: {
  findings: FindingStore;
  now: () => number;
  log: Logger;
}): vscode.Disposable {
  const { findings, now, log } = deps;
  const collection = vscode.languages.createDiagnosticCollection('whitebox');
  const files = new ProblemFiles({ put: (file, shown) => putFile(collection, file, shown), now });
  const render = (change: FindingsChange): void => {
    const { showInProblems, ...display } = readDisplaySettings();
    const all = showInProblems ? findings.all() : [];
    const isMeant = ({ places: [main] }: ShownFinding): boolean =>
      change.kind === 'all' || (main !== undefined && change.files.has(main.file));
    const problems = problemsByFile(all.filter((shown) => isMeant(shown) && isDisplayed(shown, display)));
    const done = change.kind === 'all' ? files.showAll(problems) : files.showFiles(change.files, problems);
    done.catch((error: unknown) => log.error(`Findings are missing in Problems: ${String(error)}`));
  };
  render({ kind: 'all' });
  const subscription = findings.onDidChange(render);
  const settings = vscode.workspace.onDidChangeConfiguration((change) => {
    if (change.affectsConfiguration('whitebox.findings')) render({ kind: 'all' });
  });
  return vscode.Disposable.from(settings, subscription, files, collection);
}

/** One call for the entries of all files would silently stop at about 1,100 of them. */
function* putFile(
  collection: vscode.DiagnosticCollection,
  file: string,
  shown: readonly ShownFinding[],
): Generator<undefined> {
  const diagnostics: vscode.Diagnostic[] = [];
  for (const each of shown) {
    const [main] = each.places;
    if (main !== undefined) diagnostics.push(toDiagnostic(each, main));
    yield;
  }
  const uri = vscode.Uri.file(file);
  if (diagnostics.length === 0) collection.delete(uri);
  else collection.set(uri, diagnostics);
}

function toDiagnostic(shown: ShownFinding, main: ShownPlace): vscode.Diagnostic {
  const { finding, places } = shown;
  const diagnostic = new vscode.Diagnostic(
    toRange(main),
    messageOf(shown, main),
    severityOf(finding.severity),
  );
  diagnostic.source = 'Whitebox';
  diagnostic.code = {
    value: linkTextOf(finding),
    target: toAddress(shown),
  };
  // A line that has gone is no place to lead to.
  const others = places.slice(1).filter(({ drift }) => drift !== 'gone');
  diagnostic.relatedInformation = others.map((place) => {
    const label = clip(visibleLine(place.told.label ?? ''), maxLabelLength);
    return new vscode.DiagnosticRelatedInformation(
      new vscode.Location(vscode.Uri.file(place.file), toRange(place)),
      label === '' ? vscode.l10n.t('Also here') : label,
    );
  });
  return diagnostic;
}

/** What Problems shows of a finding as the link to its details. */
function linkTextOf({ cwes: [cwe], id, isIdMade }: Finding): string {
  if (cwe !== undefined) return `CWE-${String(cwe)}`;
  return isIdMade === true ? vscode.l10n.t('details') : id;
}

function messageOf({ finding }: ShownFinding, main: ShownPlace): string {
  const t = vscode.l10n.t;
  const message = `${severityLabel(finding.severity)}: ${titleOfFinding(finding)}`;
  if (main.startLine === undefined) return t('{0} (line unknown)', message);
  return main.drift === 'changed' ? t('{0} (the code here has changed since the scan)', message) : message;
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

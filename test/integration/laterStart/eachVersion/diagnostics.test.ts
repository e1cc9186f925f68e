import assert from 'node:assert/strict';
import path from 'node:path';
import { before, describe, it } from 'mocha';
import * as vscode from 'vscode';
import { eventually, untilEqual } from '../../../host/workbench/eventually.ts';
import { folder as shop, secondFolder as manyFolder } from '../../openFolders.ts';
import { setUserSettings } from '../../userSettings.ts';
import { many, shopRunId } from '../workspace.ts';

const { Error, Warning, Information } = vscode.DiagnosticSeverity;
const everything = many.findings + many.crowded + 6;
/** The panel shows no more for one file. */
const maxPerFile = 1_000;

function shown(): [string, vscode.Diagnostic[]][] {
  return vscode.languages.getDiagnostics().flatMap(([uri, diagnostics]) => {
    const own = diagnostics.filter(({ source }) => source === 'Whitebox');
    return own.length === 0 ? [] : [[uri.fsPath, own]];
  });
}

function count(): number {
  return shown().reduce((sum, [, diagnostics]) => sum + diagnostics.length, 0);
}

const untilShown = (expected: number): Promise<unknown> => untilEqual(count, expected);

interface Row {
  readonly source?: string;
  readonly resource: string;
}

/** Our rows of the Problems panel, which may be fewer than our diagnostics. */
async function problems(): Promise<Row[]> {
  await vscode.commands.executeCommand('workbench.actions.view.problems');
  // "Select all" covers everything if the first file is focused, else only the focused file.
  await vscode.commands.executeCommand('list.focusFirst');
  await vscode.commands.executeCommand('list.selectAll');
  await vscode.env.clipboard.writeText('');
  await vscode.commands.executeCommand('problems.action.copy');
  const copied = (await vscode.env.clipboard.readText()) || '[]';
  return (JSON.parse(copied) as Row[]).filter(({ source }) => source === 'Whitebox');
}

describe('findings of ended runs', () => {
  before(() => untilShown(everything));

  const inShop = (name: string): vscode.Diagnostic[] =>
    vscode.languages.getDiagnostics(vscode.Uri.file(path.join(shop, name)));

  it('are shown at start, with severity, source, weakness and location', () => {
    const problemsIn = (name: string): unknown[] =>
      inShop(name).map(({ severity, source, code, message, range }) => [
        severity,
        source,
        typeof code === 'object' ? code.value : code,
        message,
        range.start.line + 1,
        range.end.line + 1,
      ]);
    assert.deepEqual(problemsIn('src/orders.js'), [
      [Error, 'Whitebox', 'CWE-89', 'Critical: SQL from a request', 2, 3],
      [Error, 'Whitebox', 'CWE-328', 'High: Weak hash', 4, 4],
    ]);
    assert.deepEqual(problemsIn('src/server.js'), [
      [Warning, 'Whitebox', 'WB-3', 'Medium: No rate limit', 2, 2],
      [Information, 'Whitebox', 'CWE-200', 'Low: Version is told', 3, 3],
      [Information, 'Whitebox', '#5', 'No impact: Style [here](command:workbench.action.quit)', 4, 4],
      [Information, 'Whitebox', 'WB-6', 'Unrated: Some risk (line unknown)', 1, 1],
    ]);
  });

  it('link to their other locations', () => {
    const [first] = inShop('src/orders.js');
    assert.deepEqual(
      first?.relatedInformation?.map(({ location, message }) => [
        path.relative(shop, location.uri.fsPath),
        location.range.start.line + 1,
        message,
      ]),
      [
        [path.join('src', 'server.js'), 1, 'the request comes in here'],
        [path.join('src', 'server.js'), 3, 'Other location'],
      ],
    );
  });

  it('F71 F72 have no diagnostic outside their folder', () => {
    const outside = shown().filter(
      ([file]) => !file.startsWith(path.join(shop, 'src')) && !file.startsWith(manyFolder),
    );
    assert.deepEqual(outside, []);
  });

  it('all reach the Problems panel, 9,700 in 1,201 files, up to its limit for one file', async () => {
    const visible = everything - many.crowded + maxPerFile;
    const rows = await eventually(problems, ({ length }) => length === visible);
    assert.equal(new Set(rows.map(({ resource }) => resource)).size, many.files + 3);
  });

  it('follow the settings immediately', async () => {
    const handed = new Set<string>();
    const listening = vscode.languages.onDidChangeDiagnostics(({ uris }) => {
      for (const uri of uris) handed.add(path.basename(uri.fsPath));
    });
    await setUserSettings({ 'whitebox.findings.minimumSeverity': 'high' });
    await untilShown(3);
    await setUserSettings({ 'whitebox.findings.minimumSeverity': 'low' });
    await untilShown(everything - 1);
    assert.equal(handed.has('orders.js'), false, 'a file whose problems stay as they are is left alone');
    listening.dispose();
    await setUserSettings({ 'whitebox.findings.showInProblems': false });
    await untilShown(0);
    await setUserSettings({ 'whitebox.findings.showInProblems': true });
    await untilShown(everything - 1);
    await setUserSettings({ 'whitebox.findings.minimumSeverity': 'none' });
    await untilShown(everything);
  });

  it('disappear when cleared, and return when a run is chosen', async () => {
    await vscode.commands.executeCommand('whitebox.clearFindings');
    await untilShown(0);
    await untilEqual(problems, []);
    await vscode.commands.executeCommand('whitebox.showRunFindings', { kind: 'run', id: shopRunId });
    await untilShown(6);
  });
});

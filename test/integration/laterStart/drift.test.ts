import assert from 'node:assert/strict';
import { copyFile, mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { after, before, describe, it } from 'mocha';
import * as vscode from 'vscode';
import { keptPath } from '../../../src/core/findings/location/uploadedFiles.ts';
import { watchDrift } from '../../../src/editor/findings/code/driftWatch.ts';
import { eventually, untilEqual } from '../../host/workbench/eventually.ts';
import { silent } from '../../silentLog.ts';
import { VirtualClock } from '../../unit/run/virtualClock.ts';
import { storageVariable } from '../events.ts';
import { folder as shop } from '../openFolders.ts';
import { invent } from '../../unit/findings/shownFindings.ts';
import { shopRunId } from './workspace.ts';

describe('a finding in an edited file', () => {
  let uri: vscode.Uri;
  let original: string;
  let document: vscode.TextDocument;

  before(async () => {
    uri = vscode.Uri.file(path.join(shop, 'src', 'orders.js'));
    original = await readFile(uri.fsPath, 'utf8');
    await vscode.commands.executeCommand('whitebox.showRunFindings', { kind: 'run', id: shopRunId });
    document = await vscode.workspace.openTextDocument(uri);
    await vscode.window.showTextDocument(document);
    await untilLines(2, 4);
  });

  after(async () => {
    await vscode.commands.executeCommand('workbench.action.files.revert');
    await writeFile(uri.fsPath, original);
    await untilLines(2, 4);
  });

  const lines = (): number[] =>
    vscode.languages
      .getDiagnostics(uri)
      .filter(({ source }) => source === 'Whitebox')
      .map(({ range }) => range.start.line + 1);

  const untilLines = (...expected: number[]): Promise<unknown> => untilEqual(lines, expected);

  async function edit(change: (edits: vscode.WorkspaceEdit) => void): Promise<void> {
    const edits = new vscode.WorkspaceEdit();
    change(edits);
    assert.ok(await vscode.workspace.applyEdit(edits));
  }

  const insertAbove = (count: number): Promise<void> =>
    edit((edits) => edits.insert(uri, new vscode.Position(0, 0), '// new\n'.repeat(count)));

  it('is at the right line before and after saving the edit', async () => {
    await insertAbove(50);
    await untilLines(52, 54);
    assert.ok(document.isDirty);
    assert.ok(await document.save());
    await insertAbove(1);
    await untilLines(53, 55);
  });

  it('is compared once, when nobody has typed for 300 ms', async () => {
    const clock = new VirtualClock();
    const compared: string[][] = [];
    const watch = watchDrift({
      findings: {
        shownRuns: () => [{ run: invent().run, shown: [] }],
        onDidChange: () => new vscode.Disposable(() => undefined),
        locateAgain: (files) => Promise.resolve(void compared.push([...files])),
      },
      branch: { reread: () => undefined },
      clock,
      log: silent,
    });
    const open = compared.splice(0).flat();
    assert.ok(open.includes(uri.fsPath), 'it may have been edited since the findings were read');
    const wait = async (ms: number): Promise<void> => {
      clock.advance(ms);
      await setImmediate();
    };
    for (let key = 0; key < 3; key++) {
      await insertAbove(1);
      await wait(200);
    }
    assert.deepEqual(compared, []);
    await wait(100);
    assert.deepEqual(compared, [[uri.fsPath]]);
    await wait(300);
    watch.dispose();
    assert.equal(compared.length, 1);
    await edit((edits) => edits.delete(uri, new vscode.Range(0, 0, 3, 0)));
  });

  it('moves back when the edit is undone', async () => {
    await vscode.commands.executeCommand('workbench.action.files.revert');
    await untilLines(52, 54);
  });

  it('is marked when its code changes, and leaves Problems when its code is gone', async () => {
    await edit((edits) => edits.insert(uri, document.lineAt(53).range.end, ' edited'));
    await eventually(
      () => vscode.languages.getDiagnostics(uri).map(({ message }) => message),
      (shown) => shown.some((message) => message.includes('changed since')),
    );
    await edit((edits) => edits.delete(uri, document.lineAt(53).rangeIncludingLineBreak));
    await untilLines(52);
  });

  it('follows changes by other programs', async () => {
    await vscode.commands.executeCommand('workbench.action.files.revert');
    await vscode.commands.executeCommand('workbench.action.closeActiveEditor');
    await writeFile(uri.fsPath, `// from elsewhere\n${original}`);
    await untilLines(3, 5);
  });

  it('leaves Problems when its folder is deleted, an event for the folder alone, and returns with it', async () => {
    const folder = path.dirname(uri.fsPath);
    const unopened = vscode.Uri.file(path.join(folder, 'server.js'));
    // The scanned text comes from the copy that is kept with the run.
    const runFolder = path.join(process.env[storageVariable]!, 'runs', shopRunId);
    const kept = path.join(runFolder, keptPath({ target: 0, path: 'src/server.js' }));
    await mkdir(path.dirname(kept), { recursive: true });
    await copyFile(unopened.fsPath, kept);
    const count = (): number => vscode.languages.getDiagnostics(unopened).length;
    await untilEqual(count, 4);
    await rename(folder, `${folder}-away`);
    await untilEqual(count, 0);
    await rename(`${folder}-away`, folder);
    await untilEqual(count, 4);
  });
});

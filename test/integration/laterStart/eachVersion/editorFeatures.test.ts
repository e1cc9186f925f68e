import assert from 'node:assert/strict';
import path from 'node:path';
import { before, describe, it } from 'mocha';
import * as vscode from 'vscode';
import { extensionId } from '../../../../src/editor/runs/runLink.ts';
import { eventually, untilEqual } from '../../../host/workbench/eventually.ts';
import { replace } from '../../dialogs.ts';
import { folder as shop } from '../../openFolders.ts';
import { shopFinding, shopRunId } from '../workspace.ts';

describe('findings in the code', () => {
  let orders: vscode.Uri;

  before(async () => {
    orders = vscode.Uri.file(path.join(shop, 'src', 'orders.js'));
    // Findings shown by other tests would be visited, too.
    await vscode.commands.executeCommand('whitebox.clearFindings');
    await vscode.commands.executeCommand('whitebox.showRunFindings', {
      kind: 'run',
      id: shopRunId,
    });
    await untilEqual(() => vscode.languages.getDiagnostics(orders).length, 2);
  });

  const hoverAt = async (line: number): Promise<vscode.MarkdownString[]> => {
    const hovers = await vscode.commands.executeCommand<vscode.Hover[]>(
      'vscode.executeHoverProvider',
      orders,
      new vscode.Position(line - 1, 0),
    );
    return hovers.flatMap(({ contents }) => contents).filter((each) => each instanceof vscode.MarkdownString);
  };

  it('F80 show description and recommendation in the hover, with nothing active', async () => {
    const [hover, ...others] = await hoverAt(3);
    assert.deepEqual(others, []);
    assert.match(hover?.value ?? '', /^\*\*\w+\\: SQL from a request/);
    assert.match(hover?.value ?? '', /reaches\\\]\\\(command[^]*\*\*Recommendation\*\*/);
    assert.match(hover?.value ?? '', /Use \*\*bound\*\* values\\: `db\.query\(sql, \[id\]\)`/);
    assert.doesNotMatch(hover?.value ?? '', /\]\(|!\[|<b>/);
    assert.ok(hover?.isTrusted !== true && hover?.supportHtml !== true);
    assert.deepEqual(await hoverAt(5), []);
  });

  it('offer their details as a quick fix at their line', async () => {
    await vscode.window.showTextDocument(orders);
    const actionsAt = (line: number): Thenable<vscode.CodeAction[]> =>
      vscode.commands.executeCommand(
        'vscode.executeCodeActionProvider',
        orders,
        new vscode.Range(line - 1, 0, line - 1, 0),
        vscode.CodeActionKind.QuickFix.value,
      );
    const actions = await actionsAt(4);
    assert.deepEqual(
      actions.map(({ title }) => title),
      [
        'Show Details: Weak hash',
        'Set Triage State: Weak hash',
        'Copy as Markdown: Weak hash',
        'Fix with AI Agent: Weak hash',
      ],
    );
    for (const { command } of actions) assert.deepEqual(command?.arguments, [shopFinding(1)]);
    assert.deepEqual(await actionsAt(5), []);
  });

  it('are visited by file and line, and named in the status bar', async () => {
    const named: string[] = [];
    replace(vscode.window, { setStatusBarMessage: (text: string) => named.push(text) });
    const here = (): string => {
      const { document, selection } = vscode.window.activeTextEditor ?? {};
      const name = path.basename(document?.uri.fsPath ?? '');
      return `${name}:${String((selection?.active.line ?? -1) + 1)}`;
    };
    // The first finding in server.js has no line: there the cursor stays where it was in the file.
    for (const [name, line] of [
      ['server.js', 1],
      ['orders.js', 2],
    ] as const) {
      const uri = vscode.Uri.joinPath(orders, '..', name);
      await vscode.window.showTextDocument(uri, { selection: new vscode.Range(line - 1, 0, line - 1, 0) });
      await untilEqual(here, `${name}:${line}`);
    }
    for (const [command, at] of [
      ['next', 'orders.js:4'],
      ['next', 'server.js:1'],
      ['previous', 'orders.js:4'],
    ] as const) {
      await vscode.commands.executeCommand(`whitebox.${command}Finding`);
      await untilEqual(here, at);
    }
    await untilEqual(() => named.at(-1), 'Finding 2 of 6: Weak hash');
  });

  it('have a code link in their problem, which names them', () => {
    const [first] = vscode.languages.getDiagnostics(orders);
    assert.ok(typeof first?.code === 'object');
    assert.equal(first.code.target.scheme, vscode.env.uriScheme);
    assert.equal(first.code.target.authority, extensionId);
  });

  it('open their details beside the code, in one reused panel', async () => {
    const tabs = (): string[] =>
      vscode.window.tabGroups.all
        .flatMap((group) => group.tabs)
        .filter(({ input }) => input instanceof vscode.TabInputWebview)
        .map(({ label, group }) => `${group.viewColumn}: ${label}`);
    await vscode.window.showTextDocument(orders, { selection: new vscode.Range(3, 0, 3, 0) });
    await vscode.commands.executeCommand('whitebox.showFindingDetails');
    await eventually(tabs, ([tab]) => tab === '2: Weak hash');
    const finding = shopFinding(0);
    await vscode.commands.executeCommand('whitebox.showFindingDetails', finding);
    await untilEqual(tabs, ['2: SQL from a request']);
    await vscode.commands.executeCommand('workbench.action.closeEditorsInOtherGroups');
  });
});

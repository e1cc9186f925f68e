import assert from 'node:assert/strict';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, describe, it } from 'mocha';
import * as vscode from 'vscode';
import { movePasswords } from '../../../../src/editor/blackbox/passwords.ts';
import { passesSecretCheck } from '../../../../src/editor/blackbox/targetFiles.ts';
import { eventually } from '../../../host/workbench/eventually.ts';
import { PasswordStore } from '../../../../src/core/workflows/passwordStore.ts';
import { answer, messages, replace, shownTexts, temporaryFolder } from '../../dialogs.ts';
import { folder } from '../../openFolders.ts';
import { inRestrictedMode } from '../../restrictedMode.ts';
import { dist } from '../../shownRuns.ts';
import { call } from '../../signedIn.ts';
import { setUserSettings } from '../../userSettings.ts';

const url = 'https://staging.example.com/';
const alice = { id: 'alice@example.com', role: 'buyer' };
const bob = { id: 'bob@example.com', role: 'seller' };

describe('a target file', () => {
  beforeEach(async () => {
    await setUserSettings({
      'whitebox.baseUrl': 'https://assess.example.com/v1',
      'whitebox.organizationId': 'acme',
    });
  });

  afterEach(async () => {
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
    for (const name of await readdir(folder))
      if (name.endsWith('.blackbox.json')) await rm(path.join(folder, name));
  });

  let opened = 0;
  // Unique names, since VS Code keeps a closed document for a while.
  const open = async (
    content: unknown,
    name = `shop${String((opened += 1))}`,
  ): Promise<vscode.TextDocument> => {
    const file = path.join(folder, `${name}.blackbox.json`);
    await writeFile(file, typeof content === 'string' ? content : JSON.stringify(content, undefined, 2));
    const document = await vscode.workspace.openTextDocument(file);
    await vscode.window.showTextDocument(document);
    return document;
  };
  const lensesOf = async (uri: vscode.Uri): Promise<string[]> => {
    const lenses = await vscode.commands.executeCommand<vscode.CodeLens[]>(
      'vscode.executeCodeLensProvider',
      uri,
      3,
    );
    return lenses.map(({ command }) => command?.title ?? '');
  };
  const shownLenses = (uri: vscode.Uri, count: number): Promise<string[]> =>
    eventually(
      () => lensesOf(uri),
      ({ length }) => length === count,
    );
  const problemsOf = (uri: vscode.Uri): vscode.Diagnostic[] =>
    vscode.languages.getDiagnostics(uri).filter(({ source }) => source === 'Whitebox');

  it('is created with the first URL and limits, opened, and never overwritten', async () => {
    let complaint: unknown;
    answer({
      showInputBox: async (options: vscode.InputBoxOptions) => {
        complaint = await options.validateInput?.('ftp://staging.example.com/');
        assert.equal(await options.validateInput?.(url), undefined);
        return url;
      },
    });
    await call('newBlackboxTarget');
    assert.match(String(complaint), /begins with http/);
    const first = path.join(folder, 'staging.example.com.blackbox.json');
    assert.equal(vscode.window.activeTextEditor?.document.uri.fsPath, first);
    assert.deepEqual(JSON.parse(await readFile(first, 'utf8')), {
      target_urls: [url],
      crawl: { credit_limit: 20 },
      assessment: { scan_credit_limit: 50, crawl_credit_limit: 20 },
    });
    await writeFile(first, 'mine');
    await call('newBlackboxTarget');
    assert.equal(await readFile(first, 'utf8'), 'mine');
    assert.ok((await readdir(folder)).includes('staging.example.com-2.blackbox.json'));
  });

  it('is completed, documented and validated by the contributed schema', async () => {
    const { uri } = await open(`{\n  "target_urls": ["${url}"],\n  \n}`);
    const labelsAt = async (): Promise<string[]> => {
      const list = await vscode.commands.executeCommand<vscode.CompletionList>(
        'vscode.executeCompletionItemProvider',
        uri,
        new vscode.Position(2, 2),
      );
      return list.items.map(({ label }) => (typeof label === 'string' ? label : label.label));
    };
    await eventually(labelsAt, (labels) =>
      ['oos_urls', 'assessment', 'preference'].every((each) => labels.includes(each)),
    );
    const hovers = await vscode.commands.executeCommand<vscode.Hover[]>(
      'vscode.executeHoverProvider',
      uri,
      new vscode.Position(1, 5),
    );
    const described = hovers.flatMap(({ contents }) => contents as vscode.MarkdownString[]);
    // VS Code 1.108 escapes spaces.
    const text = described.map(({ value }) => value.replaceAll('&nbsp;', ' ')).join();
    assert.match(text, /URLs of the application to crawl and test/);
    // The JSON support warns with the same schema while typing.
    const wrong = await open({ target_urls: ['staging.example.com'], crawl: { credit_limit: 4 } });
    const warnings = await eventually(
      () => vscode.languages.getDiagnostics(wrong.uri).map(({ message }) => message),
      ({ length }) => length === 2,
    );
    assert.match(warnings.join('\n'), /^This value must be a full URL[^]*below the minimum of 5/);
  });

  it('shows lenses with limits and saved passwords, only on disk and in trusted workspaces', async () => {
    const limits = {
      crawl: { credit_limit: 20 },
      assessment: { scan_credit_limit: 50, crawl_credit_limit: 20 },
    };
    const { uri } = await open({
      target_urls: [url],
      authentication: { credentials: [alice, bob] },
      ...limits,
    });
    assert.deepEqual(await shownLenses(uri, 3), [
      '▶ Start Crawl (at most 20 credits)',
      '▶ Start Assessment (at most 20 + 50 credits)',
      'Passwords saved: 0 of 2',
    ]);
    await inRestrictedMode(async () => assert.deepEqual(await lensesOf(uri), []));
    const other = await open({ target_urls: [url], assessment: { scan_credit_limit: 50 } }, 'other');
    assert.deepEqual(await shownLenses(other.uri, 2), [
      '▶ Start Crawl (no credit limit)',
      '▶ Start Assessment (no credit limit)',
    ]);
    const outside = vscode.Uri.file(path.join(await temporaryFolder(), 'x.blackbox.json'));
    await writeFile(outside.fsPath, JSON.stringify({ target_urls: [url] }));
    await vscode.workspace.openTextDocument(outside);
    assert.deepEqual(await lensesOf(outside), []);
  });

  it('F137 shows hostile text neither in lenses nor as anything but plain text in problems', async () => {
    const hostile = '[x](command:workbench.action.quit)\u202e\u0007';
    const { uri } = await open({
      target_urls: ['https://evil.example/(command:workbench.action.quit)'],
      authentication: { credentials: [{ id: hostile, role: hostile }] },
      preference: { preferences: [{ kind: 'DO', preference: hostile }] },
      [hostile]: 1,
    });
    assert.deepEqual(await shownLenses(uri, 2), ['▶ Start Crawl', '▶ Start Assessment']);
    await call('blackboxPasswords', uri);
    const [problem] = problemsOf(uri);
    assert.match(problem?.message ?? '', /\\u\{202E\}/);
    assert.doesNotMatch(shownTexts().join(), /\]\(|\u202e/);
  });

  it('F117 with errors gets problems at their lines when a start is refused, until it is edited', async () => {
    const document = await open({ target_urls: [url, 'ftp://x/'], crawl: { credit_limit: 4 } });
    assert.deepEqual(problemsOf(document.uri), []);
    await call('blackboxPasswords', document.uri);
    assert.deepEqual(
      problemsOf(document.uri).map(({ range, severity, message }) => [
        range.start.line + 1,
        severity,
        message,
      ]),
      [
        [
          4,
          vscode.DiagnosticSeverity.Error,
          'This value must be a full URL that begins with http:// or https://, without a user name or password. Percent-encode spaces and other special characters. Write host names with non-ASCII letters in Punycode (xn--…).',
        ],
        [7, vscode.DiagnosticSeverity.Error, 'This value must be at least 5.'],
      ],
    );
    assert.match(
      messages.shown[0]?.text ?? '',
      /^shop\d+\.blackbox\.json, line 4: .* Nothing has been sent\.$/,
    );
    const edit = new vscode.WorkspaceEdit();
    edit.insert(document.uri, new vscode.Position(0, 1), ' ');
    await vscode.workspace.applyEdit(edit);
    assert.deepEqual(problemsOf(document.uri), []);
  });

  it('F130 with a password has an error there, and a quick fix that moves the password to secret storage', async () => {
    const credentials = [{ ...alice, password: 'canary-4711' }, bob];
    const crawl = { additional_instructions: 'Start from the catalogue.' };
    const document = await open({ target_urls: [url], authentication: { credentials }, crawl });
    const [problem] = await eventually(
      () => problemsOf(document.uri),
      ({ length }) => length === 1,
    );
    assert.equal(document.getText(problem!.range), '"password"');
    assert.doesNotMatch(problem!.message, /canary/);
    const actions = await vscode.commands.executeCommand<vscode.CodeAction[]>(
      'vscode.executeCodeActionProvider',
      document.uri,
      problem!.range,
      vscode.CodeActionKind.QuickFix.value,
    );
    const fix = actions.find(({ title }) => title === 'Move Passwords to Secret Storage');
    assert.doesNotMatch(JSON.stringify(fix), /canary/);
    const move = () =>
      vscode.commands.executeCommand(fix!.command!.command, ...(fix!.command!.arguments as unknown[]));
    const { applyEdit } = vscode.workspace;
    replace(vscode.workspace, { applyEdit: () => Promise.resolve(false) });
    await move();
    replace(vscode.workspace, { applyEdit });
    assert.match(
      messages.shown[0]?.text ?? '',
      /blackbox\.json wasn’t saved, so the file on disk still contains them/,
    );
    await move();
    assert.deepEqual(JSON.parse(await readFile(document.uri.fsPath, 'utf8')), {
      target_urls: [url],
      authentication: { credentials: [alice, bob] },
      crawl,
    });
    assert.deepEqual(problemsOf(document.uri), []);
    assert.match(messages.shown[1]?.text ?? '', /saved, synced, or committed .* change the passwords/);
    assert.equal((await shownLenses(document.uri, 3))[2], 'Passwords saved: 1 of 2');
    // One row for both requests, of which only the crawl has these instructions; it deletes both.
    messages.press = ({ buttons }) => buttons.find((button) => button === 'Delete');
    answer({
      showQuickPick: (items: { detail?: unknown }[]) => {
        assert.doesNotMatch(JSON.stringify(items), /canary/);
        const kept = items.filter((item) => item.detail !== undefined);
        assert.ok(kept.length <= 1);
        return kept[0];
      },
    });
    await call('blackboxPasswords', document.uri);
    assert.equal((await shownLenses(document.uri, 3))[2], 'Passwords saved: 0 of 2');
  });

  it('F208 keeps what is typed while its passwords are moved, and moves those that are typed, too', async () => {
    const credentials = [{ ...alice, password: 'canary-4711' }, bob];
    let document = await open({ target_urls: [url], authentication: { credentials } });
    const saved: string[] = [];
    let typed: readonly (readonly [before: string, text: string])[] = [];
    const store = async (_key: string, value: string): Promise<void> => {
      saved.push(value);
      const [[before, text] = [], ...later] = typed;
      typed = later;
      if (before === undefined || text === undefined) return;
      const edit = new vscode.WorkspaceEdit();
      edit.insert(document.uri, document.positionAt(document.getText().lastIndexOf(before)), text);
      assert.ok(await vscode.workspace.applyEdit(edit));
    };
    const nothing = { get: () => Promise.resolve(undefined), delete: () => Promise.resolve() };
    const index = { keys: () => [], get: () => undefined, update: () => Promise.resolve() };
    const move = () =>
      movePasswords(document.uri, {
        passwords: new PasswordStore({ ...nothing, store }, index),
        diagnostics: { refuse: (_document, problems) => assert.fail(JSON.stringify(problems)) },
      });
    typed = [
      ['"id"', '"password": "canary-4712", '],
      ['"target_urls"', '"language": "japanese", '],
    ];
    await move();
    const onDisk = {
      language: 'japanese',
      target_urls: [url],
      authentication: { credentials: [alice, bob] },
    };
    assert.deepEqual(JSON.parse(await readFile(document.uri.fsPath, 'utf8')), onDisk);
    // Each of the two requests has its passwords.
    assert.deepEqual(saved, ['=canary-4711', '=canary-4711', '=canary-4712', '=canary-4712']);
    assert.match(messages.shown[0]?.text ?? '', /no longer in the file/);

    const first = '"password": "canary-0", ';
    typed = [['"id"', first]];
    await store('', '');
    typed = [1, 2, 3, 4, 5].map((time) => ['"id"', first.replace('0', String(time))] as const);
    await move();
    assert.match(messages.shown[1]?.text ?? '', /still in .*blackbox\.json, because the file changed/);
    assert.match(document.getText(), /canary-0/);

    // Two requests are saved at each try.
    const only = { password: 'canary-0', ...alice };
    document = await open({ target_urls: [url], authentication: { credentials: [only] } });
    typed = ['"password": "canary-1", ', '', first].map((text) => ['"id"', text] as const);
    await move();
    assert.match(messages.shown[2]?.text ?? '', /no longer in the file/);
    assert.equal(saved.at(-1), '=canary-0', 'the last one that was typed counts');
  });

  it('leads to a question before a start if its text looks like credentials', async () => {
    const token = `ghp_${'h7Xq2Lm9Tz4K'.repeat(3)}`;
    const { uri } = await open({ target_urls: [`${url}?token=${token}`] });
    assert.equal(await passesSecretCheck(uri, dist('secretWorker.cjs')), false);
    assert.match(messages.shown[0]?.detail ?? '', /^Nothing has been sent\. [^]*shop\d+\.blackbox\.json:3/);
    assert.doesNotMatch(messages.shown[0]?.detail ?? '', /h7Xq2L/);
    messages.press = ({ buttons }) => buttons[0];
    assert.equal(await passesSecretCheck(uri, dist('secretWorker.cjs')), true);
  });
});

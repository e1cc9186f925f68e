import assert from 'node:assert/strict';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, beforeEach, describe, it } from 'mocha';
import * as vscode from 'vscode';
import { eventually } from '../../host/workbench/eventually.ts';
import { answer, link, type MessageWatch, type ShownMessage, watchMessages } from '../dialogs.ts';
import { openFolders } from '../openFolders.ts';
import { inRestrictedMode } from '../restrictedMode.ts';
import { shopRunId } from './workspace.ts';

describe('triage of findings', () => {
  let shop: vscode.Uri;
  let messages: MessageWatch;
  let press: (message: ShownMessage) => string | undefined | Promise<string | undefined>;
  const finding = { kind: 'finding', runId: shopRunId, index: 4 };

  before(async () => {
    const [folder = ''] = await openFolders(2);
    shop = vscode.Uri.file(folder);
    await vscode.commands.executeCommand('whitebox.showRunFindings', { kind: 'run', id: shopRunId });
  });

  beforeEach(() => {
    press = () => undefined;
    messages = watchMessages((message) => press(message));
  });

  const setStorage = (value: string | undefined): Thenable<void> =>
    vscode.workspace
      .getConfiguration('whitebox', shop)
      .update('triage.storage', value, vscode.ConfigurationTarget.WorkspaceFolder);

  after(async () => {
    await setStorage(undefined);
    await rm(path.join(shop.fsPath, '.vscode', 'whitebox-triage'), { recursive: true, force: true });
    await decide('open');
  });

  const decide = async (state: string, note = ''): Promise<void> => {
    answer({
      showQuickPick: (items: { state: string }[]) => items.find((item) => item.state === state),
      showInputBox: () => note,
    });
    await vscode.commands.executeCommand('whitebox.setTriage', finding);
  };

  /** The state and the note, as a language model tool returns them. */
  const decision = async (): Promise<string> => {
    const { content } = await vscode.lm.invokeTool('whitebox_getFinding', {
      input: { finding: `${shopRunId}:${finding.index}` },
      toolInvocationToken: undefined,
    });
    return content.map((part) => (part instanceof vscode.LanguageModelTextPart ? part.value : '')).join('');
  };

  it('shows an external title as plain text', async () => {
    await decide('confirmed', 'first');
    const [{ text } = { text: '' }] = messages.shown;
    assert.match(text, /^No impact: Style .*: Confirmed$/);
    assert.doesNotMatch(text, link);
  });

  it('undoes a decision but keeps later ones, and says so', async () => {
    const pressed: ((button: string) => void)[] = [];
    press = () => new Promise((resolve) => pressed.push(resolve));
    await decide('confirmed', 'mine');
    await decide('falsePositive', 'a colleague’s');
    pressed[0]?.('Undo');
    await eventually(
      () => Promise.resolve(messages.shown.map(({ text }) => text)),
      (texts) => texts.includes('Not undone because the triage state has changed since then: 1 finding.'),
    );
    assert.match(await decision(), /a colleague’s/);
    pressed[1]?.('Undo');
    await eventually(decision, (answer) => answer.includes('mine'));
  });

  it('F157 asks for the end of an accepted risk, proposes its note after the end, and can extend it', async () => {
    const acceptUntil = async (label: string, day: string): Promise<readonly unknown[]> => {
      const asked: unknown[] = [];
      answer({
        showQuickPick: (items: { state?: string; label: string }[]) =>
          items.find((item) => item.state === 'acceptedRisk' || item.label === label),
        showInputBox: (options: vscode.InputBoxOptions) => {
          asked.push(options.value);
          return asked.length === 1 ? 'behind the gateway' : (asked.push(options.validateInput?.(day)), day);
        },
      });
      await vscode.commands.executeCommand('whitebox.setTriage', finding);
      return asked;
    };
    assert.equal((await acceptUntil('90 days', '')).length, 1);
    assert.match(await decision(), /"state": "acceptedRisk"[^}]*"until": "\d{4}-\d\d-\d\d"/);
    const [, , refusal] = await acceptUntil('Until a date…', '2020-06-03');
    assert.equal(refusal, 'Enter today or a later day as YYYY-MM-DD.');
    assert.match(
      await decision(),
      /"state": "open"[^}]*"note": "behind the gateway"[^}]*"until": "2020-06-03"/,
    );
    const [proposed] = await acceptUntil('No end', '');
    assert.equal(proposed, 'behind the gateway');
    assert.match(await decision(), /"state": "acceptedRisk"/);
    assert.doesNotMatch(await decision(), /"until"/);
    answer({
      showQuickPick: (items: vscode.QuickPickItem[]) => items.find(({ label }) => label === '1 year'),
    });
    await vscode.commands.executeCommand('whitebox.extendAcceptance', finding);
    assert.match(
      await decision(),
      /"state": "acceptedRisk"[^}]*"note": "behind the gateway"[^}]*"until": "20/,
    );
  });

  it('F84 is disabled in Restricted Mode for buttons and tools, too', async () => {
    await inRestrictedMode(async () => {
      await decide('acceptedRisk', 'unseen');
      await assert.rejects(
        async () =>
          vscode.lm.invokeTool('whitebox_setTriage', {
            input: { finding: `${shopRunId}:${finding.index}`, state: 'confirmed' },
            toolInvocationToken: undefined,
          }),
        /Restricted Mode/,
      );
    });
    assert.deepEqual(
      messages.shown.map(({ text }) => text),
      ['This isn’t available in Restricted Mode. To use it, trust this workspace.'],
    );
    assert.doesNotMatch(await decision(), /unseen/);
  });

  it('F147 ignores a pulled decision until it is accepted; refusing it changes no file', async () => {
    const { createQuickPick } = vscode.window;
    /** Picks an item of the review by its label, or presses the button of the first decision; gives all labels. */
    const review = async (label?: string): Promise<readonly string[]> => {
      let labels: readonly string[] = [];
      type Row = vscode.QuickPickItem & { readonly refuse?: unknown };
      const answers: Record<'accept' | 'button', (event?: unknown) => void> = {
        accept: () => undefined,
        button: () => undefined,
      };
      const pick = {
        items: [] as readonly Row[],
        selectedItems: [] as readonly Row[],
        onDidAccept: (listener: () => void) => (answers.accept = listener),
        onDidTriggerItemButton: (listener: () => void) => (answers.button = listener),
        onDidHide: () => undefined,
        dispose: () => undefined,
        show: () => {
          labels = pick.items.map((item) => item.label);
          pick.selectedItems = pick.items.filter((item) => item.label === label);
          if (label !== undefined) answers.accept();
          else answers.button({ item: pick.items.find(({ refuse }) => refuse !== undefined) });
        },
      };
      Object.assign(vscode.window, { createQuickPick: () => pick });
      try {
        await vscode.commands.executeCommand('whitebox.reviewSharedDecisions', shop.fsPath);
      } finally {
        Object.assign(vscode.window, { createQuickPick });
      }
      return labels;
    };
    await setStorage('shared');
    await decide('falsePositive', 'mine');
    await eventually(decision, (text) => text.includes('mine'));
    const folder = path.join(shop.fsPath, '.vscode', 'whitebox-triage');
    const [name = ''] = await readdir(folder);
    const file = path.join(folder, name);
    const changed = (await readFile(file, 'utf8')).replace('mine', 'a colleague’s');
    await writeFile(file, changed);
    await eventually(decision, (text) => !text.includes('falsePositive'));
    const proposal = 'False positive — No impact: Style [here](command:workbench.action.quit)';
    assert.deepEqual(await review(), ['Accept', 'Refuse', 'New: 1', proposal]);
    assert.doesNotMatch(await decision(), /falsePositive/);
    assert.equal(await readFile(file, 'utf8'), changed);
    assert.deepEqual(await review('Reset Answers'), ['Reset Answers', 'New: 0']);
    assert.deepEqual(await review('Accept'), ['Accept', 'Refuse', 'New: 1', proposal]);
    assert.match(await decision(), /falsePositive[^]*a colleague’s/);
    await inRestrictedMode(() => review('Reset Answers'));
    assert.match(messages.shown.at(-1)?.text ?? '', /Restricted Mode/);
    assert.match(await decision(), /falsePositive/);
  });

  it('offers to copy decisions to a new storage location', async () => {
    await setStorage(undefined);
    await rm(path.join(shop.fsPath, '.vscode', 'whitebox-triage'), { recursive: true, force: true });
    await decide('falsePositive', 'kept with VS Code');
    press = ({ buttons }) => buttons.find((button) => button === 'Copy Decisions');
    await setStorage('shared');
    await eventually(
      () => Promise.resolve(messages.shown.filter(({ buttons }) => buttons.includes('Copy Decisions'))),
      ({ length }) => length === 1,
    );
    await eventually(decision, (answer) => answer.includes('kept with VS Code'));
  });
});

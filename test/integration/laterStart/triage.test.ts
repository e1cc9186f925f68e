import assert from 'node:assert/strict';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { after, afterEach, before, beforeEach, describe, it } from 'mocha';
import * as vscode from 'vscode';
import { eventually } from '../../host/workbench/eventually.ts';
import { link, type MessageWatch, type ShownMessage, watchMessages } from '../messages.ts';
import { openFolders } from '../openFolders.ts';
import { inRestrictedMode } from '../restrictedMode.ts';
import { shopRunId } from './workspace.ts';

const { showQuickPick, showInputBox } = vscode.window;

describe('deciding about findings', () => {
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

  afterEach(() => {
    messages.end();
    Object.assign(vscode.window, { showQuickPick, showInputBox });
  });

  const setStorage = (value: string | undefined): Thenable<void> =>
    vscode.workspace
      .getConfiguration('whitebox', shop)
      .update('triage.storage', value, vscode.ConfigurationTarget.WorkspaceFolder);

  after(async () => {
    await setStorage(undefined);
    await rm(path.join(shop.fsPath, '.vscode', 'whitebox-triage'), { recursive: true, force: true });
    await decide('open');
    messages.end();
    Object.assign(vscode.window, { showQuickPick, showInputBox });
  });

  const decide = async (state: string, note = ''): Promise<void> => {
    Object.assign(vscode.window, {
      showQuickPick: (items: { state: string }[]) =>
        Promise.resolve(items.find((item) => item.state === state)),
      showInputBox: () => Promise.resolve(note),
    });
    await vscode.commands.executeCommand('whitebox.setTriage', finding);
  };

  /** The state and the note, as a language model is told them. */
  const decision = async (): Promise<string> => {
    const { content } = await vscode.lm.invokeTool('whitebox_getFinding', {
      input: { finding: `${shopRunId}:${finding.index}` },
      toolInvocationToken: undefined,
    });
    return content.map((part) => (part instanceof vscode.LanguageModelTextPart ? part.value : '')).join('');
  };

  it('a title that others wrote stays text', async () => {
    await decide('confirmed', 'first');
    const [{ text } = { text: '' }] = messages.shown;
    assert.match(text, /^No impact: Style .*: Confirmed$/);
    assert.doesNotMatch(text, link);
  });

  it('taking a decision back leaves what was decided since, and says so', async () => {
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
    await eventually(decision, (told) => told.includes('mine'));
  });

  it('F84 is off in Restricted Mode for buttons and tools that reach it there, too', async () => {
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

  it('offers to copy decisions to where they are kept from now on', async () => {
    await decide('falsePositive', 'kept with VS Code');
    press = ({ buttons }) => buttons.find((button) => button === 'Copy Decisions');
    await setStorage('shared');
    await eventually(
      () => Promise.resolve(messages.shown.filter(({ buttons }) => buttons.includes('Copy Decisions'))),
      ({ length }) => length === 1,
    );
    await eventually(decision, (told) => told.includes('kept with VS Code'));
  });
});

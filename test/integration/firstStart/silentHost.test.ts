import assert from 'node:assert/strict';
import path from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { runInThisContext } from 'node:vm';
import { after, before, beforeEach, describe, it } from 'mocha';
import * as vscode from 'vscode';
import { systemClock } from '../../../src/core/ports.ts';
import { describeError } from '../../../src/editor/errors/errorMessages.ts';
import { handToAgent } from '../../../src/editor/findings/shareFindings.ts';
import { gitApi, openDocument, repositoryOf } from '../../../src/editor/folders.ts';
import { replace, watchMessages } from '../dialogs.ts';

const never = (): Promise<never> => new Promise<never>(() => undefined);

describe('F169 an extension that does not answer', () => {
  let provider: vscode.Disposable;

  before(() => {
    provider = vscode.workspace.registerTextDocumentContentProvider('silent', {
      provideTextDocumentContent: never,
    });
  });

  beforeEach(() => {
    // Every limit is over at once.
    replace(systemClock, { sleep: () => Promise.resolve() });
  });

  after(() => void provider.dispose());

  it('as Git’s, counts as no repository, and is named where that is no answer', async () => {
    replace(vscode.extensions, { getExtension: () => ({ activate: never }) });
    assert.equal(await repositoryOf(vscode.Uri.file('/shop')), undefined);
    const { message } = await gitApi().then(() => assert.fail(), describeError);
    assert.equal(message, 'VS Code’s Git extension didn’t respond in time. Try again later.');
  });

  it('as the provider of a document, is named by the document', async () => {
    const opening = openDocument(vscode.Uri.parse('silent:/folder/notes.txt'));
    const { message } = await opening.then(() => assert.fail(), describeError);
    assert.equal(message, 'The file system provider of notes.txt didn’t respond in time. Try again later.');
  });

  it('as the chat’s, leaves the request on the clipboard', async () => {
    replace(vscode.commands, {
      executeCommand: never,
      getCommands: () => Promise.resolve(['workbench.action.chat.open']),
    });
    const messages = watchMessages();
    await handToAgent('Fix this.', 'finding');
    assert.match(messages.shown[0]?.text ?? '', /The request was copied to the clipboard/);
    assert.match(await vscode.env.clipboard.readText(), /^Fix this\./);
  });
});

it('an error that another extension does not catch fails no test', async () => {
  const filename = path.join(vscode.env.appRoot, 'extensions', 'invented', 'main.js');
  runInThisContext("setImmediate(() => { throw new Error('not caught'); })", { filename });
  await setImmediate();
});

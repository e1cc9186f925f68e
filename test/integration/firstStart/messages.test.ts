import assert from 'node:assert/strict';
import { rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, afterEach, before, beforeEach, describe, it } from 'mocha';
import * as vscode from 'vscode';
import { zipBundle } from '../../../src/core/findings/handOff/bundleZip.ts';
import { type AssessmentService, startService } from '../../service/assessmentService.ts';
import { link, type MessageWatch, watchMessages } from '../messages.ts';
import { openFolders } from '../openFolders.ts';
import { signIn } from '../signedIn.ts';
import { resetUserSettings } from '../userSettings.ts';

const hostile = '[Sign in](command:workbench.action.quit)';

describe('what others wrote stays text in a message', () => {
  let folder: string;
  let messages: MessageWatch;
  let showOpenDialog: typeof vscode.window.showOpenDialog;

  before(async () => {
    [folder = ''] = await openFolders(1);
    showOpenDialog = vscode.window.showOpenDialog;
  });

  beforeEach(() => {
    messages = watchMessages();
  });

  afterEach(() => {
    messages.end();
    vscode.window.showOpenDialog = showOpenDialog;
  });

  after(resetUserSettings);

  const assertPlain = (part: string): void => {
    const [{ text } = { text: '' }, ...others] = messages.shown;
    assert.ok(text.includes(part), text);
    assert.doesNotMatch(text, link);
    assert.equal(text.replaceAll('\u2060', '').includes(hostile), true, 'it is read as it was written');
    assert.deepEqual(others, []);
  };

  it('as the error of a service', async () => {
    const service: AssessmentService = await startService();
    const body = JSON.stringify({ error: { code: 'no', message: hostile } });
    service.addFault({ match: { path: '/get-upload-url' }, before: { kind: 'reply', status: 403, body } });
    await signIn(service);
    await vscode.commands.executeCommand('whitebox.testConnection');
    await service.close();
    assertPlain('You are not allowed to do this');
  });

  it('as the name of a file in an archive', async () => {
    const file = path.join(folder, 'bundle.zip');
    await writeFile(file, await zipBundle([{ path: hostile, content: Buffer.from('{}') }]));
    vscode.window.showOpenDialog = () => Promise.resolve([vscode.Uri.file(file)]);
    await vscode.commands.executeCommand('whitebox.importFindings');
    await rm(file);
    assertPlain('Nothing was imported');
  });
});

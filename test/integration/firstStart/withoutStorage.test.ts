import assert from 'node:assert/strict';
import { rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, describe, it } from 'mocha';
import * as vscode from 'vscode';
import { type AssessmentService, startService } from '../../service/assessmentService.ts';
import { storageVariable } from '../events.ts';
import { type MessageWatch, watchMessages } from '../messages.ts';
import { openFolders } from '../openFolders.ts';
import { signIn } from '../signedIn.ts';
import { resetUserSettings } from '../userSettings.ts';

const storage = process.env[storageVariable]!;

// The last file of its window, which takes its storage for unwritable from then on. A file in a folder's place keeps root out, too.
describe('storage that cannot be written', () => {
  const names = ['runs', 'starting'].map((name) => path.join(storage, name));
  let service: AssessmentService;
  let messages: MessageWatch;

  before(async () => {
    const [folder = ''] = await openFolders(1);
    await writeFile(path.join(folder, 'a.js'), 'one();\n');
    service = await startService();
    await signIn(service);
    // The window has begun with its storage as usual.
    await vscode.commands.executeCommand('whitebox.refreshRuns');
    for (const name of names) {
      await rename(name, `${name}.kept`).catch(() => undefined);
      await writeFile(name, '');
    }
    messages = watchMessages(({ buttons }) => buttons.find((button) => button === 'Start Anyway'));
  });

  after(async () => {
    messages.end();
    await resetUserSettings();
    await service.close();
    for (const name of names) {
      await rm(name);
      await rename(`${name}.kept`, name).catch(() => undefined);
    }
  });

  it('F66 asks before a run that would be forgotten, and goes on to the upload when that is accepted', async () => {
    await vscode.commands.executeCommand('whitebox.startAssessment');
    const asked = messages.shown.filter(({ isModal }) => isModal).map(({ text }) => text);
    const warned = messages.shown.filter(({ text }) =>
      text.includes('what happens from now on is forgotten'),
    );
    assert.equal(warned.length, 1, 'the window was open when its storage became unwritable');
    assert.equal(asked[0], 'This run would be forgotten when the window closes.');
    assert.match(asked[1] ?? '', /^Upload .* for assessment\?$/);
    assert.equal(asked.length, 2);
    assert.deepEqual(service.requests, []);
  });
});

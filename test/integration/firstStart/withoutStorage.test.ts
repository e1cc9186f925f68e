import assert from 'node:assert/strict';
import { rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, describe, it } from 'mocha';
import * as vscode from 'vscode';
import { type AssessmentService, startService } from '../../service/assessmentService.ts';
import { storageVariable } from '../events.ts';
import { watchMessages } from '../dialogs.ts';
import { openFolders } from '../openFolders.ts';
import { signIn } from '../signedIn.ts';
import { resetUserSettings } from '../userSettings.ts';

const storage = process.env[storageVariable]!;

// A file instead of a folder also stops root.
describe('storage that cannot be written', () => {
  const names = ['runs', 'starting'].map((name) => path.join(storage, name));
  let service: AssessmentService;

  before(async () => {
    const [folder = ''] = await openFolders(1);
    await writeFile(path.join(folder, 'a.js'), 'one();\n');
    service = await startService();
    await signIn(service);
    // The window has opened with working storage.
    await vscode.commands.executeCommand('whitebox.refreshRuns');
    for (const name of names) {
      await rename(name, `${name}.kept`).catch(() => undefined);
      await writeFile(name, '');
    }
  });

  after(async () => {
    await resetUserSettings();
    await service.close();
    for (const name of names) {
      await rm(name);
      await rename(`${name}.kept`, name).catch(() => undefined);
    }
  });

  it('F66 refuses a start with the cause, before any question and before anything is sent', async () => {
    const messages = watchMessages();
    await vscode.commands.executeCommand('whitebox.startAssessment');
    const shown = messages.shown.map(({ text, severity, isModal }) => [text, severity, isModal]);
    assert.deepEqual(shown, [
      [
        'VS Code can’t write to this extension’s storage (EEXIST). Check the free disk space and your permissions. Until VS Code can write to it, no run can start, and runs are shown as last saved.',
        'Warning',
        false,
      ],
      [
        'VS Code’s storage for this extension can’t be read or written (EEXIST). Check the free disk space and your permissions. Try again.',
        'Error',
        false,
      ],
    ]);
    assert.deepEqual(service.requests, []);
  });
});

import assert from 'node:assert/strict';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, it } from 'mocha';
import * as vscode from 'vscode';
import { afterTest, answer, messages, watchMessages } from '../dialogs.ts';
import { folder } from '../openFolders.ts';
import { ofFolder, storage } from '../runsInStorage.ts';
import { call, rowOf, signInEachTest } from '../signedIn.ts';
import { storeEndedRun } from '../storedRuns.ts';

// A file instead of a folder also stops root.
describe('storage that cannot be written', () => {
  const service = signInEachTest();

  it('F66 refuses a start with the cause, before any question and before anything is sent', async () => {
    await writeFile(path.join(folder, 'a.js'), 'one();\n');
    // The window has opened with working storage.
    await call('refreshRuns');
    for (const name of ['runs', 'starting'].map((each) => path.join(storage, each))) {
      await rename(name, `${name}.kept`).catch(() => undefined);
      await writeFile(name, '');
      afterTest(async () => {
        await rm(name);
        await rename(`${name}.kept`, name).catch(() => undefined);
      });
    }
    const { shown } = watchMessages();
    await call('startAssessment');
    const said = shown.map(({ text, severity, isModal }) => [text, severity, isModal]);
    assert.deepEqual(said, [
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
    assert.deepEqual(service().requests, []);
  });
});

describe('a file that cannot be written', () => {
  for (const command of ['exportCsv', 'saveReport', 'saveArchive'])
    it(`by ${command} is named with the system error code`, async () => {
      const to = path.join(folder, '..', 'taken');
      await mkdir(to, { recursive: true });
      await writeFile(path.join(folder, 'a.js'), 'one();\n');
      for (const file of [to, path.join(folder, 'a.js')]) afterTest(() => rm(file, { recursive: true }));
      await storeEndedRun(storage, ofFolder('20260101000000-unwritten'), { findings: [] });
      await call('refreshRuns');
      answer({ showSaveDialog: () => vscode.Uri.file(to), showQuickPick: ([first]: unknown[]) => first });
      await call(command, rowOf('20260101000000-unwritten'));
      const { text = '', buttons } = messages.shown.at(-1) ?? {};
      assert.ok(text.startsWith(`${to} can’t be read or written (E`), text);
      assert.deepEqual(buttons, ['Show Log']);
    });
});

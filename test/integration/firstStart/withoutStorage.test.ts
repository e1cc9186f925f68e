import assert from 'node:assert/strict';
import { rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, it } from 'mocha';
import { afterTest, watchMessages } from '../dialogs.ts';
import { folder } from '../openFolders.ts';
import { storage } from '../runsInStorage.ts';
import { call, signInEachTest } from '../signedIn.ts';

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
    const messages = watchMessages();
    await call('startAssessment');
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
    assert.deepEqual(service().requests, []);
  });
});

import assert from 'node:assert/strict';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, it } from 'mocha';
import * as vscode from 'vscode';
import { afterTest, answer, messages } from '../../dialogs.ts';
import { folder } from '../../openFolders.ts';
import { ofFolder, storage } from '../../runsInStorage.ts';
import { call, rowOf } from '../../signedIn.ts';
import { storeEndedRun } from '../../storedRuns.ts';

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
